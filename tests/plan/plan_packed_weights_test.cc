// Tests that constant weights packed by kernels are freed if nothing else reads them, and only then.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/engine/ready_plans.h"
#include "convlab/kernels/registry.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tensor batch_of(int64_t n) {
  Rng rng(3);
  Tensor x(ElementType::f32, {n, 3, 8, 8});
  for (float& each : x.values<float>()) each = rng.uniform(-1, 1);
  return x;
}

/// Two convolutions and a dense layer.
GraphBuilder network() {
  GraphBuilder builder({-1, 3, 8, 8});
  const ValueId y = builder.conv(builder.conv(builder.input(), 4, 3, 3, true), 5, 4, 3, true);
  builder.add(GemmOp{}, {builder.add(FlattenOp{}, {y}), builder.constant({80, 10}), builder.constant({10})});
  return builder;
}

/// Returns the shapes of the constants that an engine for n images frees.
std::vector<Shape> given_up(Graph model, int64_t n, EngineOptions options) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  const std::unique_ptr<Stream> stream = device->make_stream();
  BatchedGraph graph(std::move(model), Shape{n, 3, 8, 8}, device->caps(), options);
  const ReadyPlans plans(graph, n, *device, *stream, options);
  std::vector<Shape> shapes;
  for (const auto& [value, tensor] : graph.graph().constants) {
    if (tensor.empty()) shapes.push_back(tensor.shape());
  }
  return shapes;
}

TEST(PackedWeights, AreGivenUpWhereNoOtherNumberOfImagesWillCome) {
  const Graph graph = network().take();
  for (const int64_t n : {1, 16, 20}) {
    EXPECT_THAT(given_up(graph.clone(), n, {.same_count = true}),
                ElementsAre(Shape{4, 3, 3, 3}, Shape{5, 4, 3, 3}, Shape{80, 10}))
        << n;
    EXPECT_THAT(given_up(graph.clone(), n, {}), IsEmpty()) << n;
  }
}

TEST(PackedWeights, StayWhereAKernelReadsThem) {
  EXPECT_THAT(given_up(network().take(), 1, {.plan = {.kernel = "cpu.im2col_gemm"}, .same_count = true}),
              ElementsAre(Shape{80, 10}));
}

TEST(PackedWeights, StayWhereAnotherStepReadsThem) {
  GraphBuilder builder({3, 3, 8, 8});
  const ValueId shared = builder.constant({3, 3, 3, 3});
  const ValueId y = builder.add(ConvOp{.stride_h = 2, .stride_w = 2}, {builder.input(), shared});
  builder.add(AddOp{}, {y, shared});
  EXPECT_THAT(given_up(builder.take(), 3, {.same_count = true}), IsEmpty());
}

TEST(PackedWeights, GoWhenTheLastOfTheirReadersHasPackedThem) {
  GraphBuilder builder({-1, 3, 8, 8});
  const ValueId shared = builder.constant({3, 3, 3, 3});
  builder.add(ConvOp{}, {builder.add(ConvOp{}, {builder.input(), shared}), shared});
  EXPECT_THAT(given_up(builder.take(), 1, {.same_count = true}), ElementsAre(Shape{3, 3, 3, 3}));
}

TEST(PackedWeights, ResultsAreTheSameBits) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  for (const int64_t n : {1, 16, 20, 37}) {  // 20 images are computed as 16 and 4, by different kernels
    const Tensor x = batch_of(n);
    const Graph graph = network().take();
    Engine keeps(graph.clone(), x.shape(), *device, {.batch = 20});
    Engine gives_up(graph.clone(), x.shape(), *device, {.batch = 20, .same_count = true});
    const Tensor expected = keeps.run(x);
    for (int pass = 0; pass < 2; ++pass) {
      const Tensor y = gives_up.run(x);
      EXPECT_EQ(std::memcmp(y.raw(), expected.raw(), y.bytes()), 0) << n;
    }
  }
}

TEST(PackedWeights, ANumberOfImagesThatAFixedBatchDoesNotDivideIsExplained) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  GraphBuilder builder({4, 3, 8, 8});
  builder.add(ReduceOp{.kind = ReduceKind::mean, .axes = {0}}, {builder.conv(builder.input(), 4, 3, 3)});
  EXPECT_THAT(bad_input_message([&] {
                Engine(builder.graph().clone(), Shape{3, 3, 8, 8}, *device, {.same_count = true});
              }),
              HasSubstr(bad_input_message([&] {
                Engine(builder.graph().clone(), Shape{3, 3, 8, 8}, *device, {});
              })));
}

TEST(PackedWeights, AnotherNumberOfImagesIsRefused) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  Engine engine(network().take(), Shape{4, 3, 8, 8}, *device, {.same_count = true});
  EXPECT_THAT(bad_input_message([&] { engine.run(batch_of(3)); }), HasSubstr("batch size 3 is not supported"));
}

/// Otherwise a network's weights would be in memory twice.
TEST(PackedWeights, KernelsOnAHostThatPrepareNeedNothingElse) {
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.device != DeviceKind::cpu || kernel.info.library) continue;
    // Launches on pixel inputs read the weights to check whether sums stay finite.
    if (kernel.is_conv() && (kernel.format == kNchw16n2cBf16 || kernel.format == kNchw16n2cBf16x2)) continue;
    EXPECT_EQ(kernel.packs_weights, kernel.prepare != nullptr) << kernel.info.name;
  }
}

}  // namespace
}  // namespace convlab
