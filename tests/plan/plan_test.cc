// Tests planning: which nodes are fused into a step, which kernel computes it and why others do not, and where arrays
// are stored.

#include "convlab/plan/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_work.h"
#include "tests/plan/cpu_plan.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// A convolution kernel without fused operators, as on the ladder.
const RegisterConvKernel plain{{
    .info = {.name = "cpu.test_plain", .rung = -1, .idea = "for tests"},
    .refuses = [](const ConvStep& step, const DeviceCaps&) { return refuse_unless_plain(step); },
    .launch = [](const ConvArgs&, Stream&) {},
}};
// A kernel that supports bias and uint8 pixels, but nothing else.
const RegisterConvKernel biased{{
    .info = {.name = "cpu.test_biased", .rung = -2, .idea = "for tests"},
    .refuses = [](const ConvStep& step, const DeviceCaps&) -> Refusal {
      if (step.epilogue.pool || step.epilogue.activation.kind != ActivationKind::none) return "takes bias alone";
      return std::nullopt;
    },
    .workspace_bytes = [](const ConvStep& step, const DeviceCaps&) { return size_t(step.problem.n) * 1000; },
    .launch = [](const ConvArgs&, Stream&) {},
}};
const RegisterConvKernel coarse{{
    .info = {.name = "cpu.test_bf16", .math = Math::bf16, .rung = 99, .idea = "for tests"},
    .refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return std::nullopt; },
    .launch = [](const ConvArgs&, Stream&) {},
}};
const RegisterConvKernel refusing{{
    .info = {.name = "cpu.test_refusing", .rung = 98, .idea = "for tests"},
    .refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return "computes nothing on Sundays"; },
    .launch = [](const ConvArgs&, Stream&) {},
}};
const RegisterConvKernel library{{
    .info = {.name = "testlib", .rung = 97, .idea = "for tests"},
    .refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return std::nullopt; },
    .launch = [](const ConvArgs&, Stream&) {},
}};

/// Returns "name: op" for each step.
std::vector<std::string> steps_of(const Plan& plan) {
  std::vector<std::string> result;
  for (const PlanStep& step : plan.steps) result.push_back(step.name + ": " + step.op_name());
  return result;
}

/// The byte range of a location in the arena.
struct Range {
  int64_t begin, end;
};

/// Follows every array through the plan: no step may write to memory, or use it as workspace, while it holds an array
/// still to be read.
void expect_no_overlap(const Plan& plan) {
  struct Array {
    Range range;
    size_t written, last_read;
  };
  std::vector<Array> arrays;
  const auto output_bytes = [](const PlanStep& step) {
    return byte_count(step.what.outputs[0].shape, step.what.outputs[0].format);
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    for (const Location& input : step.inputs) {
      if (input.place != Location::Place::arena) continue;
      const auto array =
          std::find_if(arrays.rbegin(), arrays.rend(), [&](const Array& each) { return each.range.begin == input.at; });
      ASSERT_NE(array, arrays.rend()) << step.name << " reads what nothing wrote";
      array->last_read = i;
    }
    if (step.output.place == Location::Place::arena) {
      arrays.push_back({{step.output.at, step.output.at + output_bytes(step)}, i, i});
    }
    if (step.workspace_bytes > 0) {
      arrays.push_back({{step.workspace_at, step.workspace_at + static_cast<int64_t>(step.workspace_bytes)}, i, i});
    }
  }
  for (size_t a = 0; a < arrays.size(); ++a) {
    EXPECT_LE(arrays[a].range.end, plan.arena_bytes);
    for (size_t b = 0; b < a; ++b) {
      if (arrays[a].last_read < arrays[b].written || arrays[b].last_read < arrays[a].written) continue;
      EXPECT_TRUE(arrays[a].range.end <= arrays[b].range.begin || arrays[b].range.end <= arrays[a].range.begin)
          << to_text(plan);
    }
  }
}

