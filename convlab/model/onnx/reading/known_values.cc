// Evaluates the arithmetic of shapes on small constants.

#include "convlab/model/onnx/reading/known_values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

constexpr int64_t kMostKnownElements = 1 << 20;

/// The elements of a constant: integers, or float32 values as doubles.
struct Numbers {
  bool whole = true;
  Shape shape;
  std::vector<int64_t> integers;
  std::vector<double> reals;

  size_t size() const { return whole ? integers.size() : reals.size(); }
};

Numbers numbers_of(const Tensor& tensor) {
  Numbers numbers{.whole = !is_real(tensor.type()), .shape = tensor.shape()};
  const Tensor wide = converted(tensor, numbers.whole ? ElementType::i64 : ElementType::f64);
  if (numbers.whole) {
    const auto values = wide.values<int64_t>();
    numbers.integers.assign(values.begin(), values.end());
  } else {
    const auto values = wide.values<double>();
    numbers.reals.assign(values.begin(), values.end());
  }
  return numbers;
}

Tensor tensor_of(const Numbers& numbers, ElementType type) {
  return numbers.whole ? converted(Tensor::of<int64_t>(numbers.shape, numbers.integers), type)
                       : converted(Tensor::of<double>(numbers.shape, numbers.reals), type);
}

// ---- Elementwise ----

int64_t difference(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) throw bad_input("integer overflow: {} - {} does not fit in 64 bits", a, b);
  return result;
}

int64_t divided(int64_t a, int64_t b) {
  if (b == 0) throw bad_input("integer division by zero: {} / 0", a);
  if (b == -1) return difference(0, a);
  return a / b;
}

int64_t modulo(int64_t a, int64_t b) {
  if (b == 0) throw bad_input("integer division by zero: {} % 0", a);
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) throw bad_input("the exponent of an integer power must be >= 0, got {}", exponent);
  int64_t result = 1;
  for (int64_t i = 0; i < exponent && result != 0; ++i) {
    result = checked_mul(result, base);
    if (base == 1 || base == -1) return exponent % 2 == 0 ? 1 : base;
  }
  return result;
}

/// Returns the operator's function of integers, or nullptr.
std::function<int64_t(int64_t, int64_t)> whole_function(const Op& op) {
  if (std::holds_alternative<AddOp>(op)) return [](int64_t a, int64_t b) { return checked_add(a, b); };
  if (std::holds_alternative<MulOp>(op)) return [](int64_t a, int64_t b) { return checked_mul(a, b); };
  const auto* binary = std::get_if<BinaryOp>(&op);
  if (binary == nullptr) return nullptr;
  switch (binary->kind) {
    case BinaryKind::subtract:
      return difference;
    case BinaryKind::divide:
      return divided;
    case BinaryKind::minimum:
      return [](int64_t a, int64_t b) { return std::min(a, b); };
    case BinaryKind::maximum:
      return [](int64_t a, int64_t b) { return std::max(a, b); };
    case BinaryKind::power:
      return power;
    case BinaryKind::modulo:
      return modulo;
    case BinaryKind::fmod:
      return [](int64_t a, int64_t b) { return a - divided(a, b) * b; };
    case BinaryKind::equal:
      return [](int64_t a, int64_t b) -> int64_t { return a == b; };
    case BinaryKind::greater:
      return [](int64_t a, int64_t b) -> int64_t { return a > b; };
    case BinaryKind::greater_equal:
      return [](int64_t a, int64_t b) -> int64_t { return a >= b; };
    case BinaryKind::less:
      return [](int64_t a, int64_t b) -> int64_t { return a < b; };
    case BinaryKind::less_equal:
      return [](int64_t a, int64_t b) -> int64_t { return a <= b; };
    case BinaryKind::logical_and:
      return [](int64_t a, int64_t b) -> int64_t { return a != 0 && b != 0; };
    case BinaryKind::logical_or:
      return [](int64_t a, int64_t b) -> int64_t { return a != 0 || b != 0; };
    case BinaryKind::logical_xor:
      return [](int64_t a, int64_t b) -> int64_t { return (a != 0) != (b != 0); };
    case BinaryKind::prelu:
      return nullptr;
  }
  return nullptr;
}

