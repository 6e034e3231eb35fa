#pragma once

#include "convlab/simt/vector_types.h"

/// A whole program loads simt's library when it starts, so the address of a thread-local variable of the library is
/// known then. Other programs may load it later.
#ifdef CONVLAB_SIMT_PROGRAM
#define CONVLAB_SIMT_THREAD_LOCAL __attribute__((tls_model("initial-exec")))
#else
#define CONVLAB_SIMT_THREAD_LOCAL
#endif

/// Threads that run one after the other. Code that is not instrumented (`--check none`) runs a block's threads in a
/// loop, into which its compiler can inline the kernel, until one of them waits.
namespace convlab::simt::internal {

struct ThreadRun {
  const cuda::uint3* indices = nullptr;  ///< threadIdx of each thread of the block
  int number = 0;                        ///< of the running thread in its block
  int end = 0;  ///< the loop ends before this one; at most `number` if the running thread has waited
};

/// Of this OS thread.
extern __thread ThreadRun thread_run __asm__("convlab_simt_thread_run") CONVLAB_SIMT_THREAD_LOCAL;

}  // namespace convlab::simt::internal
