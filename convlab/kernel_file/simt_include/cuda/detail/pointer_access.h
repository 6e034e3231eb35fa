#pragma once

#include <cstddef>
#include <type_traits>

#include "convlab/kernel_file/simt_include/cuda/detail/async_contract.h"

/// cuda::annotated_ptr and cuda::access_property. Properties of caches have no effect: simt has no caches.
namespace cuda {

class access_property {
 public:
  struct shared {};
  struct global {};
  struct normal {
    constexpr operator cudaAccessProperty() const { return cudaAccessPropertyNormal; }
  };
  struct persisting {
    constexpr operator cudaAccessProperty() const { return cudaAccessPropertyPersisting; }
  };
  struct streaming {
    constexpr operator cudaAccessProperty() const { return cudaAccessPropertyStreaming; }
  };

  access_property() = default;
  constexpr access_property(global) {}
  constexpr access_property(normal) {}
  constexpr access_property(persisting) {}
  constexpr access_property(streaming) {}
  template <class First, class Second = streaming>
  requires(!std::is_pointer_v<First>) constexpr access_property(First, float, Second = {}) {}
  template <class First, class Second = streaming>
  constexpr access_property(void*, std::size_t, std::size_t, First, Second = {}) {}
};

template <class T, class Property = access_property>
class annotated_ptr {
 public:
  using value_type = T;
  using pointer = T*;
  using reference = T&;
  using difference_type = std::ptrdiff_t;

  constexpr annotated_ptr() = default;
  constexpr explicit annotated_ptr(T* pointer) : pointer_(pointer) {}
  template <class Other>
  constexpr annotated_ptr(T* pointer, Other) : pointer_(pointer) {}
  template <class U, class Other>
  requires(std::is_convertible_v<U*, T*>) constexpr annotated_ptr(const annotated_ptr<U, Other>& other)
      : pointer_(other.get()) {}

  constexpr T* get() const { return pointer_; }
  constexpr T* operator->() const { return pointer_; }
  constexpr T& operator*() const { return *pointer_; }
  constexpr T& operator[](std::ptrdiff_t index) const { return pointer_[index]; }
  constexpr std::ptrdiff_t operator-(const annotated_ptr& other) const { return pointer_ - other.pointer_; }
  constexpr explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};

template <class T, class Property>
T* associate_access_property(T* pointer, Property) {
  return pointer;
}
template <class Shape, class Property>
void apply_access_property(const volatile void*, Shape, Property) {}
/// A GPU may lose what the memory holds; here it stays.
inline void discard_memory(volatile void*, std::size_t) {}

template <class To, class ToProperty, class From, class FromProperty, class Size, class Until>
async_contract_fulfillment memcpy_async(const annotated_ptr<To, ToProperty>& to,
                                        const annotated_ptr<From, FromProperty>& from, const Size& bytes, Until& until,
                                        simt_detail::Where where = simt_detail::Where::current()) {
  return memcpy_async(to.get(), from.get(), bytes, until, where);
}
template <class To, class From, class FromProperty, class Size, class Until>
async_contract_fulfillment memcpy_async(To* to, const annotated_ptr<From, FromProperty>& from, const Size& bytes,
                                        Until& until, simt_detail::Where where = simt_detail::Where::current()) {
  return memcpy_async(to, from.get(), bytes, until, where);
}

}  // namespace cuda
