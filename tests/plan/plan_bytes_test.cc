// Tests int8/uint8 plans of quantized networks: which operators are rewritten, and that results equal those of
// layer-by-layer plans. All scales are powers of two, so layers are also exact in float32 and results must be equal bit
// for bit.

#include "convlab/plan/kept_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/plan/planned_graph.h"
#include "tests/plan/quantized_graph.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Tensor images(int64_t n, int64_t side) {
  Rng rng(9);
  Tensor x(ElementType::f32, {n, 3, side, side});
  for (float& each : x.values<float>()) each = rng.uniform(-1, 1);
  return x;
}

std::vector<Tensor> outputs_of(const Graph& graph, PlanMode mode, int64_t n, int threads) {
  const auto device = open_cpu({.threads = threads});
  const int64_t side = graph.inputs[0].shape[2];
  Engine engine(copy_of(graph), Shape{n, 3, side, side}, *device, {.plan = {.mode = mode}, .at_once = true});
  const Tensor x = images(n, side);
  return engine.run({&x, 1});
}

/// Returns the operator names of the plan's steps.
std::vector<std::string> steps_of(const Graph& graph, int64_t n = 2) {
  const auto device = open_cpu({.threads = 2});
  const int64_t side = graph.inputs[0].shape[2];
  const Engine engine(copy_of(graph), Shape{n, 3, side, side}, *device, {.at_once = true});
  std::vector<std::string> names;
  for (const PlanStep& step : engine.plan().steps) names.push_back(step.op_name());
  return names;
}

void expect_as_by_layers(const Graph& graph, int64_t n = 2) {
  const std::vector<Tensor> wanted = outputs_of(graph, PlanMode::layers, n, 1);
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(fmt::format("{}, {} threads", hwy::TargetName(target), threads));
      const std::vector<Tensor> got = outputs_of(graph, PlanMode::fused, n, threads);
      for (size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(got[i].shape(), wanted[i].shape());
        for (int64_t at = 0; at < wanted[i].count(); ++at) {
          const auto place = static_cast<size_t>(at);
          ASSERT_EQ(got[i].values<float>()[place], wanted[i].values<float>()[place]) << "output " << i << " at " << at;
        }
      }
    }
  }
}

void expect_steps(const Graph& graph, const testing::Matcher<std::vector<std::string>>& steps) {
  EXPECT_THAT(steps_of(graph), steps);
  expect_as_by_layers(graph);
}

TEST(BytePlan, ConvolutionsTakeInActivations) {
  for (const bool is_signed : {false, true}) {
    QuantizedGraph graph;
    const Levels x = graph.images(0x1p-7f, is_signed ? 0 : 128, is_signed);
    const ValueId relu = graph.activation(graph.conv(x, 20, 3), ActivationKind::relu);
    const Levels a = graph.quantize(relu, 20, 0x1p-5f, is_signed ? -128 : 0, is_signed);
    const ValueId clip = graph.activation(graph.conv(a, 20, 3, 20), ActivationKind::clip);  // clips to 0.1 ... 0.8
    const Levels b = graph.quantize(clip, 20, 0x1p-8f, is_signed ? -100 : 7, is_signed);
    graph.real(b);
    expect_steps(graph.graph(), ElementsAre("QuantizeLinear", "QLinearConv", "QLinearConv", "DequantizeLinear"));
  }
}

TEST(BytePlan, WeightsAreNeverFloats) {
  QuantizedGraph graph;
  graph.real(graph.quantized_conv(graph.quantized_conv(graph.images(), 12, 3), 8, 1));
  const std::vector<Tensor> wanted = outputs_of(graph.graph(), PlanMode::fused, 2, 1);
  int weights = 0;
  for (auto& [value, tensor] : graph.graph().constants) {
    if (tensor.shape().size() != 4) continue;
    ++weights;
    tensor = Tensor::deferred(ElementType::f32, tensor.shape(), []() -> Tensor { throw bad_input("they are read"); });
  }
  EXPECT_EQ(weights, 2);
  const std::vector<Tensor> got = outputs_of(graph.graph(), PlanMode::fused, 2, 1);
  EXPECT_THAT(got[0].values<float>(), testing::ElementsAreArray(wanted[0].values<float>()));
}

