// Turns signals during a kernel into faults. The handlers leave a CUDA thread's code the way any other fault does: they
// jump to the worker's scheduler and never return. That is safe only if they interrupted the kernel's own code. Code
// that may hold a lock or own memory (simt's own functions and the C library's) runs to its end.

#include "convlab/simt/signals.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <mutex>

namespace convlab::simt::internal {
namespace {

#ifdef __aarch64__
constexpr int kOfInstructions[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTRAP};  // __builtin_trap() raises SIGTRAP
#else
constexpr int kOfInstructions[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL};
#endif
struct sigaction action_before[NSIG];

// Of this OS thread, whether or not a CUDA thread is running.
constinit thread_local SignalReceiver* current_receiver = nullptr;

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
  if (current_receiver && info->si_code > 0) current_receiver->on_instruction(number, program_counter(context));
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
  if (current_receiver) current_receiver->on_clock(program_counter(context));
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

SignalScope::SignalScope(SignalReceiver& receiver, void* stack, size_t stack_bytes, double tick_seconds) {
  static std::once_flag installed;
  std::call_once(installed, install_handlers);
  const stack_t own{stack, 0, stack_bytes};
  sigaltstack(&own, &stack_before_);
  current_receiver = &receiver;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = clock_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (timer_t timer; timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
    timer_ = timer;
    const itimerspec period = every(std::max(tick_seconds, kLeastPeriod));
    timer_settime(timer, 0, &period, nullptr);
  }
}

SignalScope::~SignalScope() {
  if (timer_) timer_delete(*timer_);
  current_receiver = nullptr;
  sigaltstack(&stack_before_, nullptr);
}

void SignalScope::hurry() {
  const itimerspec period = every(kLeastPeriod);
  if (timer_) timer_settime(*timer_, 0, &period, nullptr);
}

}  // namespace convlab::simt::internal
