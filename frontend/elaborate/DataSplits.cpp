//===- DataSplits.cpp - which rows a set takes -----------------------------===//
#include "frontend/elaborate/Patterns.h"
#include "frontend/elaborate/Streams.h"
#include "frontend/elaborate/TrainElaborator.h"

#include <cmath>

using namespace mlir;

namespace dyn::elab {

/// A part of a split: a share, or rows `0:100` or `0..100`.
Value TrainElaborator::splitPart(const ast::Expr &expr, int64_t rows, Frame &frame) {
  auto *slice = ast::dynCast<ast::SliceExpr>(&expr);
  if (!slice)
    return e.evaluate(expr, frame);
  Range range{0, rows};
  for (auto [bound, to] : {std::pair{slice->low.get(), &range.low}, std::pair{slice->high.get(), &range.high}})
    if (bound) {
      auto known = e.knownInt(e.evaluate(*bound, frame), bound->span, "a bound of a split");
      if (!known)
        return {};
      *to = *known;
    }
  if (range.high < range.low || range.low < 0) {
    e.diags.report(Diag::slice_backwards, expr.span, range.low, range.high);
    return {};
  }
  return Value(range, expr.span);
}

/// A part without rows; `sede=0` is one that was meant to be the seed.
static void reportEmptyPart(const ast::Argument &part, DiagnosticEngine &diags) {
  auto report = diags.report(Diag::split_empty, part.span, part.name.text);
  if (!nearest(part.name.text, std::vector<std::string>{"seed"}).empty())
    report.help("did you mean `seed`?");
  else
    report.help("leave it out, or give it a share above 0");
}

/// Rows of a source that belong to one part.
bool TrainElaborator::takeRange(const ast::Argument &part, const Range &range, bool wanted, int64_t all, plan::Set &made) {
  if (range.high > all) {
    e.diags.report(Diag::index_out_of_range, part.span, range.high, all);
    return false;
  }
  if (range.low >= range.high) {
    reportEmptyPart(part, e.diags);
    return false;
  }
  if (wanted) {
    made.first = range.low;
    made.rows = range.high - range.low;
  }
  return true;
}

/// A share of all rows, or a whole number of them from 2 on. `before`: the shares of the parts that are written before.
bool TrainElaborator::takeShare(const ast::Argument &part, const Value &value, bool wanted, int64_t all, double &before,
                                plan::Set &made) {
  auto *c = value.as<Const>();
  if (c && !c->formula.empty())
    e.decisions.push_back(c->formula);
  bool isCount = c && c->elem == Elem::Int && c->number > 1;
  double share = !c ? -1 : isCount ? c->number / static_cast<double>(all) : c->number;
  if (!(share >= 0) || before + share > 1 + 1e-9) {
    bool isSeed = !nearest(part.name.text, std::vector<std::string>{"seed"}).empty();
    e.diags.report(Diag::split_share, part.span, part.name.text)
        .help(isSeed ? "did you mean `seed`?" : "shares add up to at most 1, and counts to the rows that there are: `split(train=0.8, test=0.2)`, `split(train=80, test=20)`");
    return false;
  }
  int64_t first = std::llround(before * double(all));
  int64_t rows = std::llround((before + share) * double(all)) - first;
  if (rows < 1) {
    reportEmptyPart(part, e.diags);
    return false;
  }
  if (wanted) {
    made.permuted = true;
    made.first = first;
    made.rows = rows;
  }
  before += share;
  return true;
}

/// What a part is measured on must not be what another one is trained on.
bool TrainElaborator::checkDisjoint(const std::vector<SplitPart> &parts) {
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const SplitPart &a = parts[j], &b = parts[i];
      bool mixed = a.rows.has_value() != b.rows.has_value();
      if (!mixed && !a.rows)
        continue; // shares follow one another
      int64_t low = mixed ? 0 : std::max(a.rows->low, b.rows->low), high = mixed ? 0 : std::min(a.rows->high, b.rows->high);
      if (!mixed && low >= high)
        continue;
      std::string first = a.written->name.text, second = b.written->name.text;
      std::string shared = mixed ? "rows: a share is drawn from all of them" : "the rows " + std::to_string(low) + " to " + std::to_string(high - 1);
      e.diags.report(Diag::split_overlap, b.written->span, first, second, shared)
          .note(a.written->span, "`" + first + "` is here")
          .help(mixed ? "write all parts as shares, `split(train=0.8, test=0.2)`, or all as rows, `split(train=0:80, test=80:100)`"
                      : "let `" + second + "` begin where `" + first + "` ends");
      return false;
    }
  return true;
}

