// Executes and checks CUDA's atomic functions.

#include "convlab/simt/cuda/atomics.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "convlab/simt/worker.h"

namespace convlab::simt::cuda {
namespace {

void check(const void* address, size_t bytes, internal::AccessKind kind, Where where, const void* code) {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return;
  if (worker->trace) {
    worker->trace_access(EventKind::atomic, code, reinterpret_cast<uintptr_t>(address), bytes);
  }
  const internal::HostScope host;
  if (worker->attention) worker->settle_stores();
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0) {
    worker->fail_misaligned(reinterpret_cast<uintptr_t>(address), bytes, true, code, where);
  }
  worker->check_access(reinterpret_cast<uintptr_t>(address), bytes, kind, code, where);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

// Replaces the value by change(old). `code` is the caller's return address.
template <class T, class Change>
T update(T* address, Where where, const void* code, Change change) {
  check(address, sizeof(T), internal::AccessKind::atomic_update, where, code);
  auto* const bits = reinterpret_cast<Bits<T>*>(address);
  Bits<T> old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &old, std::bit_cast<Bits<T>>(change(std::bit_cast<T>(old))), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return std::bit_cast<T>(old);
}

template <class T>
T exchange(T* address, T value, Where where, const void* code) {
  check(address, sizeof(T), internal::AccessKind::atomic_write, where, code);
  return std::bit_cast<T>(
      __atomic_exchange_n(reinterpret_cast<Bits<T>*>(address), std::bit_cast<Bits<T>>(value), __ATOMIC_RELAXED));
}

}  // namespace

#define CONVLAB_SIMT_ATOMIC(name, T, ...)                                                                    \
  T name(T* address, T value, Where where) noexcept {                                                        \
    return update(address, where, __builtin_return_address(0), [value](T old) -> T { return __VA_ARGS__; }); \
  }
#define CONVLAB_SIMT_EXCHANGE(T)                                         \
  T atomicExch(T* address, T value, Where where) noexcept {              \
    return exchange(address, value, where, __builtin_return_address(0)); \
  }
#define CONVLAB_SIMT_CAS(T)                                                   \
  T atomicCAS(T* address, T expected, T value, Where where) noexcept {        \
    return update(address, where, __builtin_return_address(0),                \
                  [=](T old) -> T { return old == expected ? value : old; }); \
  }

// Signed sums wrap, as on a GPU.
CONVLAB_SIMT_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned long long, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, float, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, double, old + value)
CONVLAB_SIMT_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
CONVLAB_SIMT_ATOMIC(atomicSub, unsigned, old - value)
CONVLAB_SIMT_ATOMIC(atomicMax, int, std::max(old, value))
CONVLAB_SIMT_ATOMIC(atomicMax, unsigned, std::max(old, value))
CONVLAB_SIMT_ATOMIC(atomicMax, long long, std::max(old, value))
CONVLAB_SIMT_ATOMIC(atomicMax, unsigned long long, std::max(old, value))
CONVLAB_SIMT_ATOMIC(atomicMin, int, std::min(old, value))
CONVLAB_SIMT_ATOMIC(atomicMin, unsigned, std::min(old, value))
CONVLAB_SIMT_ATOMIC(atomicMin, long long, std::min(old, value))
CONVLAB_SIMT_ATOMIC(atomicMin, unsigned long long, std::min(old, value))
CONVLAB_SIMT_EXCHANGE(int)
CONVLAB_SIMT_EXCHANGE(unsigned)
CONVLAB_SIMT_EXCHANGE(unsigned long long)
CONVLAB_SIMT_EXCHANGE(float)
CONVLAB_SIMT_ATOMIC(atomicAnd, int, old& value)
CONVLAB_SIMT_ATOMIC(atomicAnd, unsigned, old& value)
CONVLAB_SIMT_ATOMIC(atomicOr, int, old | value)
CONVLAB_SIMT_ATOMIC(atomicOr, unsigned, old | value)
CONVLAB_SIMT_ATOMIC(atomicXor, int, old ^ value)
CONVLAB_SIMT_ATOMIC(atomicXor, unsigned, old ^ value)
CONVLAB_SIMT_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CONVLAB_SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
CONVLAB_SIMT_CAS(int)
CONVLAB_SIMT_CAS(unsigned)
CONVLAB_SIMT_CAS(unsigned short)
CONVLAB_SIMT_CAS(unsigned long long)

}  // namespace convlab::simt::cuda
