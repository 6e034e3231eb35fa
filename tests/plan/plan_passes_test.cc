// Tests each pass of the planner by itself: which nodes are fused, which formats values get, which kernels compute the
// steps, and where arrays are placed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convlab/base/error.h"
#include "convlab/device/cpu.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/plan/assign_formats.h"
#include "convlab/plan/choose.h"
#include "convlab/plan/fuse.h"
#include "convlab/plan/place.h"
#include "convlab/plan/planner.h"
#include "convlab/plan/prepare.h"
#include "tests/plan/wide_graph.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const DeviceCaps kCpu{.kind = DeviceKind::cpu, .threads = 2, .memory_bytes = int64_t{1} << 30};

Shape images_of(const Graph& graph, int64_t n) {
  Shape shape = graph.inputs[0].shape;
  shape[0] = n;
  return shape;
}

/// A request with the graph and options that it refers to.
struct Request {
  explicit Request(GraphBuilder& builder, int64_t n = 4, PlanOptions given = {})
      : graph(copy_of(builder.graph())),
        options(std::move(given)),
        value(plan_request(graph, images_of(graph, n), kCpu, options)) {}

  Draft draft() const { return assign_formats(value, fuse(value)); }

  Graph graph;
  PlanOptions options;
  PlanRequest value;
};

/// Returns "pattern in formats: names of the nodes" of each fusion that begins at node `place`.
std::vector<std::string> fusions_of(const Request& request, size_t place) {
  std::vector<std::string> result;
  const std::vector<std::vector<Fusion>> fusions = fuse(request.value);
  for (const Fusion& fusion : fusions[place]) {
    const std::string pattern(fusion.nodes.size() > 1 ? fusion.pattern : "alone");
    result.push_back(
        fmt::format("{} in {}: {}", pattern, name_of(fusion.kept), fusion.name_with(fusion.step.epilogue)));
  }
  return result;
}

/// conv1, tanh, pool, dense layer with activation.
GraphBuilder small_network() {
  GraphBuilder builder({-1, 1, 12, 12});
  ValueId x = builder.activation(builder.conv(builder.input(), 4, 1, 5, true, "conv"), ActivationKind::tanh, "tanh");
  x = builder.add(FlattenOp{}, {builder.max_pool(x, 2, "pool")}, "flatten");
  x = builder.add(GemmOp{}, {x, builder.constant({64, 10}), builder.constant({10})}, "dense");
  builder.activation(x, ActivationKind::relu, "relu");
  return builder;
}

TEST(FusePass, ListsWhatOneStepMayCompute) {
  GraphBuilder builder = small_network();
  const Request request(builder);
  EXPECT_THAT(fusions_of(request, 0), ElementsAre("convolution + pooling + activation in any format: conv+pool+tanh"));
  EXPECT_THAT(fusions_of(request, 1), ElementsAre("alone in any format: tanh")) << "if the convolution leaves it";
  EXPECT_THAT(fusions_of(request, 3), IsEmpty()) << "flatten only reshapes";
  EXPECT_THAT(fusions_of(request, 4),
              ElementsAre("dense layer + activation in any format: dense+relu", "alone in any format: dense"));
}

TEST(FusePass, FusesNothingByLayers) {
  GraphBuilder builder = small_network();
  const Request request(builder, 4, {.mode = PlanMode::layers});
  for (const std::vector<Fusion>& ways : fuse(request.value)) {
    for (const Fusion& way : ways) EXPECT_EQ(way.nodes.size(), 1U);
  }
}

TEST(FusePass, AddsResidualsInChannels) {
  WideGraph builder;
  const ValueId first = builder.conv(builder.input(), 3, 16, 3);
  const ValueId sum = builder.add(AddOp{}, {builder.conv(first, 16, 16, 3), first});
  builder.activation(sum, ActivationKind::relu);
  const Request request(builder);
  EXPECT_THAT(fusions_of(request, 1), ElementsAre("convolution + addition + activation in channels: n1+n2+n3",
                                                  "alone in channels: n1", "alone in any format: n1"));
}