/// Finds the rows of one part; all parts are checked.
bool TrainElaborator::split(const Data &data, int64_t all, bool isText, plan::Set &made) {
  double before = 0;
  Frame frame{sourceArgs[data.decl->name.text]};
  std::set<std::string> names;
  std::vector<SplitPart> parts;
  for (auto &part : data.decl->split) {
    if (!part.name || !names.insert(part.name.text).second) {
      if (part.name)
        e.diags.report(Diag::repeated_argument, part.span, part.name.text);
      else
        e.diags.report(Diag::split_unnamed, part.span);
      return false;
    }
    if (part.name.text == "seed") {
      if (isText) {
        e.diags.report(Diag::text_split_seed, part.span)
            .help("leave `seed` out; `shuffle` in the train draws the windows of a part in a new order each epoch");
        return false;
      }
      if (auto seed = e.knownInt(e.evaluate(*part.value, frame), part.span, "the seed of a split"))
        made.splitSeed = static_cast<uint64_t>(*seed);
      continue;
    }
    Value value = splitPart(*part.value, all, frame);
    if (value.isInvalid())
      return false;
    bool wanted = part.name.text == data.split;
    auto *range = value.as<Range>();
    if (range ? !takeRange(part, *range, wanted, all, made) : !takeShare(part, value, wanted, all, before, made))
      return false;
    parts.push_back({&part, range ? std::optional(*range) : std::nullopt});
  }
  if (!checkDisjoint(parts))
    return false;
  // Neighbours in a text are alike: its parts are stretches, and windows stay within theirs.
  made.permuted &= !isText;
  return true;
}

std::optional<int64_t> TrainElaborator::set(const Data &data, Span span) {
  plan::Plan &plan = out->plan;
  if (isStream(*data.decl) && data.decl->hasSplit) {
    reportEndless(*data.decl, data.decl->split.empty() ? data.decl->name.span : data.decl->split.front().span, "it has no parts",
                  "leave `split` out; `" + data.decl->name.text + ".take(1_000)` is a set");
    return std::nullopt;
  }
  if (isStream(*data.decl) && data.rows == 0) {
    reportEndless(*data.decl, span, "an eval of it would not end", "take a set of it: `" + data.decl->name.text + ".take(1_000)`");
    return std::nullopt;
  }
  std::string name = data.decl->name.text + (data.split.empty() ? "" : "." + data.split);
  if (isTaken(data))
    name += "(" + std::to_string(data.rows) + ")";
  auto sourceIndex = source(data, span);
  if (!sourceIndex)
    return std::nullopt;
  for (size_t i = 0; i < plan.sets.size(); ++i)
    if (plan.sets[i].name == name)
      return static_cast<int64_t>(i);
  const plan::Source &from = plan.sources[*sourceIndex];
  plan::Set made;
  made.name = name;
  made.source = *sourceIndex;
  made.rows = from.rows;
  made.fieldArenas.assign(from.fields.size(), -1);
  auto windows = textWindows.find(from.name);
  bool isText = windows != textWindows.end();
  if (!isTaken(data) && !split(data, from.rows, isText, made))
    return std::nullopt;
  if (made.rows < 1) {
    e.diags.report(Diag::split_empty, span, name);
    return std::nullopt;
  }
  if (isText) {
    int64_t length = windows->second.length;
    if (made.rows <= length) {
      e.diags.report(Diag::text_too_short, span, name, made.rows, length);
      return std::nullopt;
    }
    made.windows = (made.rows - length - 1) / windows->second.stride + 1;
  }
  plan.sets.push_back(std::move(made));
  return static_cast<int64_t>(plan.sets.size()) - 1;
}

} // namespace dyn::elab