/// conv, tanh, pool, conv, flatten, dense, tanh, dense, softmax, all with bias.
GraphBuilder course_network() {
  GraphBuilder builder({-1, 1, 20, 20});
  ValueId x = builder.conv(builder.input(), 4, 1, 5, true, "conv1");
  x = builder.activation(x, ActivationKind::tanh, "tanh1");
  x = builder.max_pool(x, 2, "pool1");
  x = builder.conv(x, 6, 4, 5, true, "conv2");
  x = builder.add(FlattenOp{}, {x}, "flatten");
  x = builder.add(GemmOp{}, {x, builder.constant({96, 16}), builder.constant({16})}, "fc1");
  x = builder.activation(x, ActivationKind::tanh, "tanh2");
  x = builder.add(GemmOp{}, {x, builder.constant({16, 10}), builder.constant({10})}, "fc2");
  builder.add(SoftmaxOp{}, {x}, "softmax");
  return builder;
}

TEST(Plan, FusesWhatTheCourseHas) {
  GraphBuilder builder = course_network();
  const Plan plan = plan_of(builder, {.input = ElementType::u8});
  EXPECT_THAT(steps_of(plan), ElementsAre("conv1+pool1+tanh1: Conv+bias+max2x2/2+tanh", "conv2: Conv+bias",
                                          "fc1+tanh2: Gemm+tanh", "fc2: Gemm", "softmax: Softmax"));
  EXPECT_EQ(plan.outputs[0], (Shape{4, 10}));
  EXPECT_EQ(plan.steps[0].what.inputs[0].format, kRawPixels);
  EXPECT_EQ(plan.steps[0].inputs[0].place, Location::Place::input);
  EXPECT_EQ(plan.steps[0].inputs[1].place, Location::Place::constant);
  EXPECT_EQ(plan.steps[4].output.place, Location::Place::output);
  EXPECT_EQ(plan.steps[2].inputs[0], plan.steps[1].output) << "flatten must cost nothing";
  EXPECT_EQ(flops(plan.steps[1].what), 2.0 * 4 * 6 * 4 * 4 * 4 * 25);
  EXPECT_EQ(flops(plan.steps[2].what), 2.0 * 4 * 96 * 16);
  expect_no_overlap(plan);
}

TEST(Plan, LayersModeKeepsEveryOperator) {
  GraphBuilder builder = course_network();
  builder.batch_norm(builder.conv(builder.input(), 2, 1, 3, false, "conv3"), 2, "norm");
  const Plan plan = plan_of(builder, {.mode = PlanMode::layers});
  EXPECT_THAT(steps_of(plan),
              ElementsAre("conv1: Conv+bias", "tanh1: Tanh", "pool1: MaxPool", "conv2: Conv+bias", "fc1: Gemm",
                          "tanh2: Tanh", "fc2: Gemm", "softmax: Softmax", "conv3: Conv", "norm: BatchNormalization"));
  expect_no_overlap(plan);
}

TEST(Plan, EveryValueThatIsReadTwiceIsKept) {
  GraphBuilder builder({-1, 1, 8, 8});
  const ValueId conv = builder.conv(builder.input(), 2, 1, 3, false, "conv");
  const ValueId tanh = builder.activation(conv, ActivationKind::tanh, "tanh");
  builder.add(AddOp{}, {conv, tanh}, "add");
  EXPECT_THAT(steps_of(plan_of(builder)), ElementsAre("conv: Conv", "tanh: Tanh", "add: Add"));
}

TEST(Plan, TheNetworksOutputIsKept) {
  GraphBuilder builder({-1, 1, 8, 8});
  const ValueId conv = builder.conv(builder.input(), 2, 1, 3, false, "conv");
  builder.activation(conv, ActivationKind::tanh, "tanh");
  builder.graph().outputs[0].value = conv;
  EXPECT_THAT(steps_of(plan_of(builder)), Contains("conv: Conv"));
}