TEST(FusePass, MakesADenseLayerOfAProductAndItsBias) {
  GraphBuilder builder({-1, 7, 16});
  const ValueId x = builder.add(MatMulOp{}, {builder.input(), builder.constant({16, 10})}, "product");
  builder.activation(builder.add(AddOp{}, {builder.constant({10}), x}, "bias"), ActivationKind::relu, "relu");
  const Request request(builder, 2);
  EXPECT_THAT(fusions_of(request, 0), ElementsAre("matrix product + bias + activation in any format: product+bias+relu",
                                                  "alone in any format: product"));
  const Plan plan = make_plan(request.graph, images_of(request.graph, 2), kCpu, {});
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_EQ(plan.steps[0].kernel->info.name, "cpu.dense");
  EXPECT_EQ(plan.steps[0].what.inputs[0].shape, (Shape{14, 16})) << "images and rows";
}

TEST(FusePass, APatternEndsWhereAnotherNodeReadsTheValue) {
  GraphBuilder builder({-1, 1, 12, 12});
  const ValueId x = builder.conv(builder.input(), 4, 1, 5, true, "conv");
  const ValueId tanh = builder.activation(x, ActivationKind::tanh, "tanh");
  builder.add(AddOp{}, {x, tanh}, "add");
  const Request request(builder);
  EXPECT_THAT(fusions_of(request, 0), ElementsAre("alone in any format: conv"));
}

TEST(FormatPass, KeepsBlocksOfImagesWhereReadersSupportThem) {
  GraphBuilder builder({-1, 1, 20, 20});
  const ValueId x = builder.conv(builder.input(), 6, 1, 5, true, "conv1");
  builder.conv(x, 6, 6, 5, true, "conv2");
  const Draft draft = Request(builder, 16).draft();
  ASSERT_EQ(draft.steps.size(), 2U);
  EXPECT_EQ(draft.steps[0].what.outputs[0].format, kNchw16n);
  EXPECT_EQ(draft.steps[1].what.inputs[0].format, kNchw16n);
  EXPECT_EQ(draft.steps[1].what.outputs[0].format, kNchw);
  EXPECT_EQ(Request(builder, 2).draft().steps[0].what.outputs[0].format, kNchw) << "2 of 16 lanes";
}

TEST(FormatPass, ConvertsForOperatorsWithoutAKernelInChannels) {
  WideGraph builder;
  const ValueId x = builder.conv(builder.input(), 3, 16, 3);
  builder.conv(builder.add(SoftmaxOp{.axis = 3}, {x}), 16, 16, 3);
  const Draft draft = Request(builder).draft();
  std::vector<std::string> formats;
  for (const DraftStep& step : draft.steps) formats.push_back(name_of(step.what.outputs[0].format));
  // The first convolution, a copy, softmax, a copy, the second convolution, and a copy to the output.
  EXPECT_THAT(formats, ElementsAre("nchw8c", "nchw", "nchw", "nchw8c", "nchw8c", "nchw"));
}

TEST(FormatPass, WritesConcatenatedChannelsInPlace) {
  WideGraph builder;
  builder.concatenations();
  const Draft draft = Request(builder).draft();
  for (const DraftStep& step : draft.steps) {
    EXPECT_FALSE(std::holds_alternative<ConcatOp>(step.what.op)) << step.name;
    const int64_t pitch = draft.arrays[step.output].joint ? 40 * kHeight * kWidth : 0;
    EXPECT_EQ(step.what.outputs[0].pitch, pitch) << step.name;
  }
}

TEST(FormatPass, EveryStepHasAKernel) {
  WideGraph builder;
  builder.gated();
  for (const int64_t n : {1, 16}) {
    for (const DraftStep& step : Request(builder, n).draft().steps) EXPECT_FALSE(step.kernels.empty()) << step.name;
  }
}

