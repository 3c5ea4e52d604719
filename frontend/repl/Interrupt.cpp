#include "frontend/repl/Interrupt.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace dyn::repl {

namespace {
std::atomic<StepGate *> watched{nullptr};
/// Read end, write end; non-blocking.
int interrupts[2] = {-1, -1};

void onInterrupt(int) {
  int before = errno;
  if (StepGate *gate = watched.load(std::memory_order_relaxed))
    gate->holdFrom(0);
  (void)!write(interrupts[1], "c", 1); // a full pipe has enough of them
  errno = before;
}

void onCrash(int signal) {
  static constexpr char message[] =
      "error: a failure in the code of a run; the session is lost. Please report it with what was entered\n";
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  (void)raise(signal); // blocked until the handler is left, and then, by SA_RESETHAND, the end
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}
} // namespace

void catchInterrupts() {
  if (pipe2(interrupts, O_NONBLOCK | O_CLOEXEC) == 0)
    handle(SIGINT, onInterrupt, SA_RESTART);
}

bool takeInterrupt() {
  bool any = false;
  for (char bytes[64]; read(interrupts[0], bytes, sizeof bytes) > 0;)
    any = true;
  return any;
}

bool awaitInput(int descriptor) {
  while (true) {
    pollfd both[] = {{interrupts[0], POLLIN, 0}, {descriptor, POLLIN, 0}};
    int ready = poll(both, 2, -1);
    if (ready < 0 && errno != EINTR)
      return true; // reading will say why
    if (takeInterrupt())
      return false;
    if (ready > 0 && both[1].revents != 0)
      return true;
  }
}

WatchedGate::WatchedGate(StepGate &gate) {
  watched = &gate;
  if (takeInterrupt()) // that came while the program was made
    gate.holdFrom(0);
}

WatchedGate::~WatchedGate() {
  watched = nullptr;
  takeInterrupt();
}

void announceCrashes() {
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    handle(signal, onCrash, SA_RESETHAND);
}

} // namespace dyn::repl