TEST(Plan, ActivationsMoveBehindAPoolOnlyIfThatIsTheSame) {
  const auto steps = [](const Activation& activation, PoolKind kind) {
    GraphBuilder builder({-1, 1, 8, 8});
    ValueId x = builder.conv(builder.input(), 2, 1, 3, false, "conv");
    x = builder.add(ActivationOp{activation}, {x}, "act");
    builder.add(PoolOp{{.kind = kind, .kernel_h = 2, .kernel_w = 2, .stride_h = 2}}, {x}, "pool");
    return steps_of(plan_of(builder)).size();
  };
  EXPECT_EQ(steps({ActivationKind::relu}, PoolKind::max), 1);
  EXPECT_EQ(steps({ActivationKind::relu}, PoolKind::average), 2);
  EXPECT_EQ(steps({ActivationKind::leaky_relu, 0.1f}, PoolKind::max), 1);
  EXPECT_EQ(steps({ActivationKind::leaky_relu, -0.1f}, PoolKind::max), 2);
}

TEST(Plan, PoolingsWhoseWindowsShareRowsAreStepsOfTheirOwn) {
  const auto steps = [](int64_t kernel, int64_t stride, int64_t side) {
    GraphBuilder builder({-1, 1, side, side});
    ValueId x = builder.conv(builder.input(), 2, 1, 3, false, "conv");
    x = builder.activation(x, ActivationKind::relu, "relu");
    builder.add(PoolOp{{.kernel_h = kernel, .kernel_w = kernel, .stride_h = stride, .stride_w = stride}}, {x}, "pool");
    return steps_of(plan_of(builder));
  };
  EXPECT_THAT(steps(3, 2, 14), ElementsAre("conv+relu: Conv+relu", "pool: MaxPool"));
  EXPECT_THAT(steps(3, 3, 14), ElementsAre("conv+pool+relu: Conv+max3x3/3+relu"));
  EXPECT_EQ(steps(3, 2, 5).size(), 1) << "there is one window, which shares nothing";
}

TEST(Plan, BatchNormAndConstantsGoIntoTheWeights) {
  GraphBuilder builder({-1, 3, 8, 8});
  ValueId x = builder.conv(builder.input(), 4, 3, 3, true, "conv");
  x = builder.batch_norm(x, 4, "norm");
  x = builder.add(MulOp{}, {builder.constant({4, 1, 1}), x}, "mul");
  x = builder.add(AddOp{}, {x, builder.constant({1, 4, 1, 1})}, "add");
  x = builder.add(AddOp{}, {x, builder.constant({})}, "one");
  builder.activation(x, ActivationKind::relu, "relu");
  EXPECT_THAT(steps_of(plan_of(builder)), ElementsAre("conv+norm+mul+add+one+relu: Conv+bias+relu"));
}

TEST(Plan, ConstantsOfAnotherShapeDoNot) {
  for (const Shape& shape : {Shape{6, 6}, Shape{1, 4, 6, 6}, Shape{6, 1}, Shape{1, 1, 1, 1, 1}}) {
    GraphBuilder builder({-1, 3, 8, 8});
    const ValueId x = builder.conv(builder.input(), 4, 3, 3, false, "conv");
    builder.add(AddOp{}, {x, builder.constant(shape)}, "add");
    EXPECT_EQ(plan_of(builder).steps.size(), 2) << to_text(shape);
  }
}

TEST(Plan, MatMulAndAddBecomeADenseLayer) {
  GraphBuilder builder({-1, 8});
  ValueId x = builder.add(MatMulOp{}, {builder.input(), builder.constant({8, 5})}, "matmul");
  x = builder.add(AddOp{}, {x, builder.constant({5})}, "add");
  x = builder.batch_norm(x, 5, "norm");
  builder.activation(x, ActivationKind::relu, "relu");
  EXPECT_THAT(steps_of(plan_of(builder)), ElementsAre("matmul+add+norm+relu: Gemm+relu"));
}