TEST(BytePlan, ConvolutionsTakeInAdditionsAfterThem) {
  for (const bool is_signed : {false, true}) {
    QuantizedGraph graph;
    const Levels x = graph.images(0x1p-7f, is_signed ? -5 : 128, is_signed);
    const Levels a = graph.quantized_conv(x, 12, 1), b = graph.quantized_conv(a, 12, 3);
    const ValueId sum = graph.add(AddOp{}, {graph.real(b), graph.real(a)});
    const Levels c = graph.quantize(graph.activation(sum, ActivationKind::relu), 12, 8 * a.scale, a.zero, is_signed);
    graph.real(c);
    expect_steps(graph.graph(), ElementsAre("QuantizeLinear", "QLinearConv", "QLinearConv+add", "DequantizeLinear"));
  }
}

TEST(BytePlan, AdditionsOfWhatIsReadElsewhereStayOfTheirOwn) {
  QuantizedGraph graph;
  const Levels a = graph.quantized_conv(graph.images(), 12, 1);
  const Levels sum = graph.quantize(graph.add(AddOp{}, {graph.real(a), graph.real(a)}), 12, 2 * a.scale, 9);
  const Levels b = graph.quantized_conv(a, 12, 3, 12);  // depthwise kernels do not fuse additions
  graph.real(graph.quantize(graph.add(AddOp{}, {graph.real(sum), graph.real(b)}), 12, b.scale, 100));
  expect_steps(graph.graph(), ElementsAre("QuantizeLinear", "QLinearConv", "QLinearAdd", "QLinearConv", "QLinearAdd",
                                          "DequantizeLinear"));
}

TEST(BytePlan, PoolsMeansAndDenseLayers) {
  for (const bool gemm : {false, true}) {
    QuantizedGraph graph;
    const Levels a = graph.quantized_conv(graph.images(), 10, 3);
    const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
    const Levels b = graph.quantize(graph.add(PoolOp{pool}, {graph.real(a)}), 10, a.scale, a.zero);
    const Levels mean = graph.quantize(graph.add(GlobalAveragePoolOp{}, {graph.real(b)}), 10, a.scale / 4, a.zero);
    const Levels flat = graph.quantize(graph.add(FlattenOp{}, {graph.real(mean)}), 10, mean.scale, mean.zero);
    const Tensor w = graph.whole(gemm ? Shape{30, 10} : Shape{10, 30}, -128, 127);
    const ValueId matrix = graph.dequantized(w, graph.scales(30), 0, gemm ? 0 : 1);
    const ValueId product = gemm ? graph.add(GemmOp{.alpha = 0.5f, .transpose_b = true}, {graph.real(flat), matrix})
                                 : graph.add(MatMulOp{}, {graph.real(flat), matrix});
    graph.real(graph.quantize(product, 30, QuantizedGraph::scale_after(flat, 10), 128));
    expect_steps(graph.graph(), ElementsAre("QuantizeLinear", "QLinearConv", "MaxPool", "QLinearGlobalAveragePool",
                                            "QLinearConv", "DequantizeLinear"));
  }
}

TEST(BytePlan, PoolsToOtherLevelsStayRealNumbers) {
  QuantizedGraph graph;
  const Levels a = graph.quantized_conv(graph.images(), 10, 3);
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  const Levels b = graph.quantize(graph.add(PoolOp{pool}, {graph.real(a)}), 10, a.scale * 2, a.zero);
  graph.real(graph.quantized_conv(b, 8, 1));
  EXPECT_THAT(steps_of(graph.graph()), testing::IsSupersetOf({"DequantizeLinear", "MaxPool"}));
  expect_as_by_layers(graph.graph());
}

