//===- Fmt.cpp - dync fmt ---------------------------------------*- C++ -*-===//

#include "frontend/driver/Fmt.h"

#include "frontend/parse/Parser.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace dyn;
namespace fs = std::filesystem;

/// Writes beside the file and renames, so that a reader sees the old text or the new one. An empty result is
/// success, otherwise the reason.
static std::string replace(const std::string &path, const std::string &text) {
  std::error_code error;
  fs::path target = fs::canonical(path, error); // through a link: the file that it names
  if (error)
    return error.message();
  fs::path beside = target;
  beside += "." + std::to_string(::getpid()) + ".tmp";
  {
    std::ofstream stream(beside, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    if (!stream) {
      std::string reason = std::strerror(errno);
      fs::remove(beside, error);
      return reason;
    }
  }
  std::error_code ignored;
  fs::permissions(beside, fs::status(target, ignored).permissions(), ignored);
  fs::rename(beside, target, error);
  if (!error)
    return {};
  fs::remove(beside, ignored);
  return error.message();
}

int dyn::runFmt(const std::string &path, bool check, bool toStdout) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  std::string reason;
  const SourceFile *source = sources.load(path, reason);
  if (!source) {
    diags.report(Diag::cannot_read, Span(), path, reason);
    std::cerr << diags.render();
    return 1;
  }
  std::unique_ptr<ast::Program> program = parse(*source, diags);
  std::cerr << diags.render();
  if (!program)
    return 1;
  std::string text = ast::print(*program);
  bool changed = text != source->text();
  if (check) {
    if (changed)
      std::cout << path << "\n";
    return changed ? 1 : 0;
  }
  if (toStdout) {
    std::cout << text << std::flush;
    return std::cout ? 0 : 1;
  }
  if (!changed)
    return 0;
  reason = replace(path, text);
  if (reason.empty())
    return 0;
  diags.clear();
  diags.report(Diag::cannot_write, Span(), path, reason);
  std::cerr << diags.render();
  return 1;
}