TEST(Plan, PoolsOfOnePixelAreNoSteps) {
  const auto steps = [](const Pool& pool) {
    GraphBuilder builder({-1, 2, 6, 6});
    builder.add(PoolOp{.pool = pool}, {builder.activation(builder.input(), ActivationKind::tanh, "tanh")}, "pool");
    return steps_of(plan_of(builder)).size();
  };
  EXPECT_EQ(steps({.kind = PoolKind::average}), 1);
  EXPECT_EQ(steps({.kind = PoolKind::max}), 1);
  EXPECT_EQ(steps({.stride_h = 2}), 2);
  EXPECT_EQ(steps({.kernel_w = 2, .pad_left = 1}), 2);
}

TEST(Plan, ZeroPaddingGoesIntoTheConvolution) {
  const auto steps = [](const PadOp& pad) {
    GraphBuilder builder({-1, 2, 6, 6});
    const ValueId x = builder.add(pad, {builder.input()}, "pad");
    builder.conv(x, 3, pad.pads[1] + pad.pads[5] + 2, 3, false, "conv");
    return steps_of(plan_of(builder));
  };
  EXPECT_THAT(steps({PadMode::constant, {0, 0, 1, 2, 0, 0, 3, 0}}), ElementsAre("pad+conv: Conv"));
  EXPECT_EQ(steps({PadMode::constant, {0, 0, 1, 1, 0, 0, 1, 1}, 0.5f}).size(), 2);
  EXPECT_EQ(steps({PadMode::edge, {0, 0, 1, 1, 0, 0, 1, 1}}).size(), 2);
  EXPECT_EQ(steps({PadMode::constant, {0, 0, -1, 0, 0, 0, 0, 0}}).size(), 2);
  EXPECT_EQ(steps({PadMode::constant, {0, 1, 0, 0, 0, 0, 0, 0}}).size(), 2);
}

TEST(Plan, OperatorsOfConstantsAreEvaluatedOnce) {
  GraphBuilder builder({-1, 6});
  const ValueId sum = builder.add(AddOp{}, {builder.constant({6, 5}), builder.constant({5})}, "sum");
  const ValueId weights = builder.add(TransposeOp{}, {sum}, "turn");
  builder.add(GemmOp{1, 1, false, true}, {builder.input(), weights}, "dense");
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    EXPECT_THAT(steps_of(plan_of(builder, {.mode = mode})), ElementsAre("dense: Gemm"));
  }
}

TEST(Plan, PixelsAreConvertedOnceWhereAStepTakesNone) {
  GraphBuilder builder({-1, 1, 8, 8});
  const ValueId a = builder.max_pool(builder.input(), 2, "max");
  const ValueId b =
      builder.add(PoolOp{{.kind = PoolKind::average, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2}},
                  {builder.input()}, "average");
  builder.add(AddOp{}, {a, b}, "add");
  const Plan plan = plan_of(builder, {.input = ElementType::u8});
  EXPECT_THAT(steps_of(plan), ElementsAre("x: Convert", "max: MaxPool", "average: AveragePool", "add: Add"));
  EXPECT_EQ(plan.steps[0].what.inputs[0].format, kRawPixels);
  expect_no_overlap(plan);
}

TEST(Plan, ActivationsTakePixelsThemselves) {
  GraphBuilder builder({-1, 4});
  builder.activation(builder.input(), ActivationKind::tanh, "tanh");
  EXPECT_THAT(steps_of(plan_of(builder, {.input = ElementType::u8})), ElementsAre("tanh: Tanh"));
}

