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

/// A dense tensor in host memory, row-major, 64-byte aligned. It is copied by clone() only; moving is cheap.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialised elements. Error(bad_input) where the size overflows or there is not enough memory.
  Tensor(ElementType type, Shape shape);

  /// A copy of `values`; their number must be the shape's.
  template <class T>
  static Tensor of(Shape shape, std::span<const T> values);

  /// Elements that `make` gives, as a tensor of this type and as many, when something first reads them; any thread may.
  static Tensor deferred(ElementType type, Shape shape, std::function<Tensor()> make);

  /// A copy; after share_elements() one that has the same elements in memory until one of the two is written.
  Tensor clone() const;

  /// From now on, clones share the elements until they are written: this tensor's, and theirs. False where there are
  /// none yet.
  bool share_elements();

  /// The same elements under another shape of as many elements.
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

  /// All elements. T must be the element type's (uint16_t for f16), otherwise Error(bad_input).
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
  bool shared_ = false;                 ///< others may read the same elements
  std::unique_ptr<Deferred> deferred_;  ///< with no data yet, or with what it has made
};

/// Elements converted to another type: to f16 rounds to nearest even; to an integer truncates towards zero and
/// saturates (NaN gives 0); the other conversions are those of the language.
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
