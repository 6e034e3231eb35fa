// Tests GPU plans with nhwc layouts, fp16 for fp16 math and fp32 otherwise: which arrays are nhwc, and that random
// networks with many channels agree with layer-by-layer plans in fp32 up to rounding.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "convlab/device/cpu.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/engine/engine.h"
#include "convlab/plan/planner.h"
#include "tests/plan/wide_graph.h"

namespace convlab {
namespace {

using testing::ElementsAre;

std::vector<Tensor> outputs_of(const Graph& graph, Device& device, PlanOptions options, int64_t n) {
  Engine engine(copy_of(graph), Shape{n, 3, kHeight, kWidth}, device, {.plan = std::move(options), .at_once = true});
  const Tensor x = images(n);
  return engine.run({&x, 1});
}

class LastPlan : public testing::TestWithParam<Math> {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
    device_ = open_device("simt", {});
  }

  Format format() const { return GetParam() == Math::fp16 ? kNhwcF16 : kNhwc; }
  double bound() const { return GetParam() == Math::fp32 ? 1e-5 : 4e-3; }

  Plan plan_of(const Graph& graph, int64_t n = 1, ElementType input = ElementType::f32) {
    return make_plan(graph, Shape{n, 3, kHeight, kWidth}, device_->caps(), {.math = GetParam(), .input = input});
  }

  void expect_as_by_layers(const Graph& graph, int64_t n) {
    const auto cpu = open_cpu({.threads = 2});
    const std::vector<Tensor> wanted = outputs_of(graph, *cpu, {.mode = PlanMode::layers}, n);
    const std::vector<Tensor> got = outputs_of(graph, *device_, {.math = GetParam()}, n);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].shape(), wanted[i].shape());
      EXPECT_LE(relative_error(wanted[i], got[i]), bound()) << "output " << i;
    }
  }

  std::unique_ptr<Device> device_;
};

INSTANTIATE_TEST_SUITE_P(Math, LastPlan, testing::Values(Math::fp16, Math::tf32, Math::fp32),
                         [](const auto& math) { return std::string(name_of(math.param)); });

TEST_P(LastPlan, KeepsAllSo) {
  WideGraph graph;
  graph.gated();
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Conv+add+bias+relu", "GlobalAveragePool",
                                          "Conv+bias+sigmoid", "Mul", "Conv+bias", "Conv+bias", "Copy"));
  EXPECT_TRUE(plan.channel_lanes);
  for (const size_t step : {0u, 1u, 2u, 6u, 7u}) {
    EXPECT_EQ(plan.steps[step].what.outputs[0].format, format()) << step;
  }
  EXPECT_EQ(plan.steps[3].what.outputs[0].format, kNchw) << "images of one pixel are plain";
  EXPECT_EQ(plan.steps[4].kernel->info.name, "cuda.one_pixel");
  expect_as_by_layers(graph.graph(), 2);
}

TEST_P(LastPlan, SqueezesAndExcitesInOneStep) {
  WideGraph graph;
  const ValueId x = graph.conv(graph.conv(graph.input(), 3, 16, 3), 16, 24, 3);
  const ValueId scaled = graph.add(MulOp{}, {graph.squeezed(x, 24, 6), x});
  graph.conv(scaled, 24, 16, 1);
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "SqueezeExcite", "Conv+bias", "Copy"));
  const auto& op = std::get<SqueezeExciteOp>(plan.steps[2].what.op);
  EXPECT_EQ(op.squeeze.kind, ActivationKind::swish);
  EXPECT_EQ(op.excite.kind, ActivationKind::sigmoid);
  expect_as_by_layers(graph.graph(), 3);
}

TEST_P(LastPlan, GatesThatOthersReadStayValues) {
  for (const bool reads_gate : {false, true}) {
    WideGraph graph;
    const ValueId x = graph.conv(graph.conv(graph.input(), 3, 16, 3), 16, 24, 3);
    const ValueId gate = graph.squeezed(x, 24, 6);
    const ValueId scaled = graph.add(MulOp{}, {x, gate});
    graph.conv(scaled, 24, 16, 1);
    graph.graph().outputs.push_back({.value = reads_gate ? gate : x});
    EXPECT_EQ(testing::Value(names_of(plan_of(graph.graph())), testing::Contains("SqueezeExcite")), !reads_gate);
    expect_as_by_layers(graph.graph(), 2);
  }
}

TEST_P(LastPlan, WhatIsConcatenatedIsWrittenWhereItBelongs) {
  WideGraph graph;
  graph.concatenations();
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Conv+bias", "Conv+bias", "Conv+bias", "Copy"));
  EXPECT_EQ(plan.steps[1].output.at - plan.steps[0].output.at, 16 * (GetParam() == Math::fp16 ? 2 : 4));
  expect_as_by_layers(graph.graph(), 3);
}

TEST_P(LastPlan, PoolsGiveDenseLayersTheirOrder) {
  WideGraph graph;
  const ValueId x = graph.conv(graph.conv(graph.input(), 3, 16, 3), 16, 24, 3);
  const ValueId pooled =
      graph.add(PoolOp{{.kind = PoolKind::average, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2}}, {x});
  const ValueId flat = graph.add(FlattenOp{}, {pooled});
  graph.add(GemmOp{.transpose_b = true}, {flat, graph.constant({10, 24 * (kHeight / 2) * (kWidth / 2)})});
  const Plan plan = plan_of(graph.graph(), 2);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "AveragePool", "Gemm"));
  EXPECT_EQ(plan.steps[2].what.outputs[0].format, kNchw);
  expect_as_by_layers(graph.graph(), 3);
}

TEST_P(LastPlan, PixelsAreTakenAsTheyAre) {
  WideGraph graph;
  graph.conv(graph.conv(graph.input(), 3, 16, 3), 16, 32, 3);
  const Plan plan = plan_of(graph.graph(), 2, ElementType::u8);
  EXPECT_THAT(names_of(plan), ElementsAre("Conv+bias", "Conv+bias", "Copy"));
  EXPECT_EQ(plan.steps[0].what.inputs[0].format, kRawPixels);
}

TEST_P(LastPlan, RandomNetworksAsByLayers) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    expect_as_by_layers(random_graph(seed), seed % 3 == 0 ? 3 : 1);
  }
}

}  // namespace
}  // namespace convlab