TEST(Plan, NetworksThatOnlyReshapeCopy) {
  for (const ElementType input : {ElementType::f32, ElementType::u8}) {
    GraphBuilder builder({-1, 4, 2});
    builder.add(FlattenOp{}, {builder.input()}, "flatten");
    const Plan plan = plan_of(builder, {.input = input});
    EXPECT_THAT(steps_of(plan), ElementsAre(input == ElementType::u8 ? "output: Convert" : "output: Copy"));
    EXPECT_EQ(plan.steps[0].inputs[0].place, Location::Place::input);
    EXPECT_EQ(plan.steps[0].output.place, Location::Place::output);
  }
}

TEST(Plan, AnOutputThatIsReshapedIsWrittenInPlace) {
  GraphBuilder builder({-1, 4, 2});
  const ValueId x = builder.activation(builder.input(), ActivationKind::relu, "relu");
  builder.add(FlattenOp{}, {x}, "flatten");
  const Plan plan = plan_of(builder);
  EXPECT_THAT(steps_of(plan), ElementsAre("relu: Relu"));
  EXPECT_EQ(plan.steps[0].output.place, Location::Place::output);
}

TEST(Plan, AForcedKernelIsTheOneAndTheOthersSayWhyNot) {
  GraphBuilder builder = course_network();
  const Plan plan = plan_of(builder, {.kernel = "cpu.reference"});
  EXPECT_EQ(plan.steps[0].kernel->info.name, "cpu.reference");
  EXPECT_EQ(plan.steps[1].kernel->info.name, "cpu.reference");
  size_t others = 0;
  for (const Kernel& kernel : conv_kernels()) {
    others += kernel.info.device == DeviceKind::cpu && kernel.info.name != "cpu.reference";
  }
  EXPECT_EQ(plan.steps[0].refused.size(), others);
  const auto refused = [](std::string_view kernel, const std::string& reason) {
    return Contains(AllOf(Field(&Refused::kernel, kernel), Field(&Refused::reason, HasSubstr(reason))));
  };
  EXPECT_THAT(plan.steps[0].refused, refused("cpu.test_plain", "is not supported"));
  EXPECT_THAT(plan.steps[0].refused, refused("cpu.test_bf16", "bf16 is less precise than"));
  EXPECT_THAT(plan.steps[0].refused, refused("cpu.test_refusing", "Sundays"));
  EXPECT_THAT(plan.steps[0].refused, refused("testlib", "supported, but cpu.reference was requested"));
  EXPECT_THAT(to_text(plan),
              AllOf(HasSubstr("by cpu.reference"), HasSubstr("cpu.test_refusing not used: computes nothing")));
}

TEST(Plan, WhatAKernelRefusesBecomesStepsOfTheirOwn) {
  GraphBuilder builder = course_network();
  const Plan plan = plan_of(builder, {.kernel = "cpu.test_plain", .input = ElementType::u8});
  EXPECT_THAT(steps_of(plan),
              ElementsAre("x: Convert", "conv1: Conv", "conv1.bias: Add", "pool1: MaxPool", "tanh1: Tanh",
                          "conv2: Conv", "conv2.bias: Add", "fc1+tanh2: Gemm+tanh", "fc2: Gemm", "softmax: Softmax"));
  EXPECT_EQ(plan.steps[1].kernel->info.name, "cpu.test_plain");
  EXPECT_EQ(plan.steps[5].kernel->info.name, "cpu.test_plain");
  expect_no_overlap(plan);
}

TEST(Plan, AKernelKeepsWhatItTakes) {
  GraphBuilder builder = course_network();
  const Plan plan = plan_of(builder, {.kernel = "cpu.test_biased", .input = ElementType::u8});
  EXPECT_THAT(steps_of(plan), ElementsAre("conv1: Conv+bias", "pool1: MaxPool", "tanh1: Tanh", "conv2: Conv+bias",
                                          "fc1+tanh2: Gemm+tanh", "fc2: Gemm", "softmax: Softmax"));
  EXPECT_EQ(plan.steps[0].workspace_bytes, 4000);
  expect_no_overlap(plan);
}

