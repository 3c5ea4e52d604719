//===- Sweep.cpp ----------------------------------------------------------===//
//
// One thread, the caller's, elaborates members and hands them on; as many workers as the machine has threads take them
// in order. A member needs some of those threads: most need one, so that small models pay for no fork and join; a model
// that is larger than the caches takes all, so that its arrays do not drive those of others out.
//
//===----------------------------------------------------------------------===//
#include "frontend/driver/Sweep.h"

#include "frontend/driver/SweepIndex.h"

#include "dialects/Run/RunOps.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace dyn {

//===----------------------------------------------------------------------===//
// How many at a time
//===----------------------------------------------------------------------===//

/// A member whose own memory is larger runs alone, with all threads.
static constexpr int64_t largestBesideOthers = int64_t(256) << 20;
/// Members together take no more than this share of the memory that is free.
static constexpr double shareOfMemory = 0.7;

static int64_t availableMemory() {
  std::ifstream info("/proc/meminfo");
  std::string word;
  for (int64_t kilobytes; info >> word;)
    if (word == "MemAvailable:" && info >> kilobytes)
      return kilobytes << 10;
  return INT64_MAX;
}

/// What a member has for itself: all but the sets, which members share.
static int64_t ownBytes(const plan::Plan &plan) {
  std::vector<bool> isShared(plan.arenas.size());
  for (const plan::Set &set : plan.sets)
    for (int64_t arena : set.fieldArenas)
      if (arena >= 0 && !plan.sources[static_cast<size_t>(set.source)].isEndless())
        isShared[static_cast<size_t>(arena)] = true;
  int64_t bytes = 0;
  for (size_t i = 0; i < plan.arenas.size(); ++i)
    bytes += isShared[i] ? 0 : plan.arenas[i].bytes;
  return bytes;
}

int threadsOfMember(const plan::Plan &plan, size_t members, int threads) {
  int64_t bytes = std::max<int64_t>(ownBytes(plan), 1);
  double room = shareOfMemory * static_cast<double>(availableMemory()) / static_cast<double>(bytes);
  int atOnce = bytes > largestBesideOthers ? 1 : static_cast<int>(std::min<size_t>(members, static_cast<size_t>(threads)));
  return threads / std::max(1, static_cast<int>(std::min<double>(atOnce, room)));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
/// The sets of members whose data are the same.
struct DataOfMembers {
  std::mutex mutex;
  std::shared_ptr<const LoadedSets> sets;
};
} // namespace

struct SweepProgram {
  BuiltTrain built;
  std::shared_ptr<Code> code;
  std::vector<int64_t> dataNumbers; ///< entries of plan.numbers that data functions read
  std::map<std::string, std::shared_ptr<DataOfMembers>> data;

  /// Members that read the same files with the same numbers have the same data.
  std::shared_ptr<DataOfMembers> dataOf(const plan::Plan &plan) {
    plan::Plan key;
    key.sources = plan.sources;
    key.sets = plan.sets;
    if (llvm::any_of(plan.sources, [](const plan::Source &source) { return source.followsSeed; }))
      key.seed = plan.seed;
    for (int64_t number : dataNumbers)
      key.numbers.push_back(plan.numbers[static_cast<size_t>(number)]);
    auto &entry = data[plan::toJson(key)];
    if (!entry)
      entry = std::make_shared<DataOfMembers>();
    return entry;
  }
};

std::shared_ptr<SweepProgram> SweepPrograms::compile(elab::Elaborated &elaborated, DiagnosticEngine &own) {
  auto built = work.lower(elaborated, own);
  if (!built || (!interpret && !work.generate(*built, own)))
    return nullptr;
  auto program = std::make_shared<SweepProgram>();
  program->built = std::move(*built);
  mlir::ModuleOp nd = *program->built.nd;
  program->code = interpret ? Code::interpret(nd) : Code::link(program->built.program.object, own);
  for (const plan::Source &source : program->built.program.plan.sources)
    if (mlir::Operation *function = nd.lookupSymbol(source.function))
      function->walk([&](run::NumberOp number) { program->dataNumbers.push_back(static_cast<int64_t>(number.getIndex())); });
  return program->code ? program : nullptr;
}

