#pragma once

#include <type_traits>

/// CUDA's loads and stores with cache hints: plain loads and stores here, checked as all others. __ldcv() does not
/// trust caches, and so is a volatile load.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_LOAD(name)                            \
  template <class T>                                       \
  [[gnu::always_inline]] inline T name(const T* address) { \
    return *address;                                       \
  }
// The value may have any type that converts, as in CUDA, where there is a function for each type.
#define CONVLAB_SIMT_STORE(name)                                                       \
  template <class T>                                                                   \
  [[gnu::always_inline]] inline void name(T* address, std::type_identity_t<T> value) { \
    *address = value;                                                                  \
  }

/// Through the read-only cache
CONVLAB_SIMT_LOAD(__ldg)
/// Cached at all levels; in L2 only; likely not read again; last use
CONVLAB_SIMT_LOAD(__ldca)
CONVLAB_SIMT_LOAD(__ldcg)
CONVLAB_SIMT_LOAD(__ldcs)
CONVLAB_SIMT_LOAD(__ldlu)
/// Written back; in L2 only; likely not read again; through L2 to memory
CONVLAB_SIMT_STORE(__stwb)
CONVLAB_SIMT_STORE(__stcg)
CONVLAB_SIMT_STORE(__stcs)
CONVLAB_SIMT_STORE(__stwt)

#undef CONVLAB_SIMT_LOAD
#undef CONVLAB_SIMT_STORE

template <class T>
[[gnu::always_inline]] inline T __ldcv(const T* address) {
  if constexpr (std::is_arithmetic_v<T>) {
    return *static_cast<const volatile T*>(address);
  } else {
    return *address;
  }
}

}  // namespace convlab::simt::cuda
