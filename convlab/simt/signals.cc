// Turns signals during a kernel into faults. The handlers leave a CUDA thread's code the way any other fault does: they
// jump to the worker's scheduler and never return. That is safe only if they interrupted the kernel's own code. Code
// that may hold a lock or own memory (simt's own functions and the C library's) runs to its end.

#include "convlab/simt/signals.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <mutex>

#include "convlab/base/error.h"
#include "convlab/simt/execution.h"

namespace convlab::simt {
namespace internal {
namespace {

constexpr int kOfInstructions[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};
struct sigaction action_before[NSIG];

std::atomic<double> seconds_until_stuck{30};
std::atomic<bool> must_end{false};

// The worker that runs on this OS thread, whether or not a CUDA thread is running.
constinit thread_local Worker* running_worker = nullptr;

constexpr double kLeastPeriod = 1e-3;  // timer period, in seconds; a period of 0 would stop the timer

int clock_signal() { return SIGRTMIN + 3; }

uintptr_t program_counter(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<uintptr_t>(machine.pc);
#else
  static_cast<void>(machine);
  return 0;
#endif
}

void on_instruction(int number, siginfo_t* info, void* context) {
  if (Worker* const worker = active_worker; worker && info->si_code > 0) {
    const HostScope host;
    worker->fail_instruction(number, program_counter(context));
  }
  // Not a kernel's signal: behave as if there were no handler here.
  const struct sigaction& before = action_before[number];
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(number, info, context);
  if (before.sa_handler == SIG_IGN && info->si_code <= 0) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
  signal(number, SIG_DFL);
  if (info->si_code <= 0) raise(number);  // otherwise the instruction raises it again
}

void on_clock(int, siginfo_t*, void* context) {
  const int error = errno;
  if (running_worker) running_worker->on_clock(program_counter(context));
  errno = error;
}

void install_handlers() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_sigaction = on_instruction;
  for (const int number : kOfInstructions) sigaction(number, &action, &action_before[number]);
  action.sa_flags |= SA_RESTART;
  action.sa_sigaction = on_clock;
  sigaction(clock_signal(), &action, nullptr);
}

itimerspec every(double seconds) {
  const double whole = std::floor(seconds);
  const timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  return {time, time};
}

}  // namespace

double stuck_after() { return seconds_until_stuck; }
bool launches_must_end() { return must_end; }

SignalScope::SignalScope(Worker& worker, void* stack, size_t stack_bytes) {
  static std::once_flag installed;
  std::call_once(installed, install_handlers);
  const stack_t own{stack, 0, stack_bytes};
  sigaltstack(&own, &stack_before_);
  running_worker = &worker;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = clock_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_t timer; timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
    timer_ = timer;
    const itimerspec period = every(std::max(stuck_after() / kTicksUntilStuck, kLeastPeriod));
    timer_settime(timer, 0, &period, nullptr);
  }
}

SignalScope::~SignalScope() {
  if (timer_) timer_delete(*timer_);
  running_worker = nullptr;
  sigaltstack(&stack_before_, nullptr);
}

void SignalScope::hurry() {
  const itimerspec period = every(kLeastPeriod);
  if (timer_) timer_settime(*timer_, 0, &period, nullptr);
}

}  // namespace internal

void end_launches() { internal::must_end = true; }

void set_stuck_after(double seconds) {
  constexpr double kMost = 24 * 60 * 60;
  if (!(seconds > 0 && seconds <= kMost)) {
    throw bad_input("the stuck-kernel timeout must be greater than 0 and at most {:g} s, got {:g} s", kMost, seconds);
  }
  internal::seconds_until_stuck = seconds;
}

}  // namespace convlab::simt

// The linker redirects every `throw` of the program here, before an exception exists (see CMakeLists.txt).
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __real___cxa_allocate_exception(size_t bytes);

void* __wrap___cxa_allocate_exception(size_t bytes) {
  using namespace convlab::simt::internal;
  if (Worker* const worker = active_worker) {
    const HostScope host;
    worker->fail_throw(__builtin_return_address(0));
  }
  return __real___cxa_allocate_exception(bytes);
}
}
// NOLINTEND(bugprone-reserved-identifier)
