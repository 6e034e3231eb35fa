#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "convlab/base/error.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"

namespace convlab {

template <class T>
constexpr ElementType element_type_of();
template <>
constexpr ElementType element_type_of<float>() {
  return ElementType::f32;
}
template <>
constexpr ElementType element_type_of<double>() {
  return ElementType::f64;
}
template <>
constexpr ElementType element_type_of<uint16_t>() {
  return ElementType::f16;
}
template <>
constexpr ElementType element_type_of<uint8_t>() {
  return ElementType::u8;
}
template <>
constexpr ElementType element_type_of<int8_t>() {
  return ElementType::i8;
}
template <>
constexpr ElementType element_type_of<int32_t>() {
  return ElementType::i32;
}
template <>
constexpr ElementType element_type_of<int64_t>() {
  return ElementType::i64;
}

/// A dense tensor in host memory, row-major, 64-byte aligned. Only clone() copies it; moving is cheap.
class Tensor {
 public:
  Tensor() = default;

  /// Allocates uninitialized elements. Throws Error(bad_input) if the size overflows or there is not enough memory.
  Tensor(ElementType type, Shape shape);

  /// Returns a tensor with a copy of `values`. Throws Error(bad_input) if the shape has a different number of elements.
  template <class T>
  static Tensor of(Shape shape, std::span<const T> values);

  /// Returns a tensor whose elements `make` creates at the first read, which may come from any thread. `make` must
  /// return a tensor of this type and number of elements.
  static Tensor deferred(ElementType type, Shape shape, std::function<Tensor()> make);

  /// Returns a copy. After share_elements(), the copy uses the same memory until one of the two is written.
  Tensor clone() const;

  /// Makes later clones share the elements of this tensor, copy on write. Returns false if there are no elements yet.
  bool share_elements();

  /// Returns the same elements with another shape. Throws Error(bad_input) if that has a different number of elements.
  Tensor reshaped(Shape shape) &&;

  /// Frees the memory; type and shape stay.
  void free_elements() {
    data_.reset();
    deferred_.reset();
    shared_ = false;
  }

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  int64_t count() const { return count_; }
  size_t bytes() const { return static_cast<size_t>(count_) * size_of(type_); }
  bool empty() const { return data_ == nullptr && deferred_ == nullptr; }

  void* raw() {
    if (shared_) own_elements();
    return elements();
  }
  const void* raw() const { return elements(); }

  /// Returns all elements. Throws Error(bad_input) unless T matches the element type (uint16_t for f16
  /// and bf16).
  template <class T>
  std::span<T> values() {
    require(element_type_of<T>());
    return {static_cast<T*>(raw()), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<const T> values() const {
    require(element_type_of<T>());
    return {static_cast<const T*>(raw()), static_cast<size_t>(count_)};
  }

 private:
  struct Deferred {
    std::function<Tensor()> make;
    std::once_flag once;
  };

  void require(ElementType wanted) const;
  void* elements() const {
    if (deferred_ != nullptr) make_elements();
    return data_.get();
  }
  void make_elements() const;
  void own_elements();

  ElementType type_ = ElementType::f32;
  Shape shape_;
  int64_t count_ = 0;
  mutable std::shared_ptr<void> data_;
  bool shared_ = false;                 ///< other tensors may use the same elements
  std::unique_ptr<Deferred> deferred_;  ///< set by deferred(); data_ is null until the first read
};

/// Returns the elements converted to another type. Conversion to f16 rounds to nearest even. Conversion of a float to
/// an integer truncates toward zero and saturates; NaN becomes 0. The other conversions are those of C++.
Tensor converted(const Tensor& tensor, ElementType type);

template <class T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
  Tensor tensor(element_type_of<T>(), std::move(shape));
  if (static_cast<size_t>(tensor.count()) != values.size()) {
    throw bad_input("tensor of shape {} must have {} values, got {}", to_text(tensor.shape()), tensor.count(),
                    values.size());
  }
  std::copy(values.begin(), values.end(), tensor.values<T>().begin());
  return tensor;
}

}  // namespace convlab
