//===- Profile.cpp - where the time of a run went -------------------------===//
#include "runtime/Profile.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace dyn {
namespace {

using Json = nlohmann::json;

/// What begin and end of one part cost.
double clockSecondsOfPart(double perTick) {
  constexpr int64_t pairs = 2000;
  PartClock clock(2);
  clock.begin(1);
  for (int64_t i = 0; i < pairs; ++i) {
    clock.begin(0);
    clock.end(0);
  }
  clock.end(1);
  return static_cast<double>(clock.sums()[1].ticks) * perTick / pairs;
}

/// The function of the program that a part is in; empty for the program.
std::string functionOf(const std::vector<plan::Part> &parts, const plan::Part &part) {
  const plan::Part *at = &part;
  while (at->kind != "function" && at->parent >= 0)
    at = &parts[static_cast<size_t>(at->parent)];
  return at->kind == "function" ? at->what : "";
}

/// What the row of a part is about: of one that holds others, what is left.
std::string titleOf(const plan::Part &part) {
  if (part.kind == "program")
    return "the loop, its clock and batches";
  if (part.kind == "function")
    return "numbers of `" + part.what + "`, guards, calls";
  return part.kind == "loop" ? part.what + ": its own" : part.what;
}

[[gnu::format(printf, 2, 3)]] void append(std::string &text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// "mlp.dyn:12, 14; adamw.dyn:9": files without their folders.
std::string placesOf(const plan::Part &part) {
  std::string text, last;
  for (const std::string &place : part.spec) {
    size_t colon = place.rfind(':'), slash = place.rfind('/', colon);
    std::string file = place.substr(slash == std::string::npos ? 0 : slash + 1, colon - (slash + 1));
    if (file == last)
      text += "," + place.substr(colon + 1);
    else
      text += (text.empty() ? "" : " ") + file + place.substr(colon);
    last = file;
  }
  return text;
}

Json toJson(const cpu::Limits &limits) {
  Json triad = Json::array();
  for (const cpu::TriadSpeed &speed : limits.triad)
    triad.push_back({{"bytes", speed.bytes}, {"bytes_per_second", speed.bytesPerSecond}});
  return {{"flops_per_second", limits.flopsPerSecond}, {"triad", triad}};
}

double perSecond(int64_t amount, const ProfileRow &row) {
  return row.seconds > 0 ? static_cast<double>(amount) * static_cast<double>(row.calls) / row.seconds : 0;
}

} // namespace

void PartClock::start() {
  startTime = std::chrono::steady_clock::now();
  startTicks = readTicks();
}

void PartClock::stop() {
  int64_t ticks = readTicks() - startTicks;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - startTime).count();
  perTick = ticks > 0 ? seconds / static_cast<double>(ticks) : 0;
}

Profile profileOf(const plan::Plan &plan, const PartClock &clock, ThreadPool &pool, int64_t steps) {
  const std::vector<PartClock::Sum> &sums = clock.sums();
  Profile profile;
  profile.name = plan.name;
  profile.parts = plan.parts;
  profile.steps = steps;
  profile.threads = pool.threads();
  std::vector<int64_t> own;
  int64_t calls = 0, mostBytes = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    own.push_back(sums[i].ticks);
    calls += sums[i].calls;
    mostBytes = std::max(mostBytes, sums[i].calls ? plan.parts[i].bytes : 0);
  }
  for (size_t i = 0; i < sums.size(); ++i)
    if (int64_t parent = plan.parts[i].parent; parent >= 0)
      own[static_cast<size_t>(parent)] -= sums[i].ticks;
  profile.seconds = static_cast<double>(sums[0].ticks) * clock.secondsPerTick();
  profile.clockSeconds = static_cast<double>(calls) * clockSecondsOfPart(clock.secondsPerTick());
  profile.one = cpu::measureLimits(pool, false, plan.precision, mostBytes);
  profile.all = pool.threads() > 1 ? cpu::measureLimits(pool, true, plan.precision, mostBytes) : profile.one;
  for (size_t i = 0; i < sums.size(); ++i) {
    const plan::Part &part = plan.parts[i];
    ProfileRow row{static_cast<int64_t>(i), sums[i].calls};
    row.seconds = static_cast<double>(own[i]) * clock.secondsPerTick();
    row.share = sums[0].ticks > 0 ? static_cast<double>(own[i]) / static_cast<double>(sums[0].ticks) : 0;
    const cpu::Limits &limits = part.shared ? profile.all : profile.one;
    if (row.seconds > 0)
      row.ofLimit = limits.secondsFor(part.bytes, part.flops) * static_cast<double>(row.calls) / row.seconds;
    profile.rows.push_back(row);
  }
  std::sort(profile.rows.begin(), profile.rows.end(), [](const ProfileRow &x, const ProfileRow &y) {
    return x.seconds != y.seconds ? x.seconds > y.seconds : x.part < y.part;
  });
  return profile;
}