TEST(Plan, NeverComputesLessPreciselyThanAsked) {
  GraphBuilder builder = course_network();
  for (const PlanStep& step : plan_of(builder).steps) {
    EXPECT_TRUE(!step.is_conv() || step.kernel->info.math == Math::fp32) << step.kernel->info.name;
  }
  EXPECT_EQ(plan_of(builder, {.math = Math::bf16, .kernel = "cpu.test_bf16"}).steps[0].kernel->info.name,
            "cpu.test_bf16");
  const std::string message =
      bad_input_message([&] { plan_of(builder, {.math = Math::tf32, .kernel = "cpu.test_bf16"}); });
  EXPECT_THAT(message, AllOf(HasSubstr("bf16"), HasSubstr("tf32"), HasSubstr("set math to bf16")));
}

TEST(Plan, LibrariesAreTakenOnlyWhenAsked) {
  GraphBuilder builder = course_network();
  EXPECT_NE(plan_of(builder).steps[0].kernel->info.name, "testlib");
  EXPECT_EQ(plan_of(builder, {.kernel = "testlib"}).steps[0].kernel->info.name, "testlib");
}

TEST(Plan, KeepsPairsInLanesBetweenKernelsOfBfloat16) {
  GraphBuilder builder = course_network();
  for (const auto& [math, kernel, format] : {std::tuple{Math::bf16, "cpu.nchw16n2c_bf16", kNchw16n2cBf16},
                                             std::tuple{Math::bf16x2, "cpu.nchw16n2c_bf16x2", kNchw16n2cBf16x2}}) {
    const Plan plan = plan_of(builder, {.math = math, .kernel = kernel, .input = ElementType::u8}, 20);
    EXPECT_EQ(plan.steps[0].what.outputs[0].format, format);
    EXPECT_EQ(plan.steps[1].what.inputs[0].format, format);
    EXPECT_EQ(plan.steps[2].what.inputs[0].format, format);
    EXPECT_EQ(plan.steps[2].what.inputs[0].written, plan.steps[1].what.outputs[0].shape) << "before the flatten";
    EXPECT_EQ(plan.steps[2].kernel->info.math, math);
    EXPECT_EQ(plan.steps[4].what.inputs[0].format, kNchw);
    expect_no_overlap(plan);
  }
}

TEST(Plan, LeavesOutKernelsThatTheMachineCannotRun) {
  GraphBuilder builder = course_network();
  const Plan plan = plan_of(builder, {.math = Math::bf16x2, .input = ElementType::u8}, 20);
  const bool amx = !require_conv_kernel("cpu.nchw16n2c_amx_bf16x2", DeviceKind::cpu).absent();
  EXPECT_EQ(plan.steps[0].kernel->info.name, amx ? "cpu.nchw16n2c_amx_bf16x2" : "cpu.nchw16n_direct");
  EXPECT_EQ(plan.steps[0].what.outputs[0].format, amx ? kNchw16n2cBf16x2 : kNchw16n);
}

TEST(Plan, KeepsImagesInLanesBetweenStepsOfLargeBatches) {
  GraphBuilder builder = course_network();
  const Plan plan = plan_of(builder, {.input = ElementType::u8}, 20);
  EXPECT_EQ(plan.steps[0].kernel->info.name, "cpu.nchw16n_direct");
  EXPECT_EQ(plan.steps[0].what.inputs[0].format, kRawPixels);
  EXPECT_EQ(plan.steps[0].what.outputs[0].format, kNchw16n);
  EXPECT_EQ(plan.steps[1].what.inputs[0].format, kNchw16n);
  EXPECT_EQ(plan.steps[1].what.outputs[0].format, kNchw16n) << "through the flatten";
  EXPECT_EQ(plan.steps[2].kernel->info.name, "cpu.nchw16n_dense");
  EXPECT_EQ(plan.steps[2].what.outputs[0].format, kNchw16n);
  EXPECT_EQ(plan.steps[3].what.inputs[0].format, kNchw16n);
  EXPECT_EQ(plan.steps[3].what.outputs[0].format, kNchw) << "softmax takes no lanes";
  EXPECT_EQ(plan.steps[4].what.inputs[0].format, kNchw);
  expect_no_overlap(plan);
  EXPECT_THAT(to_text(plan), HasSubstr("nchw16n"));
}