std::optional<SweepPrograms::Made> SweepPrograms::make(const elab::TrainRequest &request, DiagnosticEngine &own) {
  auto elaborated = work.elaborateOnly(request, own, names);
  if (!elaborated)
    return std::nullopt;
  Made made;
  made.hyperparameters = hyperparametersOf(*elaborated);
  made.plan = elaborated->plan;
  std::shared_ptr<SweepProgram> &program = programs[programText(*elaborated->module)];
  if (!program)
    program = compile(*elaborated, own);
  if (!program)
    return std::nullopt;
  made.program = program;
  made.plan = mergePlans(std::move(made.plan), program->built.program.plan);
  return made;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

namespace {

struct Member {
  Member(const elab::TrainRequest &request, SweepPrograms::Made made, SourceManager &sources)
      : request(request), made(std::move(made)), diags(sources) {}

  const elab::TrainRequest &request;
  SweepPrograms::Made made;
  std::shared_ptr<DataOfMembers> data;
  std::string folder;
  int threads = 1;
  std::shared_ptr<Device> device;
  DiagnosticEngine diags; ///< of its own: members run at the same time
  bool ran = false;
  Outcome outcome;
  std::shared_ptr<elab::RunResult> result;
  std::unique_ptr<Execution> failed; ///< kept to be explained

  bool isFine() const { return ran && outcome.output.isOk() && (outcome.status == DYN_OK || outcome.status == DYN_NOT_FINITE); }

  void run() {
    auto execution = create();
    if (!execution)
      return;
    outcome = execution->run();
    ran = true;
    result = execution->result();
    result->hyperparameters = made.hyperparameters;
    if (!isFine())
      failed = std::move(execution);
  }

private:
  /// The first of those with the same data loads it.
  std::unique_ptr<Execution> create() {
    SessionOptions options;
    options.threads = threads;
    options.directory = folder;
    options.run = made.plan.name;
    options.device = device;
    options.keepCheckpoints = true;
    options.start = request.start;
    std::unique_lock lock(data->mutex);
    options.sets = data->sets;
    if (options.sets)
      lock.unlock();
    auto execution = Execution::create(made.plan, made.program->code, std::move(options), diags);
    if (execution && lock.owns_lock() && !device)
      data->sets = execution->session().sets();
    return execution;
  }
};

/// Members in order, taken by workers as threads become free.
class MemberQueue {
public:
  explicit MemberQueue(int threads) : free(threads) {
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([this] { work(); });
  }
  ~MemberQueue() {
    close();
    for (std::thread &worker : workers)
      worker.join();
  }

  void push(Member &member) {
    std::lock_guard lock(mutex);
    waiting.push_back(&member);
    changed.notify_all();
  }
  /// Nothing comes any more.
  void close() {
    std::lock_guard lock(mutex);
    closed = true;
    changed.notify_all();
  }
  /// Whether a member failed, so that nobody needs the others.
  bool isStopped() {
    std::lock_guard lock(mutex);
    return stopped;
  }
  /// Waits for the end, not much longer than said; whether it came.
  bool isOver(std::chrono::milliseconds wait, size_t &finished) {
    std::unique_lock lock(mutex);
    bool over = changed.wait_for(lock, wait, [this] { return running == 0 && (stopped || (closed && waiting.empty())); });
    finished = done;
    return over;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Member *> waiting;
  std::vector<std::thread> workers;
  int free, running = 0;
  size_t done = 0;
  bool closed = false, stopped = false;

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] {
        return stopped || (waiting.empty() ? closed : waiting.front()->threads <= free);
      });
      stopped |= InterruptScope::isInterrupted();
      if (stopped || waiting.empty()) {
        changed.notify_all();
        return;
      }
      Member &member = *waiting.front();
      waiting.pop_front();
      free -= member.threads;
      ++running;
      lock.unlock();
      member.run();
      lock.lock();
      free += member.threads;
      --running;
      ++done;
      stopped |= !member.isFine() || InterruptScope::isInterrupted();
      changed.notify_all();
    }
  }
};

/// "s: 12 of 64 members": redrawn in a terminal, elsewhere a line from time to time.
class SweepProgress {
public:
  SweepProgress(bool wanted, std::string name, size_t members)
      : wanted(wanted), terminal(isatty(2) == 1), name(std::move(name)), members(members) {}

  void show(size_t finished, bool last) {
    double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!wanted || (!terminal && !last && passed < next))
      return;
    if (!terminal && !last)
      next += std::min(next, 60.0);
    std::fprintf(stderr, "%s%s: %zu of %zu members%s", terminal ? "\r" : "", name.c_str(), finished, members,
                 terminal ? "\x1b[K" : "\n");
    if (terminal && last)
      std::fputc('\n', stderr);
  }

private:
  bool wanted, terminal;
  std::string name;
  size_t members;
  double next = 1; ///< seconds until the next plain line
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

