// Fuzzes int8/uint8 plans: the input selects a small quantized network, with operators in both ONNX formats and in ONNX
// Runtime's own, types, scales, zero points, sizes and values. A supported network must compute the same as its
// layer-by-layer plan in float32, which is exact if scales are powers of two and sums are below 2^24.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "fuzz/fuzz.h"
#include "fuzz/fuzz_choices.h"
#include "tests/support/onnx_model.h"

namespace convlab {
namespace {

constexpr int kU8 = onnx::TensorProto::UINT8, kI8 = onnx::TensorProto::INT8, kI32 = onnx::TensorProto::INT32;

class Network {
 public:
  explicit Network(std::span<const uint8_t> bytes) : choices_(bytes), model_(17) {
    model_.proto.add_opset_import()->set_domain("com.microsoft");
    model_.proto.mutable_opset_import(1)->set_version(1);
    shape_ = {choices_.number(1, 3), choices_.number(1, 19), choices_.number(1, 9), choices_.number(1, 9)};
    model_.input("x", shape_).output("y");
    values_ = Tensor(ElementType::f32, shape_);
    for (float& value : values_.values<float>()) value = static_cast<float>(choices_.number(0, 255) - 128) / 64;
    type_ = choices_.flag() ? kI8 : kU8;
    levels_ = quantized("x");
    for (int64_t left = choices_.number(1, 3); left > 0; --left) add_operator();
    node("DequantizeLinear", {levels_, scale_, zero_});
    model_.graph().mutable_node(model_.graph().node_size() - 1)->set_output(0, std::string("y"));
  }

  std::vector<uint8_t> bytes() const { return model_.bytes(); }
  const Tensor& values() const { return values_; }
  bool is_exact() const { return exact_; }

 private:
  std::string name() { return fmt::format("v{}", count_++); }

  std::string put(onnx::TensorProto tensor) {
    std::string called = name();
    model_.initializer(called, std::move(tensor));
    return called;
  }

  std::string node(const std::string& op, const std::vector<std::string>& inputs) {
    std::string called = name();
    model_.node(op, inputs, {called});
    return called;
  }

  /// Returns a scale, most often a power of two.
  float scale_value() {
    const int64_t choice = choices_.number(0, 31);
    if (choice < 24) return std::ldexp(1.0f, static_cast<int>(choice % 8) - 8);
    exact_ = false;
    using Limits = std::numeric_limits<float>;
    constexpr float kOdd[] = {
        0.013f, 1.7f, 0, -0.5f, Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), Limits::max()};
    return kOdd[choice - 24];
  }
  std::string scale() { return put(OnnxModel::floats({}, {scale_value()})); }

  /// Adds a constant of 8-bit integers.
  std::string whole(const Shape& shape, int type) {
    std::vector<uint8_t> values(static_cast<size_t>(element_count(shape)));
    for (uint8_t& value : values) value = static_cast<uint8_t>(choices_.number(0, 255));
    return put(OnnxModel::raw<uint8_t>(shape, type, values));
  }

  /// Quantizes a real array. Its scale and zero point become the current ones.
  std::string quantized(const std::string& real) {
    scale_ = scale();
    zero_ = whole({}, type_);
    return node("QuantizeLinear", {real, scale_, zero_});
  }
  std::string real() { return node("DequantizeLinear", {levels_, scale_, zero_}); }

  void add_operator() {
    switch (choices_.number(0, 5)) {
      case 0:
      case 1:
        return add_convolution();
      case 2:
        levels_ = quantized(node("Relu", {real()}));
        return;
      case 3:
        levels_ = quantized(node("Add", {real(), node("DequantizeLinear", {levels_, scale_, zero_})}));
        return;
      case 4:
        return add_addition();
      case 5:
        levels_ = node("MaxPool", {levels_});
        model_.list("kernel_shape", {2, 2}).list("pads", {1, 1, 0, 0});
        return;
    }
  }

  void add_addition() {
    const std::string sum = scale(), zero = whole({}, type_);
    levels_ = node("QLinearAdd", {levels_, scale_, zero_, levels_, scale_, zero_, sum, zero});
    model_.graph().mutable_node(model_.graph().node_size() - 1)->set_domain("com.microsoft");
    scale_ = sum, zero_ = zero;
  }

  void add_convolution() {
    const bool depthwise = choices_.number(0, 3) == 0;
    const int64_t maps = depthwise ? shape_[1] : choices_.number(1, 34), side = choices_.flag() ? 3 : 1;
    const int64_t scales = choices_.flag() ? maps : 1;
    std::vector<float> values;
    for (int64_t i = 0; i < scales; ++i) values.push_back(scale_value());
    const Shape per_map = scales == 1 ? Shape{} : Shape{scales};
    const std::string w = whole({maps, depthwise ? 1 : shape_[1], side, side}, kI8);
    const std::string w_scale = put(OnnxModel::floats(per_map, values));
    const std::string w_zero = put(OnnxModel::raw<int8_t>(per_map, kI8, std::vector<int8_t>(values.size(), 0)));
    std::vector<int32_t> bias(static_cast<size_t>(maps));
    for (int32_t& each : bias) each = static_cast<int32_t>(choices_.number(0, 255) - 128) * 64;
    const bool biased = choices_.flag();
    if (choices_.flag()) {
      const std::string sum = scale(), zero = whole({}, type_);
      std::vector<std::string> inputs{levels_, scale_, zero_, w, w_scale, w_zero, sum, zero};
      if (biased) inputs.push_back(put(OnnxModel::raw<int32_t>({maps}, kI32, bias)));
      levels_ = node("QLinearConv", inputs);
      scale_ = sum, zero_ = zero;
      describe(depthwise, side);
    } else {
      const std::string pixels = real(), weights = node("DequantizeLinear", {w, w_scale, w_zero});
      model_.set("axis", int64_t{0});
      std::vector<std::string> inputs{pixels, weights};
      if (biased) inputs.push_back(put(OnnxModel::floats({maps}, std::vector<float>(bias.begin(), bias.end()))));
      const std::string sums = node("Conv", inputs);
      describe(depthwise, side);
      levels_ = quantized(sums);
    }
    shape_[1] = maps;
  }

  /// Sets the attributes of the last node, a convolution.
  void describe(bool depthwise, int64_t side) {
    model_.list("pads", std::vector<int64_t>(4, side / 2));
    if (depthwise) model_.set("group", shape_[1]);
  }

  Choices choices_;
  OnnxModel model_;
  int count_ = 0;
  Shape shape_;
  Tensor values_;
  int type_ = kU8;
  bool exact_ = true;  ///< all scales are powers of two
  std::string levels_, scale_, zero_;
};

Tensor output_of(const std::vector<uint8_t>& model, const Tensor& x, PlanMode mode) {
  static const std::unique_ptr<Device> device = open_cpu({.threads = 1});
  Engine engine(import_onnx(model, "input"), x.shape(), *device, {.plan = {.mode = mode}, .at_once = true});
  return std::move(engine.run({&x, 1})[0]);
}

}  // namespace
}  // namespace convlab

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  const Network network({data, size});
  refuse_or_take([&] {
    const std::vector<uint8_t> model = network.bytes();
    const Tensor fused = output_of(model, network.values(), PlanMode::fused);
    const Tensor layers = output_of(model, network.values(), PlanMode::layers);
    demand(fused.shape() == layers.shape(), "shapes are those of layers");
    if (!network.is_exact()) return;
    demand(std::memcmp(fused.raw(), layers.raw(), fused.bytes()) == 0, "levels are those of layers");
  });
  return 0;
}
