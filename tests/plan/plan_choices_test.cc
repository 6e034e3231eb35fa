// Tests plans made from explicit choices: exactly these kernels and layouts, or an error.

#include "convlab/plan/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "convlab/base/text.h"
#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/plan/planner.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Shape kInput{2, 3, 9, 7};

/// Two convolutions of `maps` channels after one of 3. Several kernels support each of the last two.
Graph wide_graph(int64_t maps = 16) {
  GraphBuilder graph({-1, 3, 9, 7});
  const ConvOp same{.pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
  ValueId x = graph.add(same, {graph.input(), graph.constant({maps, 3, 3, 3})});
  for (int i = 0; i < 2; ++i) {
    x = graph.activation(graph.add(same, {x, graph.constant({maps, maps, 3, 3}, -0.1f, 0.1f)}), ActivationKind::relu);
  }
  return graph.take();
}

Plan plan_of(const Graph& graph, PlanOptions options = {}) {
  return make_plan(graph, kInput, open_cpu({.threads = 2})->caps(), options);
}

std::vector<const PlanStep*> convolutions(const Plan& plan) {
  std::vector<const PlanStep*> steps;
  for (const PlanStep& step : plan.steps) {
    if (step.is_conv()) steps.push_back(&step);
  }
  return steps;
}

/// Returns the plan's own kernels or, if `last`, each convolution's last supported kernel.
PlanChoices choices_of(const Plan& plan, bool last) {
  PlanChoice choice{.inputs = plan.inputs, .channel_lanes = plan.channel_lanes, .line = 10};
  for (const PlanStep* step : convolutions(plan)) {
    const Kernel* kernel = last ? step->fitting.back() : step->kernel;
    choice.kernels.push_back({.step = printable(step->name),
                              .problem = to_text(conv_step(step->what).problem),
                              .kernel = std::string(kernel->info.name),
                              .line = 11 + static_cast<int>(choice.kernels.size())});
  }
  return {.place = "plan.txt", .plans = {std::move(choice)}};
}

PlanOptions replaying(PlanChoices choices, PlanOptions options = {}) {
  options.choices = std::make_shared<PlanChoices>(std::move(choices));
  return options;
}

std::string refusal(PlanChoices choices, const Graph& graph = wide_graph()) {
  return bad_input_message([&] { plan_of(graph, replaying(std::move(choices))); });
}

TEST(ChosenPlan, ItsOwnChoicesGiveTheSamePlan) {
  const Graph graph = wide_graph();
  for (const std::optional<bool> lanes : {std::optional<bool>(), {true}, {false}}) {
    for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
      if (mode == PlanMode::layers && lanes == true) continue;
      const Plan own = plan_of(graph, {.mode = mode, .channel_lanes = lanes});
      const Plan replayed = plan_of(graph, replaying(choices_of(own, false), {.mode = mode}));
      EXPECT_EQ(replayed.channel_lanes, own.channel_lanes);
      EXPECT_EQ(replayed.arena_bytes, own.arena_bytes);
      ASSERT_EQ(replayed.steps.size(), own.steps.size());
      for (size_t i = 0; i < own.steps.size(); ++i) {
        EXPECT_EQ(replayed.steps[i].name, own.steps[i].name);
        EXPECT_EQ(replayed.steps[i].kernel->info.name, own.steps[i].kernel->info.name);
        EXPECT_EQ(replayed.steps[i].output, own.steps[i].output);
      }
    }
  }
}

TEST(ChosenPlan, TakesTheChosenKernelsAndLooksForNoOthers) {
  const Graph graph = wide_graph();
  for (const bool lanes : {true, false}) {
    const Plan own = plan_of(graph, {.channel_lanes = lanes});
    const Plan replayed = plan_of(graph, replaying(choices_of(own, true)));
    const auto expected = convolutions(own), got = convolutions(replayed);
    ASSERT_EQ(got.size(), expected.size());
    EXPECT_GT(expected.back()->fitting.size(), 1u) << "there is a choice";
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(conv_step(got[i]->what), conv_step(expected[i]->what));
      EXPECT_THAT(got[i]->fitting, ElementsAre(expected[i]->fitting.back())) << "nobody else was asked";
    }
  }
}

