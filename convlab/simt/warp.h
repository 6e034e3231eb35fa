#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "convlab/simt/operations.h"
#include "convlab/simt/thread_run.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

/// Thread indices, barriers, and warp operations of a CUDA thread. Every operation takes the caller's source location
/// as a default argument, for reports and to distinguish barriers.
namespace convlab::simt {

/// Waits for all threads of the block. Returns how many predicates are non-zero (count), or whether all or any are.
int block_barrier(BarrierOperation operation, int predicate, Where where) noexcept;

/// Waits for the lanes of the mask that have not exited; all must call the same operation with the same mask. `lane` is
/// a shuffle's source lane, delta, or XOR mask, and `width` its segment: 1, 2, 4, 8, 16 or 32.
uint64_t warp_operation(WarpOperation operation, uint32_t mask, uint64_t value, int lane, int width,
                        Where where) noexcept;

/// Waits for the whole warp, then calls `run` once.
void warp_collective(CollectiveWork run, void* payload, Where where) noexcept;

/// Reports an explicit __trap() and ends the thread.
[[noreturn]] void trap(Where where) noexcept;

/// Reports a failed assertion of a library's function, and ends the thread.
[[noreturn]] void fail_assertion(const char* what, Where where) noexcept;

/// Returns whether a kernel runs: host and device code are compiled at once.
bool in_kernel() noexcept;

/// Ends the running kernel: it launches a kernel.
[[noreturn]] void fail_nested_launch(Where where);

/// What the thread did so far happens before its next atomic operation, as seen by threads of its block or by all
/// threads: see global_shadow.h. No fence instruction is needed on the host: its atomics are ordered, too.
enum class FenceScope : uint8_t { block, device };
void thread_fence(FenceScope scope) noexcept;

/// Lets other threads run, because the thread waits until one of them changes what is at this address. `again`: it has
/// waited for that before, and nothing has changed.
void wait_for_change(const void* address, bool again, Where where) noexcept;

/// Returns the launch's dynamic shared memory, aligned to 1024 bytes.
[[gnu::const]] void* dynamic_shared_memory() noexcept;

namespace internal {

template <class T>
uint64_t to_bits(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace internal

namespace cuda {

/// The indices of the running thread. simt sets them before it resumes a thread. They are const for the kernel, so that
/// its compiler may cache them, and variables, so that host code may use the same names. Host code that reads them gets
/// what the last kernel left.
#ifdef CONVLAB_SIMT_UNCHECKED  // a loop around the kernel sets it: see KnownKernel
extern __thread uint3 threadIdx __asm__("convlab_simt_thread_index") CONVLAB_SIMT_THREAD_LOCAL;
#else
extern __thread const uint3 threadIdx __asm__("convlab_simt_thread_index") CONVLAB_SIMT_THREAD_LOCAL;
#endif
extern __thread const uint3 blockIdx __asm__("convlab_simt_block_index") CONVLAB_SIMT_THREAD_LOCAL;
extern __thread const uint3 blockDim __asm__("convlab_simt_block_extent") CONVLAB_SIMT_THREAD_LOCAL;
extern __thread const uint3 gridDim __asm__("convlab_simt_grid_extent") CONVLAB_SIMT_THREAD_LOCAL;

inline constexpr int warpSize = 32;

inline void __syncthreads(Where where = Where::current()) { block_barrier(BarrierOperation::sync, 0, where); }
inline int __syncthreads_count(int predicate, Where where = Where::current()) {
  return block_barrier(BarrierOperation::count, predicate, where);
}
inline int __syncthreads_and(int predicate, Where where = Where::current()) {
  return block_barrier(BarrierOperation::all, predicate, where);
}
inline int __syncthreads_or(int predicate, Where where = Where::current()) {
  return block_barrier(BarrierOperation::any, predicate, where);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, Where where = Where::current()) {
  warp_operation(WarpOperation::sync, mask, 0, 0, 32, where);
}

inline void __threadfence_block() { thread_fence(FenceScope::block); }
inline void __threadfence() { thread_fence(FenceScope::device); }
inline void __threadfence_system() { thread_fence(FenceScope::device); }
[[noreturn]] inline void __trap(Where where = Where::current()) { trap(where); }

/// Returns the lanes at the same source location as the caller, once no other lane of the warp can run.
inline unsigned __activemask(Where where = Where::current()) {
  return static_cast<unsigned>(warp_operation(WarpOperation::active_mask, 0, 0, 0, 32, where));
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, Where where = Where::current()) {
  return internal::from_bits<T>(
      warp_operation(WarpOperation::shuffle, mask, internal::to_bits(value), lane, width, where));
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, Where where = Where::current()) {
  return internal::from_bits<T>(
      warp_operation(WarpOperation::shuffle_up, mask, internal::to_bits(value), static_cast<int>(delta), width, where));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, Where where = Where::current()) {
  return internal::from_bits<T>(warp_operation(WarpOperation::shuffle_down, mask, internal::to_bits(value),
                                               static_cast<int>(delta), width, where));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, Where where = Where::current()) {
  return internal::from_bits<T>(
      warp_operation(WarpOperation::shuffle_xor, mask, internal::to_bits(value), lane_mask, width, where));
}

inline int __all_sync(unsigned mask, int predicate, Where where = Where::current()) {
  return static_cast<int>(warp_operation(WarpOperation::vote_all, mask, predicate != 0, 0, 32, where));
}
inline int __any_sync(unsigned mask, int predicate, Where where = Where::current()) {
  return static_cast<int>(warp_operation(WarpOperation::vote_any, mask, predicate != 0, 0, 32, where));
}
inline unsigned __ballot_sync(unsigned mask, int predicate, Where where = Where::current()) {
  return static_cast<unsigned>(warp_operation(WarpOperation::ballot, mask, predicate != 0, 0, 32, where));
}

/// Returns the lanes of the mask whose value has the same bits.
template <class T>
unsigned __match_any_sync(unsigned mask, T value, Where where = Where::current()) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "__match_any_sync compares 32-bit and 64-bit numbers");
  return static_cast<unsigned>(warp_operation(WarpOperation::match_any, mask, internal::to_bits(value), 0, 32, where));
}
/// Returns the mask, and sets *predicate, if all lanes of the mask have the same value; otherwise 0.
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate, Where where = Where::current()) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "__match_all_sync compares 32-bit and 64-bit numbers");
  const auto all =
      static_cast<unsigned>(warp_operation(WarpOperation::match_all, mask, internal::to_bits(value), 0, 32, where));
  *predicate = all != 0;
  return all;
}

