// ONNX operators that become constants, nothing, or operators of other names.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/model/onnx/onnx_sizes.h"
#include "convlab/model/onnx/ops/onnx_op.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

constexpr int64_t kMostMadeElements = 1 << 24;  ///< of a constant that a node computes from a shape

OnnxMeaning read_constant(const OnnxNode& node) {
  node.check_inputs(0, 0);
  if (node.has("value")) return node.tensor("value");
  if (node.has("value_float")) {
    const float value = node.real("value_float", 0);
    return Tensor::of<float>({}, {{value}});
  }
  if (node.has("value_floats")) {
    const std::vector<float> values = node.reals("value_floats");
    return Tensor::of<float>({std::ssize(values)}, values);
  }
  if (node.has("value_int")) {
    const int64_t value = node.integer("value_int");
    return Tensor::of<int64_t>({}, {{value}});
  }
  if (node.has("value_ints")) {
    const std::vector<int64_t> values = node.integers("value_ints");
    return Tensor::of<int64_t>({std::ssize(values)}, values);
  }
  throw bad_input("no supported value attribute; expected value, value_float, value_floats, value_int or value_ints");
}

OnnxMeaning read_identity(const OnnxNode& node) {
  node.check_inputs(1, 1);
  return OnnxPassed{node.input(0).onnx_type};
}

OnnxMeaning read_dropout(const OnnxNode& node) {
  if (node.opset() < 12) {
    node.check_inputs(1, 1);
    node.ignore("ratio");
  } else {
    node.check_inputs(1, 3);
    node.ignore("seed");
    if (node.has_input(2)) {
      const Tensor& training = node.constant(2, "training_mode");
      if (training.type() != ElementType::u8 || training.count() != 1)
        throw bad_input("training_mode must be one bool");
      if (training.values<uint8_t>()[0] != 0) throw bad_input("training mode is not supported");
    }
  }
  return OnnxPassed{node.input(0).onnx_type};
}

/// Returns the shape of the input, or a slice of it, for each trial.
OnnxMeaning read_shape(const OnnxNode& node) {
  node.check_inputs(1, 1);
  const ByTrial<Shape>& shapes = node.shapes(0);
  const int64_t rank = node.rank(0);
  const auto place = [&](const char* name, int64_t otherwise) {
    const int64_t at = node.opset() >= 15 ? node.integer(name, otherwise) : otherwise;
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = place("start", 0), end = std::max(place("end", rank), start);
  OnnxTrial trial;
  for (size_t i = 0; i < trial.size(); ++i) {
    const Shape& shape = shapes[i];
    trial[i] = Tensor::of<int64_t>(
        {end - start}, std::span(shape).subspan(static_cast<size_t>(start), static_cast<size_t>(end - start)));
  }
  return trial;
}

OnnxMeaning read_size(const OnnxNode& node) {
  node.check_inputs(1, 1);
  const ByTrial<Shape>& shapes = node.shapes(0);
  const auto count = [&](int64_t images) { return Shape{element_count(*at_images(shapes, images))}; };
  const ByTrial<Shape> counts{count(kTrialImages[0]), count(kTrialImages[1])};
  if (!is_linear(counts, count)) throw open_size("the number of elements is not a linear function of the batch size");
  return OnnxTrial{Tensor::of<int64_t>({}, counts[0]), Tensor::of<int64_t>({}, counts[1])};
}

OnnxMeaning read_constant_of_shape(const OnnxNode& node) {
  node.check_inputs(1, 1);
  const Tensor value = node.has("value") ? node.tensor("value") : Tensor::of<float>({}, {{0.0f}});
  if (value.count() != 1) throw bad_input("value must have 1 element, got {}", value.count());
  const std::vector<OnnxSize> sizes = node.sizes(0, "shape");
  Shape shape;  // for one image
  for (const OnnxSize& size : sizes) {
    if (size.fixed() && size.value() < 0) throw bad_input("sizes must be at least 0, got {}", size.value());
    shape.push_back(size.fixed() ? size.value() : 1);
  }
  const int64_t count = element_count(shape);
  if (count > kMostMadeElements)
    throw bad_input("the constant has {} elements; at most {} are supported", count, kMostMadeElements);
  Tensor tensor(value.type(), shape);
  const size_t bytes = size_of(value.type());
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(tensor.raw()) + static_cast<size_t>(i) * bytes, value.raw(), bytes);
  }
  if (std::ranges::all_of(sizes, &OnnxSize::fixed)) return tensor;
  OnnxRecipe recipe(node.input_count());
  recipe.give(add_expansion(recipe, recipe.constant(std::move(tensor)), sizes));
  return recipe;
}

