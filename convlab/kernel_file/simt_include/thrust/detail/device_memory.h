#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/detail/transformations.h"

/// Device memory without a container: it is cudaMalloc's, and findings and leaks name the line of the call.
namespace thrust {

inline device_ptr<void> device_malloc(size_t bytes, detail::Where where = detail::Where::current()) {
  return device_ptr<void>(detail::allocate_on_device<char>(static_cast<int64_t>(bytes), "device_malloc", where));
}
template <class T>
device_ptr<T> device_malloc(size_t n, detail::Where where = detail::Where::current()) {
  return device_ptr<T>(detail::allocate_on_device<T>(static_cast<int64_t>(n), "device_malloc", where));
}
template <class T>
void device_free(device_ptr<T> memory, detail::Where where = detail::Where::current()) {
  detail::throw_on_error(cudaFree(const_cast<std::remove_const_t<T>*>(memory.get()), where), "thrust::device_free");
}

template <class T>
device_ptr<T> device_new(size_t n = 1, detail::Where where = detail::Where::current()) {
  const device_ptr<T> memory = device_malloc<T>(n, where);
  uninitialized_fill_n(memory, n, T(), where);
  return memory;
}
template <class T>
device_ptr<T> device_new(device_ptr<void> memory, const T& value, size_t n = 1,
                         detail::Where where = detail::Where::current()) {
  const device_ptr<T> objects(static_cast<T*>(memory.get()));
  uninitialized_fill_n(objects, n, value, where);
  return objects;
}
/// Device objects have no destructors to run here.
template <class T>
void device_delete(device_ptr<T> objects, size_t = 1, detail::Where where = detail::Where::current()) {
  device_free(objects, where);
}

/// malloc() and free() of a policy's system.
template <class T, class Policy>
requires detail::IsPolicy<Policy>
auto malloc(const Policy&, size_t n, detail::Where where = detail::Where::current()) {
  if constexpr (detail::is_device_policy<Policy>) {
    return device_malloc<T>(n, where);
  } else {
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
}
template <class Policy, class Pointer>
requires detail::IsPolicy<Policy>
void free(const Policy&, Pointer memory, detail::Where where = detail::Where::current()) {
  if constexpr (detail::is_device_policy<Policy>) {
    detail::throw_on_error(cudaFree(raw_pointer_cast(memory), where), "thrust::free");
  } else {
    ::operator delete(raw_pointer_cast(memory));
  }
}

/// Allocators of containers.
template <class T>
struct device_allocator {
  using value_type = T;
  using pointer = device_ptr<T>;
  using const_pointer = device_ptr<const T>;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  template <class U>
  struct rebind {
    using other = device_allocator<U>;
  };
  device_allocator() = default;
  template <class U>
  device_allocator(const device_allocator<U>&) {}
  pointer allocate(size_t n, detail::Where where = detail::Where::current()) { return device_malloc<T>(n, where); }
  void deallocate(pointer memory, size_t) { device_free(memory); }
  bool operator==(const device_allocator&) const = default;
};
template <class T>
using device_malloc_allocator = device_allocator<T>;

/// Memory that host and device access.
template <class T>
struct universal_allocator {
  using value_type = T;
  using pointer = universal_ptr<T>;
  universal_allocator() = default;
  template <class U>
  universal_allocator(const universal_allocator<U>&) {}
  pointer allocate(size_t n) {
    T* memory = nullptr;
    if (cudaMallocManaged(&memory, n * sizeof(T)) != cudaSuccess) throw system::detail::bad_alloc("managed memory");
    return pointer(memory);
  }
  void deallocate(pointer memory, size_t) { cudaFree(memory.get()); }
  bool operator==(const universal_allocator&) const = default;
};

/// Page-locked host memory, for host_vector and std::vector.
template <class T>
struct pinned_allocator {
  using value_type = T;
  pinned_allocator() = default;
  template <class U>
  pinned_allocator(const pinned_allocator<U>&) {}
  T* allocate(size_t n) {
    T* memory = nullptr;
    if (cudaMallocHost(&memory, n * sizeof(T)) != cudaSuccess) throw system::detail::bad_alloc("page-locked memory");
    return memory;
  }
  void deallocate(T* memory, size_t) { cudaFreeHost(memory); }
  bool operator==(const pinned_allocator&) const = default;
};

namespace system::cuda {
template <class T>
using pointer = device_ptr<T>;
template <class T>
using allocator = device_allocator<T>;
template <class T>
using universal_allocator = thrust::universal_allocator<T>;
template <class T>
using universal_pointer = universal_ptr<T>;
namespace experimental {
template <class T>
using pinned_allocator = thrust::pinned_allocator<T>;
}
}  // namespace system::cuda

namespace mr {
/// Resources by the kind of memory; only their names choose an allocator.
template <class T, class Resource>
using stateless_resource_allocator = typename Resource::template allocator<T>;
}  // namespace mr
struct device_memory_resource {
  template <class T>
  using allocator = device_allocator<T>;
};
struct universal_memory_resource {
  template <class T>
  using allocator = universal_allocator<T>;
};
struct universal_host_pinned_memory_resource {
  template <class T>
  using allocator = pinned_allocator<T>;
};
namespace system::cuda {
using memory_resource = device_memory_resource;
using universal_memory_resource = thrust::universal_memory_resource;
using universal_host_pinned_memory_resource = thrust::universal_host_pinned_memory_resource;
}  // namespace system::cuda

}  // namespace thrust