#define CONVLAB_SIMT_REDUCE(name, T, operation)                                                             \
  inline T name(unsigned mask, T value, Where where = Where::current()) {                                   \
    return internal::from_bits<T>(warp_operation(operation, mask, internal::to_bits(value), 0, 32, where)); \
  }
CONVLAB_SIMT_REDUCE(__reduce_add_sync, int, WarpOperation::add)
CONVLAB_SIMT_REDUCE(__reduce_add_sync, unsigned, WarpOperation::add)
CONVLAB_SIMT_REDUCE(__reduce_min_sync, int, WarpOperation::smallest)
CONVLAB_SIMT_REDUCE(__reduce_min_sync, unsigned, WarpOperation::unsigned_smallest)
CONVLAB_SIMT_REDUCE(__reduce_max_sync, int, WarpOperation::largest)
CONVLAB_SIMT_REDUCE(__reduce_max_sync, unsigned, WarpOperation::unsigned_largest)
CONVLAB_SIMT_REDUCE(__reduce_and_sync, unsigned, WarpOperation::bit_and)
CONVLAB_SIMT_REDUCE(__reduce_or_sync, unsigned, WarpOperation::bit_or)
CONVLAB_SIMT_REDUCE(__reduce_xor_sync, unsigned, WarpOperation::bit_xor)
#undef CONVLAB_SIMT_REDUCE

}  // namespace cuda
}  // namespace convlab::simt
