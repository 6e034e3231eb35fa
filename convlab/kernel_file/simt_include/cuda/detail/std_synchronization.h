#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/atomic_object.h"
#include "convlab/kernel_file/simt_include/cuda/detail/std_names.h"

/// cuda::std's atomics: those of cuda at the system's scope.
namespace cuda::std {

template <class T>
using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
using atomic_flag = ::cuda::atomic_flag<thread_scope_system>;

using ::cuda::atomic_exchange;
using ::cuda::atomic_exchange_explicit;
using ::cuda::atomic_fetch_add;
using ::cuda::atomic_fetch_add_explicit;
using ::cuda::atomic_fetch_and;
using ::cuda::atomic_fetch_and_explicit;
using ::cuda::atomic_fetch_or;
using ::cuda::atomic_fetch_or_explicit;
using ::cuda::atomic_fetch_sub;
using ::cuda::atomic_fetch_sub_explicit;
using ::cuda::atomic_fetch_xor;
using ::cuda::atomic_fetch_xor_explicit;
using ::cuda::atomic_load;
using ::cuda::atomic_load_explicit;
using ::cuda::atomic_signal_fence;
using ::cuda::atomic_store;
using ::cuda::atomic_store_explicit;
inline void atomic_thread_fence(memory_order order) noexcept { ::cuda::atomic_thread_fence(order); }

using atomic_bool = atomic<bool>;
using atomic_char = atomic<char>;
using atomic_short = atomic<short>;
using atomic_ushort = atomic<unsigned short>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<unsigned long>;
using atomic_llong = atomic<long long>;
using atomic_ullong = atomic<unsigned long long>;
using atomic_int32_t = atomic<::std::int32_t>;
using atomic_uint32_t = atomic<::std::uint32_t>;
using atomic_int64_t = atomic<::std::int64_t>;
using atomic_uint64_t = atomic<::std::uint64_t>;
using atomic_size_t = atomic<::std::size_t>;

}  // namespace cuda::std
