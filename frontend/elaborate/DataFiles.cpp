//===- DataFiles.cpp - what the source of a data declaration holds ---------===//
#include "frontend/elaborate/Streams.h"
#include "frontend/elaborate/TrainElaborator.h"

#include "frontend/AstWalk.h"
#include "runtime/data/Npz.h"
#include "runtime/data/Reader.h"

#include <filesystem>

using namespace mlir;

namespace dyn::elab {

/// Paths are relative to the file that writes them.
static std::string resolved(const SourceFile *spec, const std::string &path) {
  std::filesystem::path given(path);
  if (given.is_absolute() || !spec)
    return path;
  return (std::filesystem::path(spec->path()).parent_path() / given).lexically_normal().string();
}

static Elem elemOfContent(data::Content content) {
  return content == data::Content::truth ? Elem::Bool : content == data::Content::whole ? Elem::Int : Elem::Real;
}

/// Reads the arguments of one source: opens its files and says what a row of it holds.
class SourceOpener {
public:
  SourceOpener(Elaborator &e, const ast::DataDecl &decl, ScopePtr args, plan::Source &made, SourceParts &parts)
      : e(e), decl(decl), frame(args), made(made), parts(parts) {
    callExpr = ast::dynCast<ast::CallExpr>(decl.source.get());
  }

  /// False after a report.
  bool open() {
    if (isStream(decl) && !made.format.empty())
      return true; // rows that were taken of it
    const ast::NameExpr *root = ast::rootName(*decl.source);
    made.format = root ? root->name : "";
    struct Row {
      const char *format;
      bool (SourceOpener::*open)();
      bool isCall;
    };
    static constexpr Row table[] = {
        {"csv", &SourceOpener::csv, true},         {"idx", &SourceOpener::namedFiles, true},
        {"npy", &SourceOpener::namedFiles, true},  {"npz", &SourceOpener::archive, true},
        {"text", &SourceOpener::text, true},       {"synthetic", &SourceOpener::synthetic, true},
        {"table", &SourceOpener::table, false},    {"stream", &SourceOpener::stream, false},
    };
    for (const Row &row : table)
      if (made.format == row.format && row.isCall == (callExpr != nullptr))
        return (this->*row.open)();
      else if (made.format == row.format && row.isCall)
        return needsFiles();
    e.diags.report(Diag::not_supported, decl.source->span, "this source of data is");
    return false;
  }

private:
  Elaborator &e;
  const ast::DataDecl &decl;
  Frame frame;
  plan::Source &made;
  SourceParts &parts;
  const ast::CallExpr *callExpr = nullptr;
  std::string firstInput; ///< whose rows the others must have

  bool needsFiles(Span at = {}) {
    const char *form = made.format == "csv"    ? "`csv(\"file.csv\")`"
                       : made.format == "npz"  ? "`npz(\"file.npz\")`"
                       : made.format == "text" ? "`text(\"file.txt\", context=64)`"
                       : made.format == "npy"  ? "`npy(x=\"x.npy\", y=\"y.npy\")` names the rows of each file"
                                               : "`idx(pixels=\"images.gz\", kind=\"labels.gz\")` names the rows of each file";
    e.diags.report(Diag::data_files, at.isValid() ? at : decl.source->span, made.format).help(form);
    return false;
  }

  bool unknownArgument(const ast::Argument &arg, const char *known) {
    auto report = e.diags.report(Diag::unknown_argument, arg.span, made.format, arg.name.text);
    if (known)
      report.help(known);
    return false;
  }

  /// The path that an argument names, as written.
  const std::string *pathOf(const Value &value) {
    auto *text = value.as<Text>();
    return text ? &text->text : nullptr;
  }

  /// Adds a file, or an array of one, as what a row sees under `name`.
  bool addInput(const std::string &name, const std::string &path, const data::ReadOptions &options, Span span,
                int64_t classes = 0) {
    std::string file = resolved(e.diags.sources().file(decl.span), path);
    auto extent = data::inspect(made.format, file, options);
    const std::string &shown = options.member.empty() ? path : options.member;
    if (!extent) {
      e.diags.report(Diag::data_file, span, extent.status().message());
      return false;
    }
    if (!parts.raws.empty() && extent->rows != made.rows) {
      e.diags.report(Diag::data_rows, span, shown, extent->rows, firstInput, made.rows);
      return false;
    }
    if (parts.raws.empty())
      firstInput = shown;
    made.rows = extent->rows;
    made.inputs.push_back({file, extent->width(), 0, options.header, options.member});
    RawValue raw{name, SmallVector<int64_t>(extent->shape.begin(), extent->shape.end()), elemOfContent(extent->content),
                 static_cast<int64_t>(made.inputs.size()) - 1, classes};
    parts.raws.push_back(std::move(raw));
    return true;
  }

  /// `csv("file", header=true)`
  bool csv() {
    data::ReadOptions options;
    const ast::Argument *file = onlyFile();
    for (auto &arg : callExpr->args) {
      if (!arg.name)
        continue;
      if (arg.name.text != "header")
        return unknownArgument(arg, "it has `header`");
      auto header = e.knownBool(e.evaluate(*arg.value, frame));
      if (!header) {
        e.diags.report(Diag::needs_bool, arg.value->span, "header", print(*arg.value));
        return false;
      }
      options.header = *header;
    }
    if (!file)
      return needsFiles();
    Value value = e.evaluate(*file->value, frame);
    const std::string *path = pathOf(value);
    return path ? addInput("columns", *path, options, file->value->span) : needsFiles(file->span);
  }