TEST(BytePlan, ConcatenationsOfSeveralScales) {
  for (const bool is_signed : {false, true}) {
    QuantizedGraph graph;
    const Levels x = graph.images(0x1p-7f, 0, is_signed);
    const Levels a = graph.quantized_conv(x, 10, 3), b = graph.quantized_conv(x, 7, 1);
    const ValueId joined = graph.add(ConcatOp{.axis = -3}, {graph.real(a), graph.real(x), graph.real(b)});
    const Levels c = graph.quantize(joined, 20, 2 * a.scale, a.zero, is_signed);
    graph.real(graph.quantized_conv(c, 9, 3));
    expect_steps(graph.graph(), ElementsAre("QuantizeLinear", "QLinearConv", "QLinearConv", "QLinearConcat",
                                            "QLinearConv", "DequantizeLinear"));
  }
}

TEST(BytePlan, WhatIsReadTwiceOrGivenOutStaysReal) {
  QuantizedGraph twice;
  const ValueId sums = twice.conv(twice.images(), 16, 3);
  const Levels fine = twice.quantize(sums, 16, 0x1p-6f, 10), coarse = twice.quantize(sums, 16, 0x1p-3f, 10);
  twice.add(AddOp{}, {twice.real(fine), twice.real(coarse)});
  EXPECT_THAT(steps_of(twice.graph()), Not(Contains("QLinearConv")));
  expect_as_by_layers(twice.graph());

  QuantizedGraph given;
  const ValueId inner = given.conv(given.images(), 16, 3);
  given.real(given.quantize(inner, 16, 0x1p-5f, 10));
  given.graph().outputs.push_back({.value = inner});
  EXPECT_THAT(steps_of(given.graph()), Not(Contains("QLinearConv")));
  expect_as_by_layers(given.graph());
}

TEST(BytePlan, LevelsMayBeOutputs) {
  // int8 outputs may be negative, both as outputs and where other operators read them.
  for (const bool is_signed : {false, true}) {
    QuantizedGraph graph;
    const Levels a = graph.quantized_conv(graph.images(0x1p-7f, 0, is_signed), 13, 3);
    const Levels b = graph.quantized_conv(a, 5, 1);
    graph.add(UnaryOp{.kind = UnaryKind::abs}, {a.id});
    graph.graph().outputs.push_back({.value = a.id});
    graph.graph().outputs.push_back({.value = b.id});
    EXPECT_THAT(steps_of(graph.graph()), Contains("QLinearConv"));
    expect_as_by_layers(graph.graph());
  }
}

/// Adds a QLinearConv operator.
ValueId qlinear_conv(QuantizedGraph& graph, const Levels& x, const Levels& y, const Tensor& w, int64_t w_zero,
                     bool bias, float w_scale = 0x1p-7f) {
  const auto zero = [&](int64_t value) { return graph.number(static_cast<float>(value)); };
  std::vector<ValueId> inputs{x.id,         graph.number(x.scale), zero(x.zero), -1, graph.number(w_scale),
                              zero(w_zero), graph.number(y.scale), zero(y.zero)};
  inputs[3] = graph.put(w.shape(), {w.values<float>().begin(), w.values<float>().end()});
  if (bias) {
    const Tensor whole = graph.whole({w.shape()[0]}, -3000, 3000);
    inputs.push_back(graph.put(whole.shape(), {whole.values<float>().begin(), whole.values<float>().end()}));
  }
  return graph.add(
      QLinearConvOp{
          .conv = {.pad_top = 1, .pad_right = 2}, .low = y.is_signed ? -128 : 0, .high = y.is_signed ? 127 : 255},
      inputs);
}

TEST(BytePlan, QLinearConv) {
  for (const bool is_signed : {false, true}) {
    for (const bool bias : {false, true}) {
      QuantizedGraph graph;
      const Levels x = graph.images(0x1p-7f, is_signed ? -30 : 99, is_signed);
      Levels y{.scale = 0x1p-4f, .zero = is_signed ? -20 : 100, .is_signed = is_signed, .channels = 11};
      // uint8 weights with zero point 128.
      y.id = qlinear_conv(graph, x, y, graph.whole({11, 3, 3, 3}, 0, 255), 128, bias);
      graph.real(y);
      expect_steps(graph.graph(), ElementsAre("QuantizeLinear", "QLinearConv", "DequantizeLinear"));
    }
  }
}