/// Returns the operator's function of reals, rounded to float32 as in the network, or nullptr.
std::function<double(double, double)> real_function(const Op& op) {
  const auto rounded = [](auto function) {
    return [function](double a, double b) { return static_cast<double>(static_cast<float>(function(a, b))); };
  };
  if (std::holds_alternative<AddOp>(op)) return rounded(std::plus<>());
  if (std::holds_alternative<MulOp>(op)) return rounded(std::multiplies<>());
  const auto* binary = std::get_if<BinaryOp>(&op);
  if (binary == nullptr) return nullptr;
  switch (binary->kind) {
    case BinaryKind::subtract:
      return rounded(std::minus<>());
    case BinaryKind::divide:
      return rounded(std::divides<>());
    case BinaryKind::minimum:
      return [](double a, double b) { return std::min(a, b); };
    case BinaryKind::maximum:
      return [](double a, double b) { return std::max(a, b); };
    case BinaryKind::equal:
      return [](double a, double b) -> double { return a == b; };
    case BinaryKind::greater:
      return [](double a, double b) -> double { return a > b; };
    case BinaryKind::less:
      return [](double a, double b) -> double { return a < b; };
    default:
      return nullptr;
  }
}

bool is_comparison(const Op& op) {
  const auto* binary = std::get_if<BinaryOp>(&op);
  return binary != nullptr && binary->kind >= BinaryKind::equal && binary->kind <= BinaryKind::logical_xor;
}

/// Returns, for each element of `shape`, the index of the operand's element that is broadcast to it.
std::vector<size_t> broadcast_offsets(const Shape& operand, const Shape& shape) {
  std::vector<size_t> places(static_cast<size_t>(element_count(shape)));
  const size_t missing = shape.size() - operand.size();
  for (size_t i = 0; i < places.size(); ++i) {
    size_t rest = i, place = 0, stride = 1;
    for (size_t axis = shape.size(); axis-- > missing; rest /= static_cast<size_t>(shape[axis])) {
      const auto size = static_cast<size_t>(operand[axis - missing]);
      if (size != 1) place += rest % static_cast<size_t>(shape[axis]) * stride;
      stride *= size;
    }
    places[i] = place;
  }
  return places;
}

template <class T>
std::vector<T> picked(const std::vector<T>& from, const std::vector<size_t>& places) {
  std::vector<T> values;
  for (const size_t place : places) values.push_back(from[place]);
  return values;
}

Numbers moved(const Numbers& x, const std::vector<size_t>& places, Shape shape) {
  Numbers y{.whole = x.whole, .shape = std::move(shape)};
  if (x.whole) y.integers = picked(x.integers, places);
  if (!x.whole) y.reals = picked(x.reals, places);
  return y;
}

std::optional<Tensor> elementwise(const Op& op, const Tensor& a, const Tensor& b, const Shape& shape) {
  const Numbers x = numbers_of(a), y = numbers_of(b);
  if (x.whole != y.whole) return std::nullopt;
  const std::vector<size_t> from_x = broadcast_offsets(x.shape, shape), from_y = broadcast_offsets(y.shape, shape);
  Numbers z{.whole = x.whole, .shape = shape};
  const auto whole = whole_function(op);
  const auto real = real_function(op);
  if (x.whole ? whole == nullptr : real == nullptr) return std::nullopt;
  for (size_t i = 0; i < from_x.size(); ++i) {
    if (x.whole) z.integers.push_back(whole(x.integers[from_x[i]], y.integers[from_y[i]]));
    if (!x.whole) z.reals.push_back(real(x.reals[from_x[i]], y.reals[from_y[i]]));
  }
  return tensor_of(z, is_comparison(op) ? ElementType::u8 : a.type());
}

