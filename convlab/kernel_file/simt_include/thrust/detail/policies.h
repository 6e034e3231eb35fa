#pragma once

#include <iterator>
#include <type_traits>

#include "convlab/simt/cuda/cuda_on_host.h"

/// Execution policies: where an algorithm runs. As in Thrust, thrust::device and thrust::cuda::par are the device,
/// thrust::host runs plain loops, and thrust::seq runs in the calling thread, which may be a kernel's. Allocators given
/// to par(...) are not used: temporary memory comes from cudaMalloc.
namespace thrust {

namespace detail {

using convlab::simt::Where;

/// `any`: of iterators without memory (counting_iterator), which run where the others do.
enum class System { any, host, device };

struct PolicyBase {};
struct DevicePolicyBase : PolicyBase {};

template <class P>
concept IsPolicy = std::is_base_of_v<PolicyBase, std::remove_cvref_t<P>>;

template <class P>
inline constexpr bool is_device_policy = std::is_base_of_v<DevicePolicyBase, std::remove_cvref_t<P>>;

/// A policy of the device. `waits`: an algorithm returns when its kernels are done.
struct DevicePolicy : DevicePolicyBase {
  cudaStream_t stream = nullptr;
  bool waits = true;

  /// The same in a stream.
  DevicePolicy on(cudaStream_t of_kernels) const {
    DevicePolicy other = *this;
    other.stream = of_kernels;
    return other;
  }
  template <class Allocator>
  DevicePolicy operator()(Allocator&&) const {
    return *this;
  }
};

struct HostPolicy : PolicyBase {
  template <class Allocator>
  HostPolicy operator()(Allocator&&) const {
    return *this;
  }
};

struct SequentialPolicy : PolicyBase {
  template <class Allocator>
  SequentialPolicy operator()(Allocator&&) const {
    return *this;
  }
};

constexpr DevicePolicy policy_that_waits(bool waits) {
  DevicePolicy policy;
  policy.waits = waits;
  return policy;
}

}  // namespace detail

/// Bases of a program's own policies.
template <class Derived>
struct execution_policy : detail::PolicyBase {};
template <class Derived>
struct host_execution_policy : execution_policy<Derived> {};
template <class Derived>
struct device_execution_policy : detail::DevicePolicyBase {};

/// The systems that iterators name. They are policies, too.
struct any_system_tag : device_execution_policy<any_system_tag> {};
struct host_system_tag : host_execution_policy<host_system_tag> {};
struct device_system_tag : device_execution_policy<device_system_tag> {};

inline constexpr detail::HostPolicy host{};
inline constexpr detail::DevicePolicy device = detail::policy_that_waits(true);
inline constexpr detail::SequentialPolicy seq{};

namespace system {
namespace cuda {
using tag = device_system_tag;
template <class Derived>
using execution_policy = device_execution_policy<Derived>;
inline constexpr thrust::detail::DevicePolicy par = thrust::detail::policy_that_waits(true);
inline constexpr thrust::detail::DevicePolicy par_nosync = thrust::detail::policy_that_waits(false);
}  // namespace cuda
namespace cpp {
using tag = host_system_tag;
inline constexpr thrust::detail::HostPolicy par{};
}  // namespace cpp
namespace omp {
using tag = host_system_tag;
inline constexpr thrust::detail::HostPolicy par{};
}  // namespace omp
namespace tbb {
using tag = host_system_tag;
inline constexpr thrust::detail::HostPolicy par{};
}  // namespace tbb
}  // namespace system
namespace cuda = system::cuda;
namespace cuda_cub = system::cuda;
namespace cpp = system::cpp;
namespace omp = system::omp;
namespace tbb = system::tbb;

namespace detail {

template <class Tag>
inline constexpr System system_of_tag = System::host;
template <>
inline constexpr System system_of_tag<any_system_tag> = System::any;
template <>
inline constexpr System system_of_tag<device_system_tag> = System::device;

template <System kSystem>
using tag_of_system =
    std::conditional_t<kSystem == System::any, any_system_tag,
                       std::conditional_t<kSystem == System::host, host_system_tag, device_system_tag>>;

template <class I>
concept IsIterator = requires {
  typename std::iterator_traits<I>::iterator_category;
};

template <class I>
constexpr System find_system() {
  if constexpr (requires { I::kSystem; }) {
    return I::kSystem;
  } else {
    return IsIterator<I> ? System::host : System::any;
  }
}

/// Where an iterator's elements are. Raw pointers and the iterators of others are the host's; arguments that are not
/// iterators are anywhere.
template <class I>
inline constexpr System system_of = find_system<std::remove_cvref_t<I>>();

/// Where an algorithm with these arguments runs: on the device if one of them is there.
template <class... I>
inline constexpr System common_system = ((system_of<I> == System::device) || ...) ? System::device
                                        : ((system_of<I> == System::host) || ...) ? System::host
                                                                                  : System::any;

}  // namespace detail
}  // namespace thrust