/// Whether the graph's plan computes anything in int8/uint8. Also expects the results of layer-by-layer plans.
bool on_bytes(const Graph& graph, int64_t n = 2) {
  expect_as_by_layers(graph, n);
  const auto device = open_cpu({.threads = 1});
  const int64_t side = graph.inputs[0].shape[2];
  const PlannedGraph planned =
      planned_graph(copy_of(graph), Shape{n, 3, side, side}, PlanMode::fused, device->caps().threads);
  return has_bytes(planned.graph);
}

TEST(BytePlan, WhatDoesNotFitStaysAsItIs) {
  const auto with = [](int x_zero, int y_zero, int64_t w_zero, float y_scale, float w_scale = 0x1p-7f) {
    QuantizedGraph graph;
    const Levels x = graph.images(0x1p-7f, x_zero);
    Levels y{.scale = y_scale, .zero = y_zero, .channels = 6};
    y.id = qlinear_conv(graph, x, y, graph.whole({6, 3, 3, 3}, 0, 127), w_zero, true, w_scale);
    graph.real(y);
    return on_bytes(graph.graph());
  };
  EXPECT_TRUE(with(128, 20, 0, 0x1p-4f));
  EXPECT_FALSE(with(128, 20, -200, 0x1p-4f)) << "weights beyond int8";
  EXPECT_FALSE(with(300, 20, 0, 0x1p-4f)) << "a zero point that is no level";
  EXPECT_FALSE(with(128, -1, 0, 0x1p-4f)) << "a zero point that is no level";
  EXPECT_FALSE(with(128, 20, 0, 0x1p-60f)) << "numbers of levels beyond 32 bits";
  EXPECT_FALSE(with(128, 20, 0, 0x1p-4f, -0x1p-7f)) << "a scale below 0";
}

TEST(BytePlan, GroupsOfFewChannelsStayRealNumbers) {
  QuantizedGraph graph;
  const Levels a = graph.quantized_conv(graph.images(), 12, 1);
  graph.real(graph.quantized_conv(a, 8, 3, 4));  // groups of 3 channels
  EXPECT_THAT(steps_of(graph.graph()), Contains(testing::HasSubstr("Conv+bias")));
  expect_as_by_layers(graph.graph());
}

TEST(BytePlan, BiasesBetweenUnitsOfSums) {
  // A bias between units of the int32 sum is rounded, if that changes results by only a fraction of a quantized value.
  for (const bool coarse : {false, true}) {
    QuantizedGraph graph;
    const Levels x = graph.images();
    const Tensor w = graph.whole({4, 3, 1, 1}, -128, 127);
    const float y_scale = coarse ? 0x1p-13f : 0x1p-6f;  // one unit is half a quantized value, or 1/256 of one
    const ValueId filter = graph.dequantized(w, {0x1p-7f}), bias = graph.put({4}, {0x1p-16f, 0.5f, -0.25f, 0});
    graph.real(graph.quantize(graph.add(ConvOp{}, {graph.real(x), filter, bias}), 4, y_scale, 3));
    const Shape shape{1, 3, kQuantizedSide, kQuantizedSide};
    EXPECT_EQ(has_bytes(planned_graph(copy_of(graph.graph()), shape, PlanMode::fused, 1).graph), !coarse);
  }
}

TEST(BytePlan, BatchesFitTheCache) {
  QuantizedGraph graph(1, 128);
  const Levels a = graph.quantized_conv(graph.images(), 64, 1), b = graph.quantized_conv(a, 64, 1);
  graph.real(graph.quantize(graph.add(GlobalAveragePoolOp{}, {graph.real(b)}), 64, b.scale, b.zero));
  const auto device = open_cpu({.threads = 2});
  const Engine engine(graph.take(), Shape{64, 3, 128, 128}, *device, {});
  EXPECT_EQ(engine.batch(), 4) << "two arrays of 1 MiB for each image";
}

