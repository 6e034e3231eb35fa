// Executes and checks CUDA's atomic functions.

#include "convlab/simt/cuda/atomics.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "convlab/simt/worker.h"

namespace convlab::simt::cuda {
namespace {

using internal::AccessKind;

constexpr AtomicOrder kDevice{}, kBlock{.scope = AtomicScope::block};

void check(const void* address, size_t bytes, AccessKind kind, const AtomicOrder& order, Where where,
           const void* code) {
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
  worker->check_access(reinterpret_cast<uintptr_t>(address), bytes, kind, code, where, order);
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

// Replaces the value by change(old).
template <class T, class Change>
T replace(T* address, Change change) {
  auto* const bits = reinterpret_cast<Bits<T>*>(address);
  Bits<T> old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(bits, &old, std::bit_cast<Bits<T>>(change(std::bit_cast<T>(old))), true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return std::bit_cast<T>(old);
}

// Whether only the running thread can access this memory now, and nothing is to be found: shared memory, without
// checks.
bool is_alone(const void* address) {
  const internal::Worker* const worker = internal::active_worker;
  return worker && worker->grid->checks.is_empty() && worker->is_shared(reinterpret_cast<uintptr_t>(address));
}

// `code` is the caller's return address.
template <class T, class Change>
T update(T* address, const AtomicOrder& order, Where where, const void* code, Change change) {
  if (is_alone(address)) {
    const T old = *address, now = change(old);
    *address = now;
    simt_detail::end_atomic(address, std::bit_cast<Bits<T>>(old) == std::bit_cast<Bits<T>>(now));
    return old;
  }
  check(address, sizeof(T), AccessKind::atomic_update, order, where, code);
  const T old = replace(address, change);
  simt_detail::end_atomic(address, std::bit_cast<Bits<T>>(old) == std::bit_cast<Bits<T>>(static_cast<T>(change(old))));
  return old;
}

float add_element(float* address, float value) {
  return replace(address, [value](float old) { return old + value; });
}

template <class T>
T exchange(T* address, T value, const AtomicOrder& order, Where where, const void* code) {
  check(address, sizeof(T), AccessKind::atomic_write, order, where, code);
  const auto bits = std::bit_cast<Bits<T>>(value);
  const Bits<T> old = __atomic_exchange_n(reinterpret_cast<Bits<T>*>(address), bits, __ATOMIC_RELAXED);
  simt_detail::end_atomic(address, old == bits);
  return std::bit_cast<T>(old);
}

}  // namespace

#define CONVLAB_SIMT_UPDATE(name, order, T, ...)                                                                    \
  T name(T* address, T value, Where where) noexcept {                                                               \
    return update(address, order, where, __builtin_return_address(0), [value](T old) -> T { return __VA_ARGS__; }); \
  }
#define CONVLAB_SIMT_ATOMIC(name, T, ...)            \
  CONVLAB_SIMT_UPDATE(name, kDevice, T, __VA_ARGS__) \
  CONVLAB_SIMT_UPDATE(name##_block, kBlock, T, __VA_ARGS__)
#define CONVLAB_SIMT_EXCHANGE(T)                                                  \
  T atomicExch(T* address, T value, Where where) noexcept {                       \
    return exchange(address, value, kDevice, where, __builtin_return_address(0)); \
  }                                                                               \
  T atomicExch_block(T* address, T value, Where where) noexcept {                 \
    return exchange(address, value, kBlock, where, __builtin_return_address(0));  \
  }
#define CONVLAB_SIMT_COMPARE(name, order, T)                                  \
  T name(T* address, T expected, T value, Where where) noexcept {             \
    return update(address, order, where, __builtin_return_address(0),         \
                  [=](T old) -> T { return old == expected ? value : old; }); \
  }
#define CONVLAB_SIMT_CAS(T)                   \
  CONVLAB_SIMT_COMPARE(atomicCAS, kDevice, T) \
  CONVLAB_SIMT_COMPARE(atomicCAS_block, kBlock, T)

// Signed sums wrap, as on a GPU.
CONVLAB_SIMT_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, unsigned long long, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, float, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, double, old + value)
CONVLAB_SIMT_ATOMIC(atomicAdd, __half, __hadd(old, value))
CONVLAB_SIMT_ATOMIC(atomicAdd, __half2, __hadd2(old, value))
CONVLAB_SIMT_ATOMIC(atomicAdd, __nv_bfloat16, __hadd(old, value))
CONVLAB_SIMT_ATOMIC(atomicAdd, __nv_bfloat162, __hadd2(old, value))
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
CONVLAB_SIMT_ATOMIC(atomicAnd, unsigned long long, old& value)
CONVLAB_SIMT_ATOMIC(atomicOr, int, old | value)
CONVLAB_SIMT_ATOMIC(atomicOr, unsigned, old | value)
CONVLAB_SIMT_ATOMIC(atomicOr, unsigned long long, old | value)
CONVLAB_SIMT_ATOMIC(atomicXor, int, old ^ value)
CONVLAB_SIMT_ATOMIC(atomicXor, unsigned, old ^ value)
CONVLAB_SIMT_ATOMIC(atomicXor, unsigned long long, old ^ value)
CONVLAB_SIMT_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CONVLAB_SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
CONVLAB_SIMT_CAS(int)
CONVLAB_SIMT_CAS(unsigned)
CONVLAB_SIMT_CAS(unsigned short)
CONVLAB_SIMT_CAS(unsigned long long)

namespace {

float2 add_elements(float2* address, float2 value) {
  return {add_element(&address->x, value.x), add_element(&address->y, value.y)};
}
float4 add_elements(float4* address, float4 value) {
  return {add_element(&address->x, value.x), add_element(&address->y, value.y), add_element(&address->z, value.z),
          add_element(&address->w, value.w)};
}

}  // namespace

#define CONVLAB_SIMT_ADD_ELEMENTS(name, order, T)                                                    \
  T name(T* address, T value, Where where) noexcept {                                                \
    check(address, sizeof(T), AccessKind::atomic_update, order, where, __builtin_return_address(0)); \
    return add_elements(address, value);                                                             \
  }
CONVLAB_SIMT_ADD_ELEMENTS(atomicAdd, kDevice, float2)
CONVLAB_SIMT_ADD_ELEMENTS(atomicAdd, kDevice, float4)
CONVLAB_SIMT_ADD_ELEMENTS(atomicAdd_block, kBlock, float2)
CONVLAB_SIMT_ADD_ELEMENTS(atomicAdd_block, kBlock, float4)

void simt_detail::check_atomic(const void* address, size_t bytes, AtomicAccess access, const AtomicOrder& order,
                               Where where) noexcept {
  const AccessKind kind = access == AtomicAccess::load    ? AccessKind::volatile_read
                          : access == AtomicAccess::store ? AccessKind::atomic_write
                                                          : AccessKind::atomic_update;
  check(address, bytes, kind, order, where, __builtin_return_address(0));
}

void simt_detail::end_atomic(const void* address, bool unchanged) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker) return;
  if (!unchanged) {
    worker->current().spins_on = 0;
    return;
  }
  worker->spin(reinterpret_cast<uintptr_t>(address));
}

}  // namespace convlab::simt::cuda