std::optional<Tensor> unary(const UnaryOp& op, const Tensor& operand) {
  Numbers x = numbers_of(operand);
  ElementType type = operand.type();
  const auto apply = [&](auto whole, auto real) {
    for (int64_t& each : x.integers) each = whole(each);
    for (double& each : x.reals) each = static_cast<float>(real(each));
  };
  const auto same = [](int64_t value) { return value; };
  switch (op.kind) {
    case UnaryKind::abs:
      apply([](int64_t value) { return value < 0 ? difference(0, value) : value; },
            [](double v) { return std::abs(v); });
      break;
    case UnaryKind::neg:
      apply([](int64_t value) { return difference(0, value); }, std::negate<>());
      break;
    case UnaryKind::sqrt:
      if (x.whole) return std::nullopt;
      apply(same, [](double v) { return std::sqrt(v); });
      break;
    case UnaryKind::floor:
      apply(same, [](double v) { return std::floor(v); });
      break;
    case UnaryKind::ceil:
      apply(same, [](double v) { return std::ceil(v); });
      break;
    case UnaryKind::round:
      apply(same, [](double v) { return std::nearbyint(v); });
      break;
    case UnaryKind::truncate:
      apply(same, [](double v) { return std::trunc(v); });
      break;
    case UnaryKind::logical_not:
      if (!x.whole) return std::nullopt;
      apply([](int64_t value) -> int64_t { return value == 0; }, [](double v) { return v; });
      break;
    case UnaryKind::to_bool:
      apply([](int64_t value) -> int64_t { return value != 0; }, [](double v) -> double { return v != 0; });
      type = ElementType::u8;
      break;
    default:
      return std::nullopt;
  }
  return tensor_of(x, type);
}

/// Evaluates Relu and Clip.
std::optional<Tensor> bounded(const Activation& activation, const Tensor& operand) {
  Numbers x = numbers_of(operand);
  const bool clips = activation.kind == ActivationKind::clip;
  if (x.whole || !(clips || activation.kind == ActivationKind::relu)) return std::nullopt;
  for (double& each : x.reals) {
    if (clips) each = std::min<double>(std::max<double>(each, activation.alpha), activation.beta);
    if (!clips) each = std::max(each, 0.0);
  }
  return tensor_of(x, operand.type());
}

Tensor chosen(const Tensor& condition, const Tensor& a, const Tensor& b, const Shape& shape) {
  const Numbers truth = numbers_of(condition), x = numbers_of(a), y = numbers_of(b);
  const std::vector<size_t> of = broadcast_offsets(truth.shape, shape);
  Numbers from_x = moved(x, broadcast_offsets(x.shape, shape), shape);
  const Numbers from_y = moved(y, broadcast_offsets(y.shape, shape), shape);
  for (size_t i = 0; i < of.size(); ++i) {
    if (truth.whole ? truth.integers[of[i]] != 0 : truth.reals[of[i]] != 0) continue;
    if (x.whole) from_x.integers[i] = from_y.integers[i];
    if (!x.whole) from_x.reals[i] = from_y.reals[i];
  }
  return tensor_of(from_x, a.type());
}

// ---- Along axes, and rearrangements ----