class Sweep {
public:
  Sweep(Workspace &work, const elab::SweepRequest &request, const SweepOptions &options)
      : work(work), request(request), options(options),
        programs(work, options.names ? *options.names : work.library, options.interpret),
        folders(options.out, request.name) {
    threads = options.threads > 0 ? options.threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    if (options.device) // it has one queue
      threads = 1;
  }

  SweepOutcome run() {
    Stopwatch watch;
    InterruptScope scope;
    if (options.interpret)
      runInTurn();
    else
      runTogether();
    if (options.timings) {
      std::fprintf(stderr, "%8.2f ms  the sweep: %zu members, %zu programs, %zu elaborations\n", watch.lap(),
                   members.size(), programs.count(), variants.size());
    }
    return conclude(InterruptScope::isInterrupted());
  }

private:
  Workspace &work;
  const elab::SweepRequest &request;
  const SweepOptions &options;
  SweepPrograms programs;
  MemberFolders folders;
  int threads;
  std::map<size_t, SweepPrograms::Made> variants; ///< elaborated once, whatever the seeds
  std::deque<std::unique_ptr<Member>> members;
  DiagnosticEngine own{work.sources}; ///< of elaboration

  /// The evaluator makes types in the context that elaboration uses: neither may run beside the other.
  void runInTurn() {
    for (size_t i = 0; i < request.members.size() && !InterruptScope::isInterrupted() && add(i); ++i) {
      members.back()->run();
      if (!members.back()->isFine())
        return;
    }
  }

  void runTogether() {
    MemberQueue queue(threads);
    SweepProgress progress(options.progress, request.name, request.members.size());
    size_t finished = 0;
    auto mayGoOn = [&] { return !queue.isStopped() && !InterruptScope::isInterrupted(); };
    for (size_t i = 0; i < request.members.size() && mayGoOn() && add(i); ++i) {
      queue.push(*members.back());
      (void)queue.isOver(std::chrono::milliseconds(0), finished);
      progress.show(finished, false);
    }
    queue.close();
    while (!queue.isOver(std::chrono::milliseconds(100), finished))
      progress.show(finished, false);
    progress.show(finished, true);
  }

  bool add(size_t number) {
    const elab::TrainRequest &asked = request.members[number];
    size_t variant = request.variants[number];
    if (!variants.count(variant)) {
      auto made = programs.make(asked, own);
      if (!made)
        return false;
      variants.emplace(variant, std::move(*made));
    }
    auto member = std::make_unique<Member>(asked, variants.at(variant), work.sources);
    plan::Plan &plan = member->made.plan;
    plan.name = asked.runName;
    if (asked.seed) {
      plan.seeded = true;
      plan.seed = *asked.seed;
    }
    member->data = member->made.program->dataOf(plan);
    member->device = options.device;
    member->folder = folders.of(asked.runName);
    member->threads = threadsOfMember(plan, request.members.size(), threads);
    members.push_back(std::move(member));
    return true;
  }

  /// What went wrong is said here, where nothing else runs.
  void report(Member &member) {
    InstantiationScope chain(member.diags, "member " + member.request.runName, Span());
    if (!member.outcome.output.isOk())
      member.diags.report(Diag::output_failed, Span(), member.outcome.output.message());
    else if (member.failed)
      member.failed->explain([&] { return *member.made.program->built.nd; }, member.diags, work.sources);
    work.diags.adopt(member.diags);
  }

  SweepOutcome conclude(bool interrupted) {
    SweepOutcome outcome;
    bool failed = own.hasErrors();
    work.diags.adopt(own);
    SweepIndex index(request);
    for (size_t i = 0; i < members.size(); ++i) {
      Member &member = *members[i];
      bool stopped = member.ran && member.outcome.status == DYN_INTERRUPTED;
      if (!member.isFine() && !stopped && (member.ran || member.diags.hasErrors())) {
        report(member);
        failed = true;
      }
      if (member.ran)
        index.add(i, member.folder, member.outcome, *member.result);
    }
    Status written = failed && index.finished() == 0 ? Status() : index.write(folders.path());
    if (!written.isOk()) {
      work.diags.report(Diag::output_failed, Span(), written.message());
      failed = true;
    }
    outcome.status = interrupted ? 130 : failed ? 1 : 0;
    if (interrupted)
      work.diags.report(Diag::stopped, Span(), request.name + ": interrupted after " + std::to_string(index.finished()) +
                                                   " of " + std::to_string(request.members.size()) + " members");
    if (outcome.status == 0)
      for (auto &member : members)
        outcome.results.push_back(member->result);
    return outcome;
  }
};

} // namespace

SweepOutcome runSweep(Workspace &work, const elab::SweepRequest &request, const SweepOptions &options) {
  return Sweep(work, request, options).run();
}

} // namespace dyn
