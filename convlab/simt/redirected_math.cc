// Functions of the C library that store a second result: the linker redirects the calls of kernels here (see
// CMakeLists.txt), so that the store is checked as the kernel's own.

#include <cstddef>
#include <cstdint>

#include "convlab/simt/worker.h"

namespace convlab::simt::internal {
namespace {

// Checks and stores. `code` is the caller's return address.
template <class T>
void store(T* to, T value, const void* code) {
  if (Worker* const worker = active_worker) {
    const auto address = reinterpret_cast<uintptr_t>(to);
    if (worker->trace) {
      worker->trace_access(EventKind::write, code, address, sizeof(T));
    } else {
      const HostScope host;
      if (worker->attention) worker->settle_stores();
      if (address % sizeof(T) != 0) worker->fail_misaligned(address, sizeof(T), true, code);
      worker->check_access(address, sizeof(T), AccessKind::write, code);
    }
  }
  *to = value;
}

}  // namespace
}  // namespace convlab::simt::internal

// NOLINTBEGIN(bugprone-reserved-identifier)
#define CONVLAB_SIMT_STORES(name, T, Stored)                                 \
  extern "C" T __real_##name(T x, Stored* to) noexcept;                      \
  extern "C" T __wrap_##name(T x, Stored* to) noexcept {                     \
    Stored stored;                                                           \
    const T result = __real_##name(x, &stored);                              \
    convlab::simt::internal::store(to, stored, __builtin_return_address(0)); \
    return result;                                                           \
  }
#define CONVLAB_SIMT_STORES_QUOTIENT(name, T)                                \
  extern "C" T __real_##name(T x, T y, int* to) noexcept;                    \
  extern "C" T __wrap_##name(T x, T y, int* to) noexcept {                   \
    int stored;                                                              \
    const T result = __real_##name(x, y, &stored);                           \
    convlab::simt::internal::store(to, stored, __builtin_return_address(0)); \
    return result;                                                           \
  }
#define CONVLAB_SIMT_STORES_BOTH(name, T)                                         \
  extern "C" void __real_##name(T x, T* sine, T* cosine) noexcept;                \
  extern "C" void __wrap_##name(T x, T* sine, T* cosine) noexcept {               \
    T both[2];                                                                    \
    __real_##name(x, &both[0], &both[1]);                                         \
    convlab::simt::internal::store(sine, both[0], __builtin_return_address(0));   \
    convlab::simt::internal::store(cosine, both[1], __builtin_return_address(0)); \
  }

CONVLAB_SIMT_STORES(modf, double, double)
CONVLAB_SIMT_STORES(modff, float, float)
CONVLAB_SIMT_STORES(frexp, double, int)
CONVLAB_SIMT_STORES(frexpf, float, int)
CONVLAB_SIMT_STORES_QUOTIENT(remquo, double)
CONVLAB_SIMT_STORES_QUOTIENT(remquof, float)
CONVLAB_SIMT_STORES_BOTH(sincos, double)
CONVLAB_SIMT_STORES_BOTH(sincosf, float)
// NOLINTEND(bugprone-reserved-identifier)
