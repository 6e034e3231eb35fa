#pragma once

#include <ctime>

#include "convlab/simt/warp.h"

/// CUDA's clocks, sleep and breakpoints. A multiprocessor's clock is the host's monotonic clock in nanoseconds, as if a
/// cycle took 1 ns: programs may wait by it and see that time passes, but learn nothing about speed on a GPU.
namespace convlab::simt::cuda {

long long clock64() noexcept;

/// The C library's clock() is also CUDA's: in kernels, the linker's --wrap=clock makes it clock64(). See
/// device_clock.cc.
using ::clock;
using ::clock_t;

/// Lets the thread's warp continue at once: a thread that sleeps for another one to make progress waits in vain on simt
/// anyway, unless it waits at a barrier.
inline void __nanosleep(unsigned) noexcept {}

/// A breakpoint, without a debugger: ends the kernel, as on a GPU.
[[noreturn]] inline void __brkpt(Where where = Where::current()) { trap(where); }

/// A counter of the profiler, which simt does not have.
inline void __prof_trigger(int) noexcept {}

}  // namespace convlab::simt::cuda