TEST(ChosenPlan, GivesTheSameBitsAsTheChosenKernels) {
  const auto device = open_cpu({.threads = 2});
  Tensor x(ElementType::f32, kInput);
  for (size_t i = 0; float& each : x.values<float>()) each = std::sin(static_cast<float>(i++));
  const auto outputs = [&](const PlanOptions& options) {
    Engine engine(wide_graph(), kInput, *device, {.plan = options, .at_once = true});
    return std::move(engine.run({&x, 1})[0]);
  };
  const Tensor expected = outputs({}), got = outputs(replaying(choices_of(plan_of(wide_graph()), false)));
  EXPECT_TRUE(std::ranges::equal(expected.values<float>(), got.values<float>()));
}

TEST(ChosenPlan, RefusesWhatDoesNotFit) {
  const PlanChoices right = choices_of(plan_of(wide_graph()), false);
  const auto with = [&](auto change) {
    PlanChoices wrong = right;
    change(wrong.plans[0]);
    return refusal(std::move(wrong));
  };
  EXPECT_THAT(with([](PlanChoice& plan) { plan.inputs = {{4, 3, 9, 7}}; }), HasSubstr("no plan for inputs of 2x3x9x7"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels[1].kernel = "cpu.gone"; }),
              HasSubstr("plan.txt: line 12: kernel cpu.gone for 'n1+n2' is not available on cpu in fp32 on this "
                        "machine; tune again"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels[1].kernel = "onednn"; }), HasSubstr("onednn"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels[1].kernel = "cpu.nchw8c_depthwise"; }),
              HasSubstr("not supported by the file's kernel: cpu.nchw8c_depthwise: only depthwise convolution with "
                        "depth multiplier 1 is supported; tune again"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels[1].problem = "c1h9w7_k1r3s3"; }),
              HasSubstr("in the model; tune again"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels[1].step = "other"; }),
              HasSubstr("plan.txt: line 12: expected step 'n1+n2', got 'other'"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels.pop_back(); }), HasSubstr("plan.txt: line 10: no kernel for '"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.kernels.push_back(plan.kernels[0]); }),
              HasSubstr("plan.txt: line 10: the file has 4 convolutions and the model has 3"));
  EXPECT_THAT(with([](PlanChoice& plan) { plan.channel_lanes = false; }),
              HasSubstr("not supported by the file's kernel"));
  EXPECT_THAT(refusal(right, wide_graph(24)), HasSubstr("tune again"));
}

TEST(ChosenPlan, ChoosesKernelsOfOtherOperators) {
  GraphBuilder builder({-1, 3, 9, 7});
  const ValueId flat = builder.add(FlattenOp{}, {builder.activation(builder.input(), ActivationKind::tanh)});
  builder.add(GemmOp{}, {flat, builder.constant({189, 10}), builder.constant({10})}, "dense");
  const Graph graph = builder.take();
  const Plan own = plan_of(graph);
  ASSERT_EQ(own.steps.back().kernel->info.name, "cpu.dense");
  const KernelChoice choice{.step = "dense", .problem = "gemm_m2n10k189_bias", .kernel = "cpu.gemm", .line = 11};
  const auto with = [&](auto change) {
    PlanChoices choices{.place = "plan.txt", .plans = {{.inputs = own.inputs, .others = {choice}, .line = 10}}};
    change(choices.plans[0].others[0]);
    return choices;
  };
  const Plan chosen = plan_of(graph, replaying(with([](KernelChoice&) {})));
  EXPECT_EQ(chosen.steps.back().kernel->info.name, "cpu.gemm");
  EXPECT_EQ(chosen.steps.front().kernel, own.steps.front().kernel) << "a step without a choice is as planned";
  EXPECT_THAT(refusal(with([](KernelChoice& other) { other.kernel = "cpu.softmax"; }), graph),
              HasSubstr("plan.txt: line 11: kernel cpu.softmax for 'dense' is not available on cpu"));
  EXPECT_THAT(refusal(with([](KernelChoice& other) { other.problem = "gemm_m1n10k189_bias"; }), graph),
              HasSubstr("plan.txt: line 11: the model has no step 'dense' (gemm_m1n10k189_bias) here; tune again"));
}

TEST(ChosenPlan, RefusesLanesWherePlansHaveNone) {
  const PlanOptions layers{.mode = PlanMode::layers, .channel_lanes = true};
  EXPECT_THAT(bad_input_message([&] { plan_of(wide_graph(), layers); }),
              HasSubstr("cannot keep values in nchw8c or nhwc"));
}

}  // namespace
}  // namespace convlab