/// Returns a known number for this batch size.
double number_at(const OnnxNode& node, size_t i, int64_t images) {
  const OnnxValue& value = node.input(i);
  const std::optional<Tensor> at = value.trial ? at_images(*value.trial, images) : std::nullopt;
  constexpr std::string_view kInputs[] = {"start", "limit", "delta"};
  const Tensor& tensor = at ? *at : node.constant(i, kInputs[i]);
  if (tensor.count() != 1)
    throw bad_input("{} ('{}') must have 1 element, got {}", kInputs[i], printable(value.name), tensor.count());
  return converted(tensor, ElementType::f64).values<double>()[0];
}

OnnxMeaning read_range(const OnnxNode& node) {
  node.check_inputs(3, 3);
  if (node.input(2).trial) throw open_size("delta depends on the batch size");
  const double step = number_at(node, 2, kTrialImages[0]);
  const auto start = [&](int64_t images) { return number_at(node, 0, images); };
  const auto shape = [&](int64_t images) {
    const double first = start(images), limit = number_at(node, 1, images);
    const double count = std::max(std::ceil((limit - first) / step), 0.0);
    if (!(count <= static_cast<double>(kMostMadeElements))) {
      throw bad_input("the range from {} to {} in steps of {} is too long or infinite", first, limit, step);
    }
    return Shape{static_cast<int64_t>(count)};
  };
  OnnxTrial trial;
  for (size_t i = 0; i < trial.size(); ++i) {
    Tensor numbers(ElementType::f64, shape(kTrialImages[i]));
    const std::span<double> values = numbers.values<double>();
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = start(kTrialImages[i]) + static_cast<double>(k) * step;
    }
    trial[i] = converted(numbers, node.input(0).type);
  }
  if (!is_linear({trial[0].shape(), trial[1].shape()}, shape)) {
    throw open_size("the length of the range is not a linear function of the batch size");
  }
  return trial;
}

/// Returns the indices of a constant's nonzero elements, axis by axis.
OnnxMeaning read_non_zero(const OnnxNode& node) {
  node.check_inputs(1, 1);
  const Tensor& constant = node.constant(0, "the input");
  const Tensor wide = converted(constant, ElementType::f64);
  const Shape& shape = constant.shape();
  std::vector<std::vector<int64_t>> places(shape.size());
  const auto values = wide.values<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    int64_t rest = static_cast<int64_t>(i);
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) places[axis].push_back(rest % shape[axis]);
  }
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& each : places) all.insert(all.end(), each.begin(), each.end());
  const int64_t rank = std::ssize(shape), count = rank == 0 ? 0 : std::ssize(all) / rank;
  return Tensor::of<int64_t>({rank, count}, all);
}

/// Along a new axis of size `depth`, selects one value at the index and another elsewhere, by comparisons. Negative
/// indices count from the end; an index out of range selects nothing.
OnnxMeaning read_one_hot(const OnnxNode& node) {
  constexpr float kMostDepth = 1 << 20;
  node.check_inputs(3, 3);
  const float depth = std::trunc(node.constant_real(1, "depth", 0));
  if (!(depth >= 1 && depth <= kMostDepth))
    throw bad_input("depth must be between 1 and {}, got {}", kMostDepth, depth);
  const int64_t rank = node.rank(0), places = static_cast<int64_t>(depth);
  const int64_t axis = normalized_axis(node.integer("axis", -1), rank + 1);
  Shape shape(static_cast<size_t>(rank + 1 - axis), 1);
  shape[0] = places;
  std::vector<int64_t> from_front(static_cast<size_t>(places)), from_end(from_front.size());
  std::iota(from_front.begin(), from_front.end(), int64_t{0});
  std::iota(from_end.begin(), from_end.end(), -places);
  OnnxRecipe recipe(3);
  const auto is = [&](OnnxRecipe::Value indices, const std::vector<int64_t>& numbers) {
    const OnnxRecipe::Value all = recipe.constant(Tensor::of<int64_t>(shape, numbers));
    return recipe.add(BinaryOp{BinaryKind::equal}, {indices, all}, onnx::TensorProto::BOOL);
  };
  const OnnxRecipe::Value indices = recipe.add(UnsqueezeOp{{axis}}, {0});
  const OnnxRecipe::Value first = is(indices, from_front), second = is(indices, from_end);
  const OnnxRecipe::Value hot = recipe.add(BinaryOp{BinaryKind::logical_or}, {first, second}, onnx::TensorProto::BOOL);
  const OnnxRecipe::Value off = recipe.add(SliceOp{.starts = {0}, .ends = {1}}, {2});
  const OnnxRecipe::Value on = recipe.add(SliceOp{.starts = {1}, .ends = {2}}, {2});
  recipe.give(recipe.add(WhereOp{}, {hot, on, off}, node.input(2).onnx_type));
  return recipe;
}

}  // namespace

OnnxReaders onnx_readers_without_op() {
  return {{"Constant", read_constant}, {"ConstantOfShape", read_constant_of_shape},
          {"Dropout", read_dropout},   {"Identity", read_identity},
          {"NonZero", read_non_zero},  {"OneHot", read_one_hot},
          {"Range", read_range},       {"Shape", read_shape},
          {"Size", read_size}};
}

}  // namespace convlab