/// Calls visit(indices along each axis) for each element of `shape`, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  std::vector<int64_t> index(shape.size());
  for (int64_t left = element_count(shape); left > 0; --left) {
    visit(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

size_t offset_of(const std::vector<int64_t>& index, const Shape& shape) {
  int64_t place = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) place = place * shape[axis] + index[axis];
  return static_cast<size_t>(place);
}

std::optional<Tensor> reduced(const ReduceOp& op, const Tensor& operand, const Shape& shape) {
  const Numbers x = numbers_of(operand);
  const bool sums = op.kind == ReduceKind::sum, multiplies = op.kind == ReduceKind::prod;
  const bool smallest = op.kind == ReduceKind::min, largest = op.kind == ReduceKind::max;
  if (!x.whole || !(sums || multiplies || smallest || largest)) return std::nullopt;
  const std::vector<bool> over = reduced_axes(op, x.shape.size());
  Shape kept = x.shape;
  for (size_t axis = 0; axis < kept.size(); ++axis) {
    if (over[axis]) kept[axis] = 1;
  }
  const int64_t begin = sums         ? 0
                        : multiplies ? 1
                        : smallest   ? std::numeric_limits<int64_t>::max()
                                     : std::numeric_limits<int64_t>::min();
  Numbers y{.shape = shape, .integers = std::vector<int64_t>(static_cast<size_t>(element_count(kept)), begin)};
  size_t at = 0;
  for_each_index(x.shape, [&](std::vector<int64_t> index) {
    for (size_t axis = 0; axis < index.size(); ++axis) {
      if (over[axis]) index[axis] = 0;
    }
    int64_t& result = y.integers[offset_of(index, kept)];
    const int64_t value = x.integers[at++];
    if (sums) result = checked_add(result, value);
    if (multiplies) result = checked_mul(result, value);
    if (smallest) result = std::min(result, value);
    if (largest) result = std::max(result, value);
  });
  return tensor_of(y, operand.type());
}

Tensor gathered(const GatherOp& op, const Tensor& operand, const Tensor& at, const Shape& shape) {
  const Numbers x = numbers_of(operand), indices = numbers_of(at);
  const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
  std::vector<size_t> places;
  for_each_index(shape, [&](const std::vector<int64_t>& index) {
    const auto from = index.begin() + static_cast<ptrdiff_t>(axis), to = from + std::ssize(indices.shape);
    int64_t which = indices.integers[offset_of({from, to}, indices.shape)];
    if (which < -x.shape[axis] || which >= x.shape[axis]) {
      throw bad_input("index {} is out of range for an axis of size {}", which, x.shape[axis]);
    }
    if (which < 0) which += x.shape[axis];
    std::vector<int64_t> source(index.begin(), from);
    source.push_back(which);
    source.insert(source.end(), to, index.end());
    places.push_back(offset_of(source, x.shape));
  });
  return tensor_of(moved(x, places, shape), operand.type());
}

Tensor sliced(const SliceOp& op, const Tensor& operand) {
  const Numbers x = numbers_of(operand);
  const std::vector<SliceRange> ranges = slice_ranges(op, x.shape, /*may_be_empty=*/true);
  Shape shape;
  for (const SliceRange& range : ranges) shape.push_back(range.count);
  std::vector<size_t> places;
  for_each_index(shape, [&](std::vector<int64_t> index) {
    for (size_t axis = 0; axis < index.size(); ++axis)
      index[axis] = ranges[axis].start + index[axis] * ranges[axis].step;
    places.push_back(offset_of(index, x.shape));
  });
  return tensor_of(moved(x, places, shape), operand.type());
}

Tensor tiled(const Tensor& operand, const Shape& shape) {
  const Numbers x = numbers_of(operand);
  std::vector<size_t> places;
  for_each_index(shape, [&](std::vector<int64_t> index) {
    for (size_t axis = 0; axis < index.size(); ++axis) index[axis] %= x.shape[axis];
    places.push_back(offset_of(index, x.shape));
  });
  return tensor_of(moved(x, places, shape), operand.type());
}

bool is_small(int64_t elements) { return elements <= kMostKnownElements; }

}  // namespace

std::optional<Tensor> known_result(const Op& op, std::span<const Tensor* const> operands) {
  std::vector<Shape> shapes;
  for (const Tensor* each : operands) {
    if (!is_small(each->count())) return std::nullopt;
    shapes.push_back(each->shape());
  }
  if (const auto* slice = std::get_if<SliceOp>(&op)) return sliced(*slice, *operands[0]);
  const auto empty = [](const Tensor* each) { return each->count() == 0; };
  if (std::ranges::any_of(operands, empty)) return std::nullopt;
  const auto* activation = std::get_if<ActivationOp>(&op);
  if (activation != nullptr) return bounded(activation->activation, *operands[0]);
  const auto* function = std::get_if<UnaryOp>(&op);
  const bool known = function != nullptr || std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op) ||
                     std::holds_alternative<BinaryOp>(op) || std::holds_alternative<WhereOp>(op) ||
                     std::holds_alternative<ReduceOp>(op) || std::holds_alternative<GatherOp>(op) ||
                     std::holds_alternative<ExpandOp>(op) || std::holds_alternative<TileOp>(op);
  if (!known) return std::nullopt;
  const Shape shape = output_shape(op, shapes);
  if (!is_small(element_count(shape))) return std::nullopt;
  const Tensor& x = *operands[0];
  if (function != nullptr) return unary(*function, x);
  if (std::holds_alternative<WhereOp>(op)) return chosen(x, *operands[1], *operands[2], shape);
  if (const auto* reduce = std::get_if<ReduceOp>(&op)) return reduced(*reduce, x, shape);
  if (const auto* gather = std::get_if<GatherOp>(&op)) return gathered(*gather, x, *operands[1], shape);
  if (std::holds_alternative<TileOp>(op)) return tiled(x, shape);
  if (std::holds_alternative<ExpandOp>(op)) {
    return tensor_of(moved(numbers_of(x), broadcast_offsets(x.shape(), shape), shape), x.type());
  }
  return elementwise(op, x, *operands[1], shape);
}

}  // namespace convlab
