#pragma once

#include <cstddef>

#include "convlab/simt/where.h"

/// CUDA's asynchronous copies from global to shared memory (<cuda_pipeline.h>). Here no data arrives before the thread
/// has waited for it: until then any access to the destination is a race, even one by the thread itself. The wait
/// counts as the thread's write to the destination, so other threads need a barrier after it.
namespace convlab::simt {

/// Starts a copy of `bytes` (4, 8 or 16); both addresses must be multiples of `bytes`. The last `zeros` bytes are not
/// read and become 0.
void copy_async(void* to, const void* from, size_t bytes, size_t zeros, Where where) noexcept;

/// Commits the copies that this thread has started since the last call, as one group.
void commit_copies() noexcept;

/// Waits for all copy groups of this thread except the last `groups_left`.
void wait_for_copies(size_t groups_left) noexcept;

/// Starts a copy as copy_async() does that the phase of a barrier awaits. land_copies(): a thread has seen the end of
/// the phase. Until then any access to the destination is a race; afterwards the copies count as writes that happen
/// before what a thread does that acquires the barrier's address.
void copy_async_until(void* to, const void* from, size_t bytes, const void* barrier, unsigned phase,
                      Where where) noexcept;
void land_copies(const void* barrier, unsigned phase) noexcept;

/// The phase awaits all copies of copy_async() that this thread has not waited for.
void await_copies(const void* barrier, unsigned phase) noexcept;

/// Returns whether the address is in the shared memory of the running thread's block.
bool is_shared_memory(const void* address) noexcept;

namespace cuda {

__attribute__((always_inline)) inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                                                   size_t zeros = 0, Where where = Where::current()) {
  copy_async(to, from, bytes, zeros, where);
}
inline void __pipeline_commit() { commit_copies(); }
inline void __pipeline_wait_prior(size_t groups_left) { wait_for_copies(groups_left); }

}  // namespace cuda
}  // namespace convlab::simt
