#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/scoped_barrier.h"
#include "convlab/kernel_file/simt_include/cuda/detail/scoped_latch.h"
#include "convlab/kernel_file/simt_include/cuda/detail/scoped_semaphore.h"
#include "convlab/kernel_file/simt_include/cuda/detail/std_synchronization.h"

/// cuda::std's barrier, latch and semaphores: those of cuda at the system's scope.
namespace cuda::std {

template <class Completion = simt_detail::NoCompletion>
using barrier = ::cuda::barrier<thread_scope_system, Completion>;
using latch = ::cuda::latch<thread_scope_system>;
template <::std::ptrdiff_t LeastMax = PTRDIFF_MAX>
using counting_semaphore = ::cuda::counting_semaphore<thread_scope_system, LeastMax>;
using binary_semaphore = ::cuda::binary_semaphore<thread_scope_system>;

}  // namespace cuda::std
