#pragma once

#include <cstddef>

#include "convlab/simt/where.h"

/// CUDA's copies from global to shared memory that run while their thread goes on (<cuda_pipeline.h>). Here nothing
/// arrives before the thread has waited for it: until then it is a race if anybody, the thread itself included, touches
/// the place where a copy goes. What a thread has waited for counts as written by it, there and then: other threads
/// need a barrier after that.
namespace convlab::simt {

/// Begins to copy `bytes`, 4, 8 or 16, both addresses multiples of it; the last `zeros` of them are not read and become
/// 0.
void copy_async(void* to, const void* from, size_t bytes, size_t zeros, Where where) noexcept;

/// The copies that this thread has begun since the last call are a group.
void commit_copies() noexcept;

/// Waits for all groups of this thread except the last so many.
void wait_for_copies(size_t groups_left) noexcept;

namespace cuda {

__attribute__((always_inline)) inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                                                   size_t zeros = 0, Where where = Where::current()) {
  copy_async(to, from, bytes, zeros, where);
}
inline void __pipeline_commit() { commit_copies(); }
inline void __pipeline_wait_prior(size_t groups_left) { wait_for_copies(groups_left); }

}  // namespace cuda
}  // namespace convlab::simt
