// Dense tensors in host memory: allocation, sharing and conversion of elements.

#include "convlab/tensor/tensor.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "convlab/base/bf16.h"
#include "convlab/base/checked.h"
#include "convlab/base/half.h"

namespace convlab {

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0) throw bad_input("tensor dimensions must not be negative, got {}", to_text(shape));
    count = checked_mul(count, size);
  }
  return count;
}

int64_t image_element_count(const Shape& shape) { return element_count(shape) / shape[0]; }

std::string to_text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape, "x"));
}

Tensor::Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)), count_(element_count(shape_)) {
  constexpr int64_t kAlignment = 64;
  const int64_t bytes = checked_mul(count_, static_cast<int64_t>(size_of(type_)));
  // An empty tensor still has an address: a null pointer means "no tensor".
  data_.reset(std::aligned_alloc(kAlignment, static_cast<size_t>(std::max(round_up(bytes, kAlignment), kAlignment))),
              &std::free);
  if (!data_) throw bad_input("not enough memory for a tensor of shape {} ({} bytes)", to_text(shape_), bytes);
}

Tensor Tensor::deferred(ElementType type, Shape shape, std::function<Tensor()> make) {
  Tensor tensor;
  tensor.type_ = type;
  tensor.count_ = element_count(shape);
  tensor.shape_ = std::move(shape);
  tensor.deferred_ = std::make_unique<Deferred>();
  tensor.deferred_->make = std::move(make);
  return tensor;
}

void Tensor::make_elements() const {
  std::call_once(deferred_->once, [this] {
    Tensor made = deferred_->make();
    made.require(type_);
    if (made.count() != count_)
      throw bad_input("tensor of shape {} must have {} elements, got {}", to_text(shape_), count_, made.count());
    data_ = std::move(made.data_);
  });
}

Tensor Tensor::clone() const {
  if (empty()) return {};
  if (deferred_ != nullptr) return deferred(type_, shape_, deferred_->make);
  if (shared_) {
    Tensor other;
    other.type_ = type_;
    other.shape_ = shape_;
    other.count_ = count_;
    other.data_ = data_;
    other.shared_ = true;
    return other;
  }
  Tensor copy(type_, shape_);
  std::memcpy(copy.raw(), raw(), bytes());
  return copy;
}

bool Tensor::share_elements() {
  if (data_ != nullptr && deferred_ == nullptr) shared_ = true;
  return shared_;
}

void Tensor::own_elements() {
  Tensor own(type_, shape_);
  std::memcpy(own.data_.get(), data_.get(), bytes());
  *this = std::move(own);
}

Tensor Tensor::reshaped(Shape shape) && {
  if (element_count(shape) != count_) throw bad_input("cannot reshape {} to {}", to_text(shape_), to_text(shape));
  shape_ = std::move(shape);
  return std::move(*this);
}

void Tensor::require(ElementType wanted) const {
  const bool same_bits = wanted == ElementType::f16 && type_ == ElementType::bf16;
  if (type_ != wanted && !same_bits)
    throw bad_input("expected a tensor of {}, got {}", name_of(wanted), name_of(type_));
}

namespace {

struct Half {
  uint16_t bits;
  explicit Half(float value) : bits(float_to_half(value)) {}
  float value() const { return half_to_float(bits); }
};

struct Bf16 {
  uint16_t bits;
  explicit Bf16(float value) : bits(to_bf16(value)) {}
  float value() const { return from_bf16(bits); }
};

struct Bf16x2 {
  uint16_t bits, residual;
  explicit Bf16x2(float value) : bits(to_bf16(value)), residual(to_bf16(value - from_bf16(bits))) {}
  float value() const { return from_bf16(bits) + from_bf16(residual); }
};

template <class To, class From>
To convert_one(From value) {
  if constexpr (std::is_class_v<From>) {
    return convert_one<To>(value.value());
  } else if constexpr (std::is_class_v<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (!(value == value)) return 0;
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Calls visit with a typed null pointer. This is the only switch over element types.
template <class Visit>
void with_type(ElementType type, Visit visit) {
  switch (type) {
    case ElementType::f32:
      return visit(static_cast<float*>(nullptr));
    case ElementType::f16:
      return visit(static_cast<Half*>(nullptr));
    case ElementType::bf16:
      return visit(static_cast<Bf16*>(nullptr));
    case ElementType::bf16x2:
      return visit(static_cast<Bf16x2*>(nullptr));
    case ElementType::f64:
      return visit(static_cast<double*>(nullptr));
    case ElementType::u8:
      return visit(static_cast<uint8_t*>(nullptr));
    case ElementType::i8:
      return visit(static_cast<int8_t*>(nullptr));
    case ElementType::i32:
      return visit(static_cast<int32_t*>(nullptr));
    case ElementType::i64:
      return visit(static_cast<int64_t*>(nullptr));
  }
}

}  // namespace

Tensor converted(const Tensor& tensor, ElementType type) {
  if (tensor.type() == type) return tensor.clone();
  Tensor result(type, tensor.shape());
  with_type(tensor.type(), [&]<class From>(From*) {
    with_type(type, [&]<class To>(To*) {
      const auto* from = static_cast<const From*>(tensor.raw());
      auto* to = static_cast<To*>(result.raw());
      for (int64_t i = 0; i < tensor.count(); ++i) to[i] = convert_one<To>(from[i]);
    });
  });
  return result;
}

}  // namespace convlab
