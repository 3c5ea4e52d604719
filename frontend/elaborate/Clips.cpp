//===- Clips.cpp - rules between the gradient and the optimizers ----------===//
//
// A clip is for all arrays or, by a pattern of its clause or its rule, for a group of them. Arrays lie by their optimizers,
// so a group need not be one range: its parts are gathered for the rule and put back behind it.
//
//===----------------------------------------------------------------------===//
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/elaborate/Patterns.h"

#include "llvm/Support/SaveAndRestore.h"

#include <limits>

using namespace mlir;

namespace dyn::elab {

//===----------------------------------------------------------------------===//
// Which arrays
//===----------------------------------------------------------------------===//

static bool hasPattern(const ast::RuleDecl &rule, const std::vector<ast::RuleOption> &options) {
  return rule.on || !options.empty();
}

/// Finds the rules of the clips, and the arrays that each is for. False after a report.
bool TrainElaborator::placeClips(const Clauses &clauses) {
  for (auto *clause : clauses.clips) {
    auto rule = ruleOf(*clause);
    if (!rule)
      return false;
    clips.push_back({*rule, clause, {}, false});
  }
  for (Clip &clip : clips)
    if (!findGroup(clip))
      return false;
  return true;
}

/// Whether the pattern of a clip takes an array; `otherwise` is set of one that takes what no other clip names.
static bool names(const ast::RuleDecl &rule, const std::vector<ast::RuleOption> &options, const ParamInfo &leaf,
                  Elaborator &e, ScopePtr scope, bool &otherwise) {
  return hasPattern(rule, options) && ownsLeaf(options, rule, leaf, e, scope, otherwise);
}

bool TrainElaborator::findGroup(Clip &clip) {
  const std::vector<ast::RuleOption> &options = optionsOf(*clip.clause);
  clip.leaves = e.treeLeaves;
  clip.isWhole = !hasPattern(*clip.rule.decl, options);
  if (clip.isWhole)
    return true;
  auto isOthers = [&](const ParamInfo &leaf) {
    return llvm::any_of(clips, [&](const Clip &other) {
      bool otherwise = false;
      return &other != &clip && names(*other.rule.decl, optionsOf(*other.clause), leaf, e, scope, otherwise) && !otherwise;
    });
  };
  llvm::erase_if(clip.leaves, [&](const ParamInfo *leaf) {
    bool otherwise = false;
    bool isNamed = names(*clip.rule.decl, options, *leaf, e, scope, otherwise);
    return leaf->frozen || !isNamed || (otherwise && isOthers(*leaf));
  });
  if (clip.leaves.empty() && !e.hasFailed())
    e.diags.report(Diag::owns_nothing, clip.clause->span, "clip", clip.rule.decl->name.text);
  return !e.hasFailed();
}

/// The places of a clip's rule: one for the group, or each array by itself for a rule with a shape pattern.
std::vector<RulePlace> TrainElaborator::placesOf(const Clip &clip, const std::string &name) {
  if (!ast::dynCast<ast::ShapePattern>(clip.rule.decl->on.get()))
    return {RulePlace{name, "", clip.leaves, clip.leaves.front()->offset, false}};
  std::vector<RulePlace> places;
  for (ParamInfo *leaf : clip.leaves)
    places.push_back({name, leaf->path, {leaf}, leaf->offset, true});
  return places;
}

//===----------------------------------------------------------------------===//
// Parts of the whole range
//===----------------------------------------------------------------------===//

/// Stretches of neighbours among arrays, each as where it begins and how long it is.
SmallVector<std::pair<int64_t, int64_t>> TrainElaborator::stretches(const std::vector<ParamInfo *> &leaves) {
  SmallVector<std::pair<int64_t, int64_t>> found;
  for (ParamInfo *leaf : leaves) {
    int64_t count = elements({leaf});
    if (!found.empty() && found.back().first + found.back().second == leaf->offset)
      found.back().second += count;
    else
      found.emplace_back(leaf->offset, count);
  }
  return found;
}

/// Some arrays of a flat whole tree, one behind the other.
mlir::Value TrainElaborator::gathered(mlir::Value whole, const std::vector<ParamInfo *> &leaves, Span span) {
  SmallVector<mlir::Value> parts;
  for (auto [from, count] : stretches(leaves))
    parts.push_back(part(whole, from, count, span));
  return parts.size() == 1 ? parts.front() : e.create<nd::ConcatOp>(span, ValueRange(parts), uint64_t(0));
}

/// A flat whole tree with other values of some arrays.
mlir::Value TrainElaborator::scattered(mlir::Value whole, mlir::Value group, const std::vector<ParamInfo *> &leaves, Span span) {
  SmallVector<mlir::Value> parts;
  int64_t at = 0, taken = 0, total = elements(e.treeLeaves);
  for (auto [from, count] : stretches(leaves)) {
    if (from > at)
      parts.push_back(part(whole, at, from - at, span));
    parts.push_back(part(group, taken, count, span));
    taken += count;
    at = from + count;
  }
  if (at < total)
    parts.push_back(part(whole, at, total - at, span));
  return parts.size() == 1 ? parts.front() : e.create<nd::ConcatOp>(span, ValueRange(parts), uint64_t(0));
}

//===----------------------------------------------------------------------===//
// In the flow of the gradient
//===----------------------------------------------------------------------===//

/// `keeps`: it is the pass's own gradient, so the clips' states go on and what they emit counts.
Value TrainElaborator::applyClips(Value grads, bool keeps) {
  llvm::SaveAndRestore silence(quiet, !keeps);
  for (size_t k = 0; k < clips.size() && !grads.isInvalid(); ++k) {
    const Clip &clip = clips[k];
    Span span = clip.clause->span;
    mlir::Value flat = *flatOf(grads, span);
    for (const RulePlace &place : placesOf(clip, "clip" + std::to_string(k) + " " + clip.rule.decl->name.text)) {
      mlir::Value after = applyClip(clip, place, flat, keeps);
      if (e.hasFailed())
        return {};
      flat = clip.isWhole ? after : scattered(flat, after, place.leaves, span);
    }
    grads = inFormOf(flat, treeType(e.treeLeaves, false), span);
  }
  return grads;
}

/// What a clip makes of the gradient at one of its places, flat. `whole` is that of all parameters.
mlir::Value TrainElaborator::applyClip(const Clip &clip, const RulePlace &place, mlir::Value whole, bool keeps) {
  const Rule &rule = clip.rule;
  Span span = clip.clause->span;
  std::string at = place.patterned ? " on `" + place.leaf + ": " + describeShape(place.leaves[0]->shape) + "`" : "";
  InstantiationScope chain(e.diags, rule.decl->name.text + at, span);
  std::vector<std::string> held;
  ScopePtr inner = ruleScope(rule, &place, &held);
  defineSizes(*rule.decl, place, *inner, span);
  mlir::Value before = clip.isWhole ? whole : gathered(whole, place.leaves, span);
  mlir::Value params = *flatOf(passParams, span);
  defineForms(inner, place, "param", clip.isWhole ? params : gathered(params, place.leaves, span), false, span);
  defineForms(inner, place, "grad", before, true, span);
  inner->define("t", applications(span), NameKind::Socket, span);
  runRule(rule, inner, place, held, keeps);
  if (e.hasFailed())
    return {};
  mlir::Value after = written(*inner, "grad", before, span);
  if (request.checkBounds && rule.decl->bounds) {
    auto scope = std::make_shared<Scope>(inner);
    defineForms(scope, place, "grad", after, false, span);
    checkBound(rule, scope, span);
  }
  return after;
}

/// While tests run, a clip's promise `a <= b` is checked after each step, up to rounding.
void TrainElaborator::checkBound(const Rule &rule, ScopePtr scope, Span span) {
  auto *compare = ast::dynCast<ast::BinaryExpr>(rule.decl->bounds.get());
  if (!compare || (compare->op != ast::BinaryOp::Le && compare->op != ast::BinaryOp::Lt)) {
    e.diags.report(Diag::bound_form, rule.decl->bounds->span);
    return;
  }
  // In the passes of a rule's own loop (`gradient(p)`) there is no step to name.
  if (!isa_and_present<ir::SocketOp>(e.builder.getInsertionBlock()->getParentOp()))
    return;
  Frame frame{scope, nullptr, rule.decl->name.text};
  Value a = e.evaluate(*compare->lhs, frame), b = e.evaluate(*compare->rhs, frame);
  if (a.isInvalid() || b.isInvalid())
    return;
  double slack = out->plan.precision == plan::Element::f64 ? 1e-12 : 1e-5;
  auto real = [&](double x) { return Value(Const{x, Elem::Real, false, ""}, span); };
  Value limit = e.binary(ast::BinaryOp::Mul, b, real(1 + slack), span);
  Value holds = e.binary(ast::BinaryOp::Le, a, limit, span);
  Value flag = e.select(holds, real(0), real(std::numeric_limits<double>::quiet_NaN()), span);
  auto t = flag.isInvalid() ? std::nullopt : e.tensor(flag, span);
  if (!t)
    return;
  // One promise a leaf is as many numbers to guard.
  mlir::Value guarded = t->value;
  if (t->type().getEncoding())
    guarded = e.create<ir::RecastOp>(span, ir::withEncoding(t->type(), {}), guarded);
  std::string promise = "`" + rule.decl->name.text + "` breaks its bound `" + print(*compare) + "`";
  run::GuardOp::create(e.builder, e.loc(span), guarded, static_cast<int64_t>(out->plan.sites.size()), promise);
  out->plan.sites.push_back({"bound", promise, e.diags.sources().describe(rule.decl->bounds->span)});
}

} // namespace dyn::elab
