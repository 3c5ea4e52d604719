//===- TrainData.cpp - the batches that a train takes ---------------------===//
#include "frontend/elaborate/Streams.h"
#include "frontend/elaborate/TrainElaborator.h"

using namespace mlir;

namespace dyn::elab {

/// The train's data, or what `with data = …` puts in its place.
Value TrainElaborator::dataOf(const Clauses &clauses, Frame &frame) {
  const TrainChange *change = changeOf("data");
  return change ? change->value : e.evaluate(*clauses.data->sources.front().value, frame);
}

std::optional<Batching> TrainElaborator::batching(const std::vector<ast::SourceOption> &options, Frame &frame) {
  Batching said;
  for (const ast::SourceOption &option : options) {
    auto *name = ast::dynCast<ast::NameExpr>(option.size.get());
    if (option.form == ast::SourceOption::Form::Shuffle)
      said.shuffle = option.span;
    else if (option.form == ast::SourceOption::Form::Drop)
      said.drop = option.span;
    else if (option.form == ast::SourceOption::Form::All || (name && name->name == "all"))
      said.all = option.span;
    else if (option.form == ast::SourceOption::Form::Batch) {
      auto size = e.knownInt(e.evaluate(*option.size, frame), option.size->span, "the batch size");
      if (!size)
        return std::nullopt;
      said.size = *size;
      said.sizeAt = option.size->span;
    }
  }
  return said;
}

void TrainElaborator::reportEndless(const ast::DataDecl &data, Span span, const char *why, const std::string &help) {
  e.diags.report(Diag::data_endless, span, data.name.text, why)
      .note(data.name.span, "`" + data.name.text + "` is a `stream`: rows are drawn as long as somebody takes them")
      .help(help);
}

/// What a stream cannot be asked for; then its batch is all that it holds at a time.
bool TrainElaborator::batchesOfStream(Data &data, const Batching &options, Span span) {
  struct Row {
    Span written;
    const char *why, *help;
  };
  const Row refused[] = {
      {options.all, "no batch has all of its rows", "give the batch a size: `batch 64`"},
      {options.shuffle, "its rows have no order to change", "leave `shuffle` out: each batch is drawn afresh"},
      {options.drop, "none of its batches is short", "leave `drop` out"},
  };
  for (const Row &row : refused)
    if (row.written.isValid()) {
      reportEndless(*data.decl, row.written, row.why, row.help);
      return false;
    }
  if (!options.sizeAt.isValid()) {
    e.diags.report(Diag::batch_missing, span).help("add `batch 64`: so many rows are drawn for each step");
    return false;
  }
  if (options.size < 1) {
    e.diags.report(Diag::cannot_be, options.sizeAt, "the batch size", options.size);
    return false;
  }
  data.rows = options.size;
  return endless = true;
}

/// The set of the data clause and the train's own feed.
bool TrainElaborator::openData(const Clauses &clauses) {
  batch = {-1, 1, false};
  if (!clauses.data)
    return true;
  Frame frame{scope};
  const TrainChange *change = changeOf("data");
  const ast::Source &source = clauses.data->sources.front();
  const ast::Expr &written = change ? *change->written : *source.value;
  bool otherOptions = change && !change->part->sourceOptions.empty();
  Frame optionFrame{otherOptions ? change->scope : scope};
  Value value = dataOf(clauses, frame);
  auto *data = value.as<Data>();
  if (!data) {
    if (!value.isInvalid())
      e.diags.report(Diag::not_data, written.span, describe(value));
    return false;
  }
  auto options = batching(otherOptions ? change->part->sourceOptions : source.options, optionFrame);
  if (!options || (isStream(*data->decl) && !isTaken(*data) && !batchesOfStream(*data, *options, written.span)))
    return false;
  auto setIndex = set(*data, written.span);
  if (!setIndex)
    return false;
  int64_t rows = out->plan.sets[*setIndex].examples();
  if (options->sizeAt.isValid() && (options->size < 1 || options->size > rows)) {
    e.diags.report(Diag::batch_size, options->sizeAt, options->size, rows);
    return false;
  }
  int64_t size = options->all.isValid() ? rows : options->size;
  if (size == 0) {
    e.diags.report(Diag::batch_missing, written.span).help("add `batch 64`, or `batch all` for every row at once");
    return false;
  }
  bool drop = options->drop.isValid();
  batch = {0, size, !drop && rows % size != 0};
  batchData = *data;
  out->plan.feeds.push_back({print(written), *setIndex, size, options->shuffle.isValid(), drop});
  return true;
}

} // namespace dyn::elab