std::string describe(const Profile &profile) {
  std::string text;
  const cpu::TriadSpeed &memory = profile.all.triad.back();
  append(text,
         "profile of %s: %.2f ms, %lld updates, %d %s; taking the time cost "
         "%.2f ms of it\n",
         profile.name.c_str(), profile.seconds * 1e3, static_cast<long long>(profile.steps), profile.threads,
         profile.threads == 1 ? "thread" : "threads", profile.clockSeconds * 1e3);
  append(text, "limits: %.1f GFLOP/s, %.1f GB/s in %lld KiB, %.1f GB/s in %lld KiB\n", profile.all.flopsPerSecond / 1e9,
         profile.all.triad.front().bytesPerSecond / 1e9, static_cast<long long>(profile.all.triad.front().bytes >> 10),
         memory.bytesPerSecond / 1e9, static_cast<long long>(memory.bytes >> 10));
  append(text, "%10s %6s %9s %10s %8s %8s %6s  %-10s %-8s %s\n", "ms", "share", "calls", "us a call", "GB/s", "GFLOP/s",
         "limit", "in", "kind", "what, and where the spec says it");
  for (const ProfileRow &row : profile.rows) {
    const plan::Part &part = profile.parts[static_cast<size_t>(row.part)];
    if (row.calls == 0)
      continue;
    append(text, "%10.3f %5.1f%% %9lld %10.3f ", row.seconds * 1e3, row.share * 100, static_cast<long long>(row.calls),
           row.seconds * 1e6 / static_cast<double>(row.calls));
    if (part.bytes || part.flops)
      append(text, "%8.2f %8.2f %5.0f%%  ", perSecond(part.bytes, row) / 1e9, perSecond(part.flops, row) / 1e9,
             row.ofLimit * 100);
    else
      append(text, "%8s %8s %6s  ", "", "", "");
    append(text, "%-10s %-8s ", functionOf(profile.parts, part).c_str(), part.kind.c_str());
    text += titleOf(part) + (part.shared && profile.threads > 1 ? " (threads)" : "");
    std::string places = placesOf(part);
    text += (places.empty() ? "" : "  " + places) + "\n";
  }
  return text;
}

Status writeJson(const Profile &profile, const std::string &path) {
  Json rows = Json::array();
  for (const ProfileRow &row : profile.rows) {
    const plan::Part &part = profile.parts[static_cast<size_t>(row.part)];
    rows.push_back({{"kind", part.kind},
                    {"what", titleOf(part)},
                    {"function", functionOf(profile.parts, part)},
                    {"spec", part.spec},
                    {"calls", row.calls},
                    {"seconds", row.seconds},
                    {"share", row.share},
                    {"bytes", part.bytes},
                    {"flops", part.flops},
                    {"bytes_per_second", perSecond(part.bytes, row)},
                    {"flops_per_second", perSecond(part.flops, row)},
                    {"of_limit", row.ofLimit},
                    {"shared", part.shared}});
  }
  Json json = {{"train", profile.name},
               {"steps", profile.steps},
               {"threads", profile.threads},
               {"seconds", profile.seconds},
               {"clock_seconds", profile.clockSeconds},
               {"limits", {{"one_thread", toJson(profile.one)}, {"all_threads", toJson(profile.all)}}},
               {"parts", rows}};
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
  file.close();
  if (!file)
    return Status::error("cannot write `" + path + "`: " + std::strerror(errno ? errno : EIO));
  return {};
}

} // namespace dyn
