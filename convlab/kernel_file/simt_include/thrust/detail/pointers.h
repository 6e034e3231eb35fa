#pragma once

#include <cstddef>
#include <iterator>
#include <ostream>
#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/device_side.h"
#include "convlab/kernel_file/simt_include/thrust/detail/errors.h"
#include "convlab/kernel_file/simt_include/thrust/detail/policies.h"

/// Pointers to device memory and references to one element of it. Host code reads and writes an element with a copy, as
/// on a GPU; device code accesses it. universal_ptr points to managed memory, which both access.
namespace thrust {

template <class T>
class device_ptr;

namespace detail {

template <class T>
class UninitializedValue {
 public:
  T* get() { return reinterpret_cast<T*>(bytes_); }

 private:
  alignas(T) unsigned char bytes_[sizeof(T)];
};

}  // namespace detail

template <class T>
class device_reference {
 public:
  using value_type = std::remove_cv_t<T>;
  using pointer = device_ptr<T>;

  explicit device_reference(device_ptr<T> at) : at_(at.get()) {}
  explicit device_reference(T* at) : at_(at) {}
  device_reference(const device_reference&) = default;
  template <class U>
  requires std::is_convertible_v<U*, T*> device_reference(const device_reference<U>& other) : at_((&other).get()) {}

  operator value_type() const {
    if (detail::is_device_code()) return *at_;
    detail::UninitializedValue<value_type> value;
    detail::throw_on_error(cudaMemcpy(value.get(), at_, sizeof(T), cudaMemcpyDeviceToHost),
                           "thrust::device_reference: reading an element");
    return *value.get();
  }
  device_ptr<T> operator&() const { return device_ptr<T>(at_); }

  const device_reference& operator=(const value_type& value) const {
    if (detail::is_device_code()) {
      *at_ = value;
    } else {
      detail::throw_on_error(cudaMemcpy(at_, &value, sizeof(T), cudaMemcpyHostToDevice),
                             "thrust::device_reference: writing an element");
    }
    return *this;
  }
  device_reference& operator=(const device_reference& other) {
    static_cast<const device_reference&>(*this) = static_cast<value_type>(other);
    return *this;
  }
  template <class U>
  requires std::is_convertible_v<U, value_type>
  const device_reference& operator=(const device_reference<U>& other) const {
    return *this = static_cast<value_type>(static_cast<U>(other));
  }

#define CONVLAB_THRUST_ASSIGNMENT(op)                         \
  template <class U>                                          \
  const device_reference& operator op(const U& other) const { \
    value_type value = *this;                                 \
    value op other;                                           \
    return *this = value;                                     \
  }
  CONVLAB_THRUST_ASSIGNMENT(+=)
  CONVLAB_THRUST_ASSIGNMENT(-=)
  CONVLAB_THRUST_ASSIGNMENT(*=)
  CONVLAB_THRUST_ASSIGNMENT(/=)
  CONVLAB_THRUST_ASSIGNMENT(%=)
  CONVLAB_THRUST_ASSIGNMENT(<<=)
  CONVLAB_THRUST_ASSIGNMENT(>>=)
  CONVLAB_THRUST_ASSIGNMENT(&=)
  CONVLAB_THRUST_ASSIGNMENT(|=)
  CONVLAB_THRUST_ASSIGNMENT(^=)
#undef CONVLAB_THRUST_ASSIGNMENT

  const device_reference& operator++() const { return *this += 1; }
  const device_reference& operator--() const { return *this -= 1; }
  value_type operator++(int) const {
    const value_type before = *this;
    *this += 1;
    return before;
  }
  value_type operator--(int) const {
    const value_type before = *this;
    *this -= 1;
    return before;
  }
  void swap(const device_reference& other) const {
    const value_type own = *this;
    *this = static_cast<value_type>(other);
    other = own;
  }
  friend std::ostream& operator<<(std::ostream& stream, const device_reference& element) {
    return stream << static_cast<value_type>(element);
  }

 private:
  T* at_;
};

template <class T>
void swap(device_reference<T> a, device_reference<T> b) {
  a.swap(b);
}

namespace detail {

/// What all pointers share. Self: the pointer's class; Reference: of an element.
template <class Self, class T, class Reference>
class PointerBase {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using reference = Reference;
  using pointer = Self;
  using raw_pointer = T*;
  using difference_type = ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  static constexpr System kSystem = System::device;

  PointerBase() = default;
  explicit PointerBase(T* at) : at_(at) {}