TEST(Plan, TakesWinogradWhereImagesAreInLanesAndChannelsEnough) {
  GraphBuilder builder({-1, 2, 20, 20});
  ValueId x = builder.conv(builder.input(), 8, 2, 5, true, "a");
  x = builder.activation(x, ActivationKind::tanh, "tanh");
  x = builder.conv(x, 16, 8, 5, true, "b");
  builder.conv(x, 4, 16, 3, false, "c");
  const Plan plan = plan_of(builder, {}, 16);
  EXPECT_EQ(plan.steps[0].kernel->info.name, "cpu.nchw16n_direct");
  EXPECT_EQ(plan.steps[1].kernel->info.name, "cpu.nchw16n_winograd");
  EXPECT_EQ(plan.steps[2].kernel->info.name, "cpu.nchw16n_direct") << "of four maps alone";
  EXPECT_EQ(plan_of(builder, {}, 4).steps[1].kernel->info.name, "cpu.direct");
}

TEST(Plan, KeepsImagesPlainInSmallBatchesAndByLayers) {
  GraphBuilder builder = course_network();
  const auto reason = [](const Plan& plan) {
    for (const Refused& refused : plan.steps[0].refused) {
      if (refused.kernel == "cpu.nchw16n_direct") return refused.reason;
    }
    return std::string();
  };
  for (const Plan& plan : {plan_of(builder, {}, 11), plan_of(builder, {.mode = PlanMode::layers}, 20)}) {
    for (const PlanStep& step : plan.steps) {
      if (step.is_conv()) {
        EXPECT_EQ(step.kernel->info.name, "cpu.direct");
      } else {
        EXPECT_EQ(step.what.inputs[0].format, kNchw);
      }
    }
  }
  EXPECT_THAT(reason(plan_of(builder, {}, 11)), HasSubstr("batch size must be at least 12"));
  EXPECT_THAT(reason(plan_of(builder, {.mode = PlanMode::layers}, 20)), HasSubstr("between steps"));
}

TEST(Plan, KeepsAValuePlainIfOneOfItsReadersWantsIt) {
  GraphBuilder builder({-1, 2, 8, 8});
  const ValueId a = builder.conv(builder.input(), 4, 2, 3, false, "a");
  const ValueId b = builder.conv(a, 4, 4, 1, false, "b");
  builder.conv(builder.add(AddOp{}, {a, b}, "sum"), 4, 4, 3, false, "c");
  for (const PlanStep& step : plan_of(builder, {}, 32).steps) {
    if (!step.is_conv()) continue;
    EXPECT_EQ(step.what.inputs[0].format, kNchw);
    EXPECT_EQ(step.what.outputs[0].format, kNchw);
  }
}

TEST(Plan, AForcedKernelThatDoesNotFitIsAnErrorWithItsReason) {
  GraphBuilder builder = course_network();
  EXPECT_THAT(bad_input_message([&] { plan_of(builder, {.kernel = "cpu.test_refusing"}); }),
              AllOf(HasSubstr("conv1"), HasSubstr("Sundays"), HasSubstr("cpu.test_refusing")));
  EXPECT_THAT(bad_input_message([&] { plan_of(builder, {.kernel = "cpu.referense"}); }), HasSubstr("cpu.reference"));
}

TEST(Plan, ShapesThatDoNotFitNameTheNode) {
  GraphBuilder builder({-1, 3, 8, 8});
  builder.conv(builder.input(), 4, 2, 3, false, "wrong");
  EXPECT_THAT(bad_input_message([&] { plan_of(builder); }), HasSubstr("wrong"));
}

}  // namespace
}  // namespace convlab
