// Tests plans with nchw8c layouts: fusion, in-place concatenation, and that random networks with many channels agree
// with layer-by-layer plans.

#include "convlab/plan/kept_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/kernels/registry.h"
#include "convlab/plan/planner.h"
#include "tests/plan/wide_graph.h"

namespace convlab {
namespace {

using testing::ElementsAre;

Plan plan_of(const Graph& graph, int64_t n = 1, PlanOptions options = {}) {
  return make_plan(graph, Shape{n, 3, kHeight, kWidth}, open_cpu({.threads = 2})->caps(), options);
}

std::vector<Tensor> outputs_of(const Graph& graph, PlanMode mode, int64_t n, int threads) {
  const auto device = open_cpu({.threads = threads});
  Engine engine(copy_of(graph), Shape{n, 3, kHeight, kWidth}, *device, {.plan = {.mode = mode}, .at_once = true});
  const Tensor x = images(n);
  return engine.run({&x, 1});
}

void expect_as_by_layers(const Graph& graph, int64_t n) {
  const std::vector<Tensor> wanted = outputs_of(graph, PlanMode::layers, n, 1);
  const std::vector<Tensor> got = outputs_of(graph, PlanMode::fused, n, 1);
  const std::vector<Tensor> again = outputs_of(graph, PlanMode::fused, n, 3);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[i].shape(), wanted[i].shape());
    double error = 0, size = 0;
    for (int64_t at = 0; at < wanted[i].count(); ++at) {
      const double value = wanted[i].values<float>()[at], other = got[i].values<float>()[at];
      error += (value - other) * (value - other);
      size += value * value;
      ASSERT_EQ(other, again[i].values<float>()[at]) << "with more threads, at " << at;
    }
    EXPECT_LT(std::sqrt(error), 2e-5 * std::sqrt(size)) << "output " << i;
  }
}

TEST(ChannelPlan, ConvolutionTakesInAdditionAndActivation) {
  WideGraph graph;
  const ValueId first = graph.conv(graph.input(), 3, 16, 3);
  const ValueId left = graph.conv(first, 16, 32, 3);
  const ValueId right = graph.conv(first, 16, 32, 1);
  const ValueId sum = graph.add(AddOp{}, {left, right});
  graph.activation(graph.conv(graph.activation(sum, ActivationKind::relu), 32, 16, 1), ActivationKind::tanh);
  const Plan plan = plan_of(graph.graph());
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Conv+add+bias+relu", "Conv+bias+tanh", "Copy"));
  EXPECT_EQ(plan.steps[2].inputs[3], plan.steps[1].output);
  expect_as_by_layers(graph.graph(), 2);
}

TEST(ChannelPlan, SwishIsAnActivation) {
  for (const UnaryKind kind : {UnaryKind::swish, UnaryKind::hard_swish}) {
    WideGraph graph;
    const ValueId first = graph.conv(graph.input(), 3, 16, 1);
    const ValueId second = graph.add(UnaryOp{kind, 1}, {graph.conv(first, 16, 64, 3)});
    graph.conv(second, 64, 16, 3);
    EXPECT_EQ(plan_of(graph.graph()).steps.size(), 4u);
    expect_as_by_layers(graph.graph(), 1);
  }
}

TEST(ChannelPlan, WhatIsConcatenatedIsWrittenWhereItBelongs) {
  WideGraph graph;
  graph.concatenations();
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Conv+bias", "Conv+bias", "Conv+bias", "Copy"));
  constexpr int64_t kPixels = kHeight * kWidth;
  EXPECT_EQ(plan.steps[1].output.at - plan.steps[0].output.at, 16 * kPixels * 4);
  EXPECT_EQ(plan.steps[2].what.inputs[0].pitch, 40 * kPixels);
  EXPECT_EQ(plan.steps[2].inputs[0], plan.steps[0].output) << "the whole begins with its first part";
  expect_as_by_layers(graph.graph(), 3);
}

TEST(ChannelPlan, NetworksOfFewChannelsKeepImagesInLanesOrNone) {
  GraphBuilder graph({-1, 1, 12, 12});
  graph.conv(graph.conv(graph.input(), 6, 1, 5), 16, 6, 5);
  const Plan plan = make_plan(graph.graph(), Shape{1, 1, 12, 12}, open_cpu({.threads = 1})->caps(), {});
  for (const PlanStep& step : plan.steps) EXPECT_EQ(step.what.outputs[0].format, kNchw);
}

/// Returns why a network of one 5x5 convolution does not use the kernel.
std::string why_not(std::string_view kernel, int64_t channels, int64_t filters) {
  GraphBuilder graph({-1, channels, 12, 12});
  graph.conv(graph.input(), filters, channels, 5);
  const Plan plan = make_plan(graph.graph(), Shape{1, channels, 12, 12}, open_cpu({.threads = 1})->caps(), {});
  const auto& refused = plan.steps[0].refused;
  const auto found = std::ranges::find(refused, kernel, &Refused::kernel);
  return found == refused.end() ? "" : found->reason;
}

TEST(ChannelPlan, OtherKernelsSayWhyTheyAreForOtherPlans) {
  EXPECT_EQ(why_not("cpu.nchw8c_direct", 8, 8),
            "only for plans that keep values in nchw8c between steps (networks with many channels, in fp32)");
}

TEST(ChannelPlan, KernelsThatFitNoPlanSayWhy) {
  EXPECT_EQ(why_not("cpu.nchw8c_direct", 1, 6), "output channels must be a multiple of 8");
  EXPECT_EQ(why_not("cpu.nchw8c_winograd", 8, 8), "filter must be 3x3");
  EXPECT_EQ(why_not("cpu.nchw8c_dense", 8, 8), "only 1x1 images, 1x1 filters and one group are supported");
  EXPECT_EQ(why_not("cpu.nchw8c_dense", 3, 8), "only 1x1 images, 1x1 filters and one group are supported");
}

TEST(ChannelPlan, RandomNetworksAsByLayers) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    expect_as_by_layers(graph, seed % 3 == 0 ? 3 : 1);
  }
}

/// Returns the batch size for a network whose last step is a dense layer with `maps` outputs.
int64_t batch_of(int64_t maps) {
  GraphBuilder builder({-1, 3, 64, 64});
  const ValueId first = builder.add(same(3), {builder.input(), builder.constant({64, 3, 3, 3})});
  const ValueId second = builder.add(same(3), {first, builder.constant({64, 64, 3, 3})});
  const ValueId small = builder.add(PoolOp{{.kernel_h = 32, .kernel_w = 32, .stride_h = 32, .stride_w = 32}}, {second});
  builder.add(GemmOp{}, {builder.add(FlattenOp{1}, {small}), builder.constant({256, maps})});
  const auto device = open_cpu({.threads = 2});
  const Engine engine(builder.take(), Shape{64, 3, 64, 64}, *device, {});
  EXPECT_TRUE(engine.plan().channel_lanes);
  return engine.batch();
}

TEST(ChannelPlan, BatchesFitTheCacheUnlessWeightsAreLarge) {
  EXPECT_EQ(batch_of(10), 4);       // two arrays of 1 MiB per image
  EXPECT_EQ(batch_of(40'000), 32);  // 39 MiB of weights; 64 images would exceed the arena limit
}

}  // namespace
}  // namespace convlab
