// Tests bf16 plans with nhwc layouts: which arrays are bf16, in-place concatenation, and that random networks with many
// channels agree with layer-by-layer plans in fp32 up to rounding.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/plan/planner.h"
#include "tests/plan/wide_graph.h"

namespace convlab {
namespace {

using testing::ElementsAre;

class HalfPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (const Refusal absent = refuse_without(Bf16Unit::avx512_bf16)) GTEST_SKIP() << *absent;
  }

  static Plan plan_of(const Graph& graph, int64_t n = 1) {
    return make_plan(graph, Shape{n, 3, kHeight, kWidth}, open_cpu({.threads = 2})->caps(), {.math = Math::bf16});
  }

  static std::vector<Tensor> outputs_of(const Graph& graph, PlanOptions options, int64_t n, int threads) {
    const auto device = open_cpu({.threads = threads});
    Engine engine(copy_of(graph), Shape{n, 3, kHeight, kWidth}, *device, {.plan = std::move(options), .at_once = true});
    const Tensor x = images(n);
    return engine.run({&x, 1});
  }

  static void expect_as_by_layers(const Graph& graph, int64_t n) {
    const std::vector<Tensor> wanted = outputs_of(graph, {.mode = PlanMode::layers}, n, 1);
    const std::vector<Tensor> got = outputs_of(graph, {.math = Math::bf16}, n, 1);
    const std::vector<Tensor> again = outputs_of(graph, {.math = Math::bf16}, n, 3);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].shape(), wanted[i].shape());
      for (size_t at = 0; at < static_cast<size_t>(got[i].count()); ++at) {
        ASSERT_EQ(got[i].values<float>()[at], again[i].values<float>()[at]) << "with more threads, at " << at;
      }
      EXPECT_LT(relative_error(wanted[i], got[i]), 0.03) << "output " << i;
    }
  }
};

TEST_F(HalfPlan, KeepsAllInHalves) {
  WideGraph graph;
  graph.gated();
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Conv+add+bias+relu", "GlobalAveragePool",
                                          "Conv+bias+sigmoid", "Mul", "Conv+bias", "Conv+bias", "Copy"));
  EXPECT_TRUE(plan.channel_lanes);
  for (const size_t in_halves : {0u, 1u, 2u, 6u, 7u}) {
    EXPECT_EQ(plan.steps[in_halves].what.outputs[0].format, kNhwcBf16) << in_halves;
  }
  EXPECT_EQ(plan.steps[3].what.outputs[0].format, kNchw) << "images of one pixel are plain";
  EXPECT_EQ(plan.steps[5].kernel->info.name, "cpu.nhwc_bf16_scale");
  EXPECT_EQ(plan.steps[6].kernel->info.name, "cpu.nhwc_bf16_depthwise");
  expect_as_by_layers(graph.graph(), 2);
}

TEST_F(HalfPlan, WhatIsConcatenatedIsWrittenWhereItBelongs) {
  WideGraph graph;
  graph.concatenations();
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Conv+bias", "Conv+bias", "Conv+bias", "Copy"));
  EXPECT_EQ(plan.steps[1].output.at - plan.steps[0].output.at, 16 * 2);
  EXPECT_EQ(plan.steps[2].what.inputs[0].pitch, 40);
  expect_as_by_layers(graph.graph(), 3);
}

TEST_F(HalfPlan, OutputsAreFloats) {
  WideGraph graph;
  const ValueId first = graph.conv(graph.input(), 3, 16, 3);
  graph.conv(first, 16, 32, 3);
  graph.graph().outputs.push_back({.value = first});
  expect_as_by_layers(graph.graph(), 1);
}

TEST_F(HalfPlan, PixelsAreTakenAsTheyAre) {
  WideGraph graph;
  graph.conv(graph.conv(graph.input(), 3, 16, 3), 16, 32, 3);
  const Plan plan = make_plan(graph.graph(), Shape{2, 3, kHeight, kWidth}, open_cpu({.threads = 2})->caps(),
                              {.math = Math::bf16, .input = ElementType::u8});
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Copy"));
  EXPECT_EQ(plan.steps[0].what.inputs[0].format, kRawPixels);
}

TEST_F(HalfPlan, RandomNetworksAsByLayers) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    expect_as_by_layers(graph, seed % 3 == 0 ? 3 : 1);
  }
}

}  // namespace
}  // namespace convlab