  /// `idx(name="file", …)`, `npy(name="file", …)`
  bool namedFiles() {
    for (auto &arg : callExpr->args) {
      Value value = e.evaluate(*arg.value, frame);
      const std::string *path = pathOf(value);
      if (!path || !arg.name)
        return needsFiles(arg.span);
      if (!addInput(arg.name.text, *path, {}, arg.value->span))
        return false;
    }
    return !parts.raws.empty() || needsFiles();
  }

  /// The argument without a name; null if there is none, or several.
  const ast::Argument *onlyFile() {
    const ast::Argument *file = nullptr;
    for (auto &arg : callExpr->args)
      if (!arg.name) {
        if (file)
          return nullptr;
        file = &arg;
      }
    return file;
  }

  /// `npz("file")`: arrays by name, those that the items read; without braces all.
  bool archive() {
    for (auto &arg : callExpr->args)
      if (arg.name)
        return unknownArgument(arg, "its arrays have the names that the file gives them");
    const ast::Argument *file = onlyFile();
    Value value = file ? e.evaluate(*file->value, frame) : Value();
    const std::string *path = pathOf(value);
    if (!path)
      return needsFiles(file ? file->span : Span());
    auto members = data::npzMembers(resolved(e.diags.sources().file(decl.span), *path));
    if (!members) {
      e.diags.report(Diag::data_file, file->value->span, members.status().message());
      return false;
    }
    std::set<std::string> read;
    for (auto &item : decl.items)
      ast::walk(*item->binding, [&](const ast::Node &node) {
        if (auto *name = ast::dynCast<ast::NameExpr>(&node))
          read.insert(name->name);
        return true;
      });
    for (const std::string &member : *members)
      if (!decl.hasItems || read.count(member))
        if (!addInput(member, *path, {false, member}, file->value->span))
          return false;
    if (!parts.raws.empty())
      return true;
    std::string list;
    for (const std::string &member : *members)
      list += (list.empty() ? "`" : ", `") + member + "`";
    e.diags.report(Diag::data_no_array, decl.source->span, *path).help("it has " + list);
    return false;
  }

  /// `text("file", context=64, stride=64)`
  bool text() {
    for (auto [name, to] : {std::pair{"context", &parts.windows.length}, std::pair{"stride", &parts.windows.stride}})
      for (auto &arg : callExpr->args)
        if (arg.name.text == name && !count(arg, *to))
          return false;
    for (auto &arg : callExpr->args)
      if (arg.name && arg.name.text != "context" && arg.name.text != "stride")
        return unknownArgument(arg, "it has `context` and `stride`");
    const ast::Argument *file = onlyFile();
    Value value = file ? e.evaluate(*file->value, frame) : Value();
    const std::string *path = pathOf(value);
    if (!path)
      return needsFiles(file ? file->span : Span());
    if (parts.windows.length == 0) {
      e.diags.report(Diag::missing_argument, decl.source->span, made.format, "context").help("the bytes of a window: `context=64`");
      return false;
    }
    if (parts.windows.stride == 0)
      parts.windows.stride = parts.windows.length;
    if (decl.hasItems) {
      e.diags.report(Diag::text_items, decl.name.span).help("compute with them in the model or in locals of the train");
      return false;
    }
    return addInput("byte", *path, {}, file->value->span, 256);
  }

  /// A positive number of bytes.
  bool count(const ast::Argument &arg, int64_t &out) {
    auto known = e.knownInt(e.evaluate(*arg.value, frame), arg.value->span, "a number of bytes");
    if (!known)
      return false;
    if (*known < 1) {
      e.diags.report(Diag::text_count, arg.value->span, arg.name.text, *known);
      return false;
    }
    out = *known;
    return true;
  }

  /// `stream { … }`: the train says how many rows are made at a time.
  bool stream() { return true; }

  /// `synthetic(n)`
  bool synthetic() {
    for (auto &arg : callExpr->args)
      if (arg.name)
        return unknownArgument(arg, arg.name.text == "seed" ? "a seed stands behind the items: `synthetic(n) { … } seed 3`" : nullptr);
    auto rows = callExpr->args.size() == 1
                    ? e.knownInt(e.evaluate(*callExpr->args[0].value, frame), callExpr->args[0].span, "the number of rows")
                    : std::optional<int64_t>(0);
    if (!rows)
      return false;
    if (*rows < 1) {
      e.diags.report(Diag::synthetic_rows, callExpr->args.size() == 1 ? callExpr->args[0].span : decl.source->span);
      return false;
    }
    made.rows = *rows;
    return true;
  }

  /// `table { … }`: its columns say how many rows there are.
  bool table() {
    parts.isTable = true;
    made.rows = 1;
    return true;
  }
};

bool TrainElaborator::openSource(const ast::DataDecl &decl, ScopePtr args, plan::Source &made, SourceParts &parts) {
  if (!SourceOpener(e, decl, std::move(args), made, parts).open())
    return false;
  if (parts.windows.length > 0)
    textWindows[made.name] = parts.windows;
  return true;
}

} // namespace dyn::elab