TEST(ChoosePass, TakesThePreferredKernelAndSaysWhyNotOthers) {
  GraphBuilder builder = small_network();
  const Request request(builder);
  const Draft draft = request.draft();
  const Plan plan = choose(request.value, draft);
  ASSERT_EQ(plan.steps.size(), draft.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) EXPECT_EQ(plan.steps[i].kernel, draft.steps[i].kernels[0]);
  EXPECT_EQ(plan.steps[0].kernel->info.name, "cpu.direct");
  const auto reference = testing::AllOf(testing::Field(&Refused::kernel, "cpu.reference"),
                                        testing::Field(&Refused::reason, "supported, but cpu.direct is preferred"));
  EXPECT_THAT(plan.steps[0].refused, testing::Contains(reference));
}

TEST(ChoosePass, NamesTheNodesThatNoKernelComputes) {
  GraphBuilder builder = small_network();
  const Request request(builder);
  Draft draft = request.draft();
  draft.steps.back().kernels.clear();
  EXPECT_THAT(error_message(ErrorKind::unavailable, [&] { choose(request.value, draft); }),
              HasSubstr("not supported on cpu: Gemm (node 'dense+relu')"));
}

TEST(ChoosePass, NamesTheNodeOnADeviceWithoutKernels) {
  constexpr auto kKind = static_cast<DeviceKind>(99);
  EXPECT_NO_THROW(require_math(Math::fp32, kKind, "--math")) << "there is no other arithmetic to advise";
  GraphBuilder builder = small_network();
  const Graph& graph = builder.graph();
  EXPECT_THAT(
      error_message(ErrorKind::unavailable, [&] { make_plan(graph, images_of(graph, 1), {.kind = kKind}, {}); }),
      HasSubstr("node 'conv' (Conv, c1h12w12_k4r5s5): no kernel on"));
}

TEST(PlacePass, ArraysInUseAtTheSameTimeDoNotOverlap) {
  // Step 0 writes array 0; step 1 writes 1, a part of 2; step 2 reads 0 and 2 and writes 3; step 3 reads 3.
  Draft draft;
  draft.arrays = {{.bytes = 512}, {.joint = 2, .at = 256}, {.bytes = 1024}, {.bytes = 512}};
  draft.arrays.push_back({.place = Location::Place::output, .number = 0});
  draft.steps.resize(4);
  draft.steps[0].output = 0;
  draft.steps[1].output = 1;
  draft.steps[2].inputs = {0, 2};
  draft.steps[2].output = 3;
  draft.steps[3].inputs = {3};
  draft.steps[3].output = 4;
  Plan plan;
  plan.steps.resize(4);
  place(draft, plan);
  EXPECT_EQ(plan.arena_bytes, 2048);
  EXPECT_EQ(plan.steps[1].output.at, plan.steps[2].inputs[1].at + 256) << "the part is inside";
  EXPECT_NE(plan.steps[2].output, plan.steps[2].inputs[0]);
  EXPECT_EQ(plan.steps[3].output, (Location{Location::Place::output, 0}));
}

TEST(Passes, ArePrinted) {
  GraphBuilder builder = small_network();
  const Graph& graph = builder.graph();
  const std::string text = passes_text(graph, images_of(graph, 4), kCpu, {});
  EXPECT_THAT(text, HasSubstr("  dense: dense layer + activation (2 nodes), or alone\n"));
  EXPECT_THAT(text, HasSubstr("  conv+pool+tanh: nchw 4x1x12x12 -> nchw 4x4x4x4, "));
  EXPECT_THAT(text, HasSubstr("  conv+pool+tanh: cpu.direct, before "));
  EXPECT_THAT(text, HasSubstr("  dense+relu: arena "));
  EXPECT_THAT(text, HasSubstr(" -> output\n"));
}

}  // namespace
}  // namespace convlab