/// A random network of patterns that quantizers produce, and of some that they do not.
Graph random_network(uint64_t seed) {
  QuantizedGraph graph(seed);
  Rng& rng = graph.rng();
  const bool is_signed = rng.integer(0, 2) == 0;
  const auto zero = [&] { return static_cast<int>(rng.integer(0, 255)) - (is_signed ? 128 : 0); };
  std::vector<Levels> values{graph.quantized_conv(graph.images(0x1p-7f, zero(), is_signed), 12, 3)};
  const auto any = [&] { return values[static_cast<size_t>(rng.integer(0, std::ssize(values) - 1))]; };
  const int64_t nodes = rng.integer(3, 9);
  for (int64_t i = 0; i < nodes; ++i) {
    const Levels x = rng.integer(0, 3) > 0 ? values.back() : any();
    ValueId real = 0;
    Levels y{.scale = x.scale, .zero = zero(), .is_signed = is_signed, .channels = x.channels};
    switch (rng.integer(0, 6)) {
      case 0:
      case 1: {
        y.channels = rng.integer(1, 40);
        const int64_t side = 2 * rng.integer(0, 1) + 1;
        real = graph.conv(x, y.channels, side, 1, rng.integer(0, 1) == 0);
        y.scale = QuantizedGraph::scale_after(x, x.channels * side * side);
        break;
      }
      case 2:
        real = graph.conv(x, x.channels, 3, x.channels);
        y.scale = QuantizedGraph::scale_after(x, 9);
        break;
      case 3: {
        const Levels other = any();
        if (other.channels != x.channels) continue;
        real = graph.add(AddOp{}, {graph.real(other), graph.real(x)});
        y.scale = std::max(x.scale, other.scale);
        break;
      }
      case 4: {
        const Levels other = any();
        if (x.channels + other.channels > 50) continue;
        real = graph.add(ConcatOp{.axis = 1}, {graph.real(x), graph.real(other)});
        y.scale = std::max(x.scale, other.scale);
        y.channels += other.channels;
        break;
      }
      case 5: {
        const Pool pool{.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
        real = graph.add(PoolOp{pool}, {graph.real(x)});
        if (rng.integer(0, 3) > 0) y.zero = x.zero;
        break;
      }
      default:
        real = graph.activation(graph.real(x), ActivationKind::leaky_relu);
        break;
    }
    if (const int64_t which = rng.integer(0, 3); which < 2) {
      real = graph.activation(real, which == 0 ? ActivationKind::relu : ActivationKind::clip);
    }
    y.id = graph.quantize(real, y.channels, y.scale, y.zero, is_signed).id;
    values.push_back(y);
  }
  const Levels x = values.back();
  const Levels mean =
      graph.quantize(graph.add(GlobalAveragePoolOp{}, {graph.real(x)}), x.channels, x.scale / 2, zero(), is_signed);
  const Levels flat =
      graph.quantize(graph.add(FlattenOp{}, {graph.real(mean)}), x.channels, mean.scale, mean.zero, is_signed);
  const ValueId w = graph.dequantized(graph.whole({x.channels, 21}, -128, 127), graph.scales(21), 0, 1);
  const ValueId product = graph.add(MatMulOp{}, {graph.real(flat), w});
  graph.real(graph.quantize(product, 21, QuantizedGraph::scale_after(flat, x.channels), zero(), is_signed));
  if (rng.integer(0, 2) == 0) graph.graph().outputs.push_back({.value = any().id});
  return graph.take();
}

TEST(BytePlan, RandomNetworksAsByLayers) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    EXPECT_TRUE(on_bytes(random_network(seed), seed % 3 == 0 ? 3 : 1));
  }
}

}  // namespace
}  // namespace convlab