  T* get() const { return at_; }
  Reference operator*() const { return static_cast<Reference>(*at_); }
  explicit operator bool() const { return at_ != nullptr; }

  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this -= 1; }
  Self operator++(int) {
    Self before = self();
    ++at_;
    return before;
  }
  Self operator--(int) {
    Self before = self();
    --at_;
    return before;
  }
  Self& operator+=(ptrdiff_t n) {
    at_ += n;
    return self();
  }
  Self& operator-=(ptrdiff_t n) {
    at_ -= n;
    return self();
  }
  friend Self operator+(Self p, ptrdiff_t n) { return p += n; }
  friend Self operator+(ptrdiff_t n, Self p) { return p += n; }
  friend Self operator-(Self p, ptrdiff_t n) { return p -= n; }

 protected:
  T* at_ = nullptr;

 private:
  Self& self() { return static_cast<Self&>(*this); }
};

/// Pointers of one kind, to T and to const T, which compare and subtract.
template <class A, class B>
concept ComparablePointers = std::is_same_v<typename A::convlab_kind, typename B::convlab_kind> && requires(A a, B b) {
  a.get() == b.get();
};

template <class A, class B>
requires ComparablePointers<A, B>
bool operator==(const A& a, const B& b) { return a.get() == b.get(); }
template <class A, class B>
requires ComparablePointers<A, B>
auto operator<=>(const A& a, const B& b) { return a.get() <=> b.get(); }
template <class A, class B>
requires ComparablePointers<A, B> ptrdiff_t operator-(const A& a, const B& b) { return a.get() - b.get(); }

struct DeviceKind {};
struct UniversalKind {};

}  // namespace detail

template <class T>
class device_ptr : public detail::PointerBase<device_ptr<T>, T, device_reference<T>> {
 public:
  using convlab_kind = detail::DeviceKind;
  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  template <class U>
  requires std::is_convertible_v<U*, T*>
  explicit device_ptr(U* at) : detail::PointerBase<device_ptr<T>, T, device_reference<T>>(at) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> device_ptr(const device_ptr<U>& other) : device_ptr(other.get()) {}

  device_reference<T> operator*() const { return device_reference<T>(this->at_); }
  device_reference<T> operator[](ptrdiff_t i) const { return device_reference<T>(this->at_ + i); }
};

/// Of memory without a type, as device_malloc(bytes) returns it.
template <class T>
requires std::is_void_v<T>
class device_ptr<T> {
 public:
  device_ptr() = default;
  device_ptr(std::nullptr_t) {}
  explicit device_ptr(T* at) : at_(at) {}
  template <class U>
  device_ptr(const device_ptr<U>& other) : at_(other.get()) {}
  template <class U>
  explicit operator device_ptr<U>() const {
    return device_ptr<U>(static_cast<U*>(at_));
  }
  T* get() const { return at_; }
  explicit operator bool() const { return at_ != nullptr; }
  bool operator==(const device_ptr&) const = default;

 private:
  T* at_ = nullptr;
};

template <class T>
class universal_ptr : public detail::PointerBase<universal_ptr<T>, T, T&> {
 public:
  using convlab_kind = detail::UniversalKind;
  universal_ptr() = default;
  universal_ptr(std::nullptr_t) {}
  template <class U>
  requires std::is_convertible_v<U*, T*>
  explicit universal_ptr(U* at) : detail::PointerBase<universal_ptr<T>, T, T&>(at) {}
  template <class U>
  requires std::is_convertible_v<U*, T*> universal_ptr(const universal_ptr<U>& other) : universal_ptr(other.get()) {}

  T& operator[](ptrdiff_t i) const { return this->at_[i]; }
  T* operator->() const { return this->at_; }
};

template <class T>
device_ptr<T> device_pointer_cast(T* at) {
  return device_ptr<T>(at);
}
template <class T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& at) {
  return at;
}

template <class T>
T* raw_pointer_cast(T* at) {
  return at;
}
template <class Pointer>
requires requires(Pointer p) { p.get(); }
auto raw_pointer_cast(const Pointer& at) { return at.get(); }

/// Device code's reference to the element. Host code must not use it.
template <class T>
T& raw_reference_cast(T& element) {
  return element;
}
template <class T>
T& raw_reference_cast(const device_reference<T>& element) {
  return *(&element).get();
}

/// A new iterator has the elements' raw addresses in place of device pointers, because device code needs no copies.
namespace detail {

template <class I>
I unwrapped(const I& i) {
  return i;
}
template <class T>
T* unwrapped(const device_ptr<T>& i) {
  return i.get();
}
template <class T>
T* unwrapped(const universal_ptr<T>& i) {
  return i.get();
}

/// Calls unwrapped() of any iterator, also of those that are declared later.
struct Unwrap {
  template <class I>
  auto operator()(const I& i) const {
    if constexpr (requires { i.convlab_unwrapped(); }) {
      return i.convlab_unwrapped();
    } else {
      return unwrapped(i);
    }
  }
};
inline constexpr Unwrap unwrap{};

}  // namespace detail
}  // namespace thrust
