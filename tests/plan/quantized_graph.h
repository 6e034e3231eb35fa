#pragma once

// Builds quantized networks for tests of int8/uint8 plans.

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/graph_builder.h"

namespace convlab {

inline constexpr int64_t kQuantizedSide = 8;

/// A quantized array with its scale and zero point.
struct Levels {
  ValueId id = 0;
  float scale = 1;
  int zero = 0;
  bool is_signed = false;
  int64_t channels = 0;
};

/// A graph of quantized arrays between QuantizeLinear and DequantizeLinear.
class QuantizedGraph : public GraphBuilder {
 public:
  explicit QuantizedGraph(uint64_t seed = 1, int64_t side = kQuantizedSide) : GraphBuilder({-1, 3, side, side}, seed) {}

  ValueId number(float value) { return put({}, {value}); }

  ValueId put(const Shape& shape, const std::vector<float>& values) {
    const ValueId id = graph().add_value("c" + std::to_string(graph().value_names.size()));
    graph().constants[id] = Tensor::of<float>(shape, values);
    return id;
  }

  Levels quantize(ValueId real, int64_t channels, float scale, int zero, bool is_signed = false) {
    const QuantizeOp op{.low = is_signed ? -128 : 0, .high = is_signed ? 127 : 255};
    const ValueId id = add(op, {real, number(scale), number(static_cast<float>(zero))});
    return {id, scale, zero, is_signed, channels};
  }
  ValueId real(const Levels& x) {
    return add(DequantizeOp{}, {x.id, number(x.scale), number(static_cast<float>(x.zero))});
  }
  Levels images(float scale = 0x1p-7f, int zero = 128, bool is_signed = false) {
    return quantize(input(), 3, scale, zero, is_signed);
  }

  /// A constant of integers, dequantized, as the importer represents it.
  ValueId dequantized(const Tensor& whole, std::vector<float> scales, int64_t zero = 0, int64_t axis = 0) {
    const auto inner = static_cast<size_t>(element_count({whole.shape().begin() + axis + 1, whole.shape().end()}));
    std::vector<float> values;
    for (size_t i = 0; i < static_cast<size_t>(whole.count()); ++i) {
      values.push_back((whole.values<float>()[i] - static_cast<float>(zero)) * scales[i / inner % scales.size()]);
    }
    const ValueId id = put(whole.shape(), values);
    const size_t count = scales.size();
    WholeConstant made{converted(whole, ElementType::i32), std::move(scales), std::vector<int64_t>(count, zero), axis};
    graph().whole_constants.emplace(id, std::make_shared<const WholeConstant>(std::move(made)));
    return id;
  }

  Tensor whole(const Shape& shape, int64_t low, int64_t high) {
    Tensor tensor(ElementType::f32, shape);
    for (float& each : tensor.values<float>()) each = static_cast<float>(rng().integer(low, high));
    return tensor;
  }

  /// Returns random powers of two, 2^-8 to 2^-6.
  std::vector<float> scales(int64_t count) {
    std::vector<float> result(static_cast<size_t>(count));
    for (float& each : result) each = std::ldexp(1.0f, static_cast<int>(rng().integer(-8, -6)));
    return result;
  }

  /// A convolution that keeps height and width. Returns its real-valued output.
  ValueId conv(const Levels& x, int64_t maps, int64_t side, int64_t groups = 1, bool bias = true) {
    const int64_t pad = side / 2;
    const std::vector<float> scales = this->scales(rng().integer(0, 1) == 0 ? 1 : maps);
    const Tensor w = whole({maps, x.channels / groups, side, side}, -128, 127);
    std::vector<ValueId> inputs{real(x), dequantized(w, scales)};
    if (bias) {
      std::vector<float> of_sums = scales;
      for (float& each : of_sums) each *= x.scale;
      inputs.push_back(dequantized(whole({maps}, -2000, 2000), of_sums));
    }
    const ConvOp op{.pad_top = pad, .pad_left = pad, .pad_bottom = pad, .pad_right = pad, .groups = groups};
    return add(op, inputs);
  }

  /// A power of two as output scale, such that most quantized values of a convolution do not saturate. `terms` is the
  /// reduction length.
  static float scale_after(const Levels& x, int64_t terms) {
    const double size = x.scale * 0x1p-7 * 74 * 74 * std::sqrt(static_cast<double>(terms)) / 40;
    return static_cast<float>(std::exp2(std::round(std::log2(size))));
  }

  Levels quantized_conv(const Levels& x, int64_t maps, int64_t side, int64_t groups = 1) {
    const float scale = scale_after(x, x.channels / groups * side * side);
    return quantize(conv(x, maps, side, groups), maps, scale, x.is_signed ? 3 : 120, x.is_signed);
  }
};

}  // namespace convlab
