// Tests that fused plans compute what plans by layers do, and batches of any size the same bits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convlab/kernels/registry.h"
#include "tests/engine/engine_checks.h"

namespace convlab {
namespace {

/// A random network of 3 to 12 operators, with branches.
Graph random_graph(uint64_t seed) {
  GraphBuilder builder({-1, 3, 12, 12}, seed);
  Rng& rng = builder.rng();
  struct Image {
    ValueId value;
    int64_t c, side;
  };
  std::vector<Image> alive{{builder.input(), 3, 12}};
  const int64_t count = rng.integer(3, 12);
  for (int64_t i = 0; i < count; ++i) {
    // Mostly the newest value, to get chains that can be fused.
    const size_t pick =
        rng.integer(0, 3) != 0 ? alive.size() - 1 : static_cast<size_t>(rng.integer(0, std::ssize(alive) - 1));
    Image x = alive[pick];
    switch (rng.integer(0, 9)) {
      case 0:
      case 1: {
        const int64_t maps = rng.integer(1, 5), filter = rng.integer(1, std::min<int64_t>(3, x.side));
        x.value = builder.conv(x.value, maps, x.c, filter, rng.integer(0, 1) == 0);
        x.c = maps, x.side -= filter - 1;
        break;
      }
      case 2:
        x.value = builder.activation(x.value, static_cast<ActivationKind>(rng.integer(1, 5)));
        break;
      case 3:
        if (x.side < 2) continue;
        x.value = builder.max_pool(x.value);
        x.side /= 2;
        break;
      case 4:
        x.value = builder.add(PoolOp{{.kind = PoolKind::average,
                                      .kernel_h = 2,
                                      .kernel_w = 2,
                                      .pad_bottom = 1,
                                      .pad_right = 1,
                                      .count_include_pad = rng.integer(0, 1) == 0}},
                              {x.value});
        break;
      case 5:
        x.value = builder.batch_norm(x.value, x.c);
        break;
      case 6:
        x.value = builder.add(MulOp{}, {x.value, builder.constant({x.c, 1, 1})});
        break;
      case 7:
        x.value = builder.add(AddOp{}, {builder.constant({1, x.c, 1, 1}), x.value});
        break;
      case 8: {
        x.value = builder.add(PadOp{PadMode::constant, {0, 0, 1, 0, 0, 0, 1, 2}}, {x.value});
        const int64_t maps = rng.integer(1, 4);
        x.value = builder.add(
            ConvOp{
                .pad_bottom = 1,
            },
            {x.value, builder.constant({maps, x.c, 2, 2})});
        x.c = maps;
        // Padding and convolution changed the height by +1 +1 +1 -1 and the width by +2 -1. Crop both back to the old
        // size.
        x.value = builder.add(PadOp{PadMode::constant, {0, 0, -1, 0, 0, 0, -1, -1}}, {x.value});
        break;
      }
      case 9: {
        const Image& y = alive[static_cast<size_t>(rng.integer(0, std::ssize(alive) - 1))];
        if (y.side != x.side) continue;
        if (y.c == x.c && rng.integer(0, 1) == 0) {
          x.value = builder.add(AddOp{}, {x.value, y.value});
        } else {
          x.value = builder.add(ConcatOp{1}, {x.value, y.value});
          x.c += y.c;
        }
        break;
      }
    }
    alive.push_back(x);
  }
  const Image last = alive.back();
  if (last.value != builder.input() && rng.integer(0, 1) == 0) {
    const int64_t pixels = last.c * last.side * last.side;
    ValueId x = builder.add(FlattenOp{}, {last.value});
    x = builder.add(MatMulOp{}, {x, builder.constant({pixels, 7})});
    x = builder.add(AddOp{}, {x, builder.constant({7})});
    builder.activation(x, ActivationKind::sigmoid);
  }
  return builder.take();
}

TEST(Engine, FusedIsAsByLayersOnRandomGraphs) {
  int fewer_steps = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    if (graph.nodes.empty()) continue;
    const Tensor x = images({3, 3, 12, 12}, ElementType::f32, seed);
    const std::unique_ptr<Device> device = open_cpu({.threads = 1});
    Engine layers(copy_of(graph), x.shape(), *device, {.plan = {.mode = PlanMode::layers, .kernel = "cpu.reference"}});
    Engine fused(copy_of(graph), x.shape(), *device, {});
    expect_close(fused.run(x), layers.run(x), 2e-5);
    fewer_steps += fused.plan().steps.size() < layers.plan().steps.size();
  }
  EXPECT_GT(fewer_steps, 75);
}

/// Returns the CPU's fp32 kernels with bitwise repeatable results and direct sums, and "" for the planner's choice.
/// Other kernels support few convolutions, and the remaining images of a batch are computed by different kernels with
/// different rounding.
std::vector<std::string> bitwise_kernels() {
  std::vector<std::string> names{""};
  for (const Kernel& kernel : conv_kernels()) {
    const bool ours = kernel.info.name.starts_with("cpu.") && kernel.info.math == Math::fp32;
    const bool direct = kernel.info.sum == Sum::direct && kernel.format != kNchw8c;
    if (ours && direct && kernel.info.repeat == Repeat::bitwise) names.emplace_back(kernel.info.name);
  }
  return names;
}

TEST(Engine, PreparedWeightsDoNotDependOnTheBatch) {
  const std::unique_ptr<Device> device = open_cpu({});
  int compared = 0;
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device != DeviceKind::cpu || kernel.prepared_bytes == nullptr) continue;
    for (const char* text : {"c1h70w70_k12r5s5", "c12h33w33_k24r5s5", "c12h33w33_k24r7s7", "c8h9w9_k8r3s3_p1_g2"}) {
      ConvStep one{.problem = parse_problem(text)}, many = one;
      many.problem.n = 1000;
      if (kernel.refuses(one, device->caps()) || kernel.refuses(many, device->caps())) continue;
      EXPECT_EQ(kernel.prepared_bytes(one, device->caps()), kernel.prepared_bytes(many, device->caps()))
          << kernel.info.name << " " << text;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(Engine, SplitBatchesGiveTheSameBits) {
  const Graph graph = course_network().take();
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const Tensor x = images({37, 1, 20, 20}, type);
    for (const std::string& kernel : bitwise_kernels()) {
      const Tensor whole = run(graph, x, {.plan = {.kernel = kernel}, .batch = 37});
      for (const int64_t batch : {1, 2, 16, 36, 100}) {
        EXPECT_TRUE(same_bits(run(graph, x, {.plan = {.kernel = kernel}, .batch = batch}), whole)) << batch << kernel;
      }
      EXPECT_TRUE(same_bits(run(graph, x, {.plan = {.kernel = kernel}}, 1), whole)) << "threads, " << kernel;
    }
  }
}

TEST(Engine, RandomGraphsSplitInTheSameBits) {
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = random_graph(seed);
    const Tensor x = images({5, 3, 12, 12}, ElementType::f32, seed);
    EXPECT_TRUE(same_bits(run(graph, x, {.batch = 2}), run(graph, x, {.batch = 5})));
  }
}

TEST(Engine, FewImagesBeyondWholeSixteensAreABatchOfTheirOwn) {
  const Graph graph = course_network().take();
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  for (const int64_t n : {12, 16, 17, 28, 32, 33, 50, 63}) {
    const Tensor x = images({n, 1, 20, 20});
    Engine whole(copy_of(graph), x.shape(), *device, {.batch = 64}),
        single(copy_of(graph), x.shape(), *device, {.batch = 1});
    const Tensor y = whole.run(x);
    EXPECT_TRUE(same_bits(y, single.run(x))) << n;
    // run_timed() adds the times of the remaining images to the full batch's steps, even if other kernels compute them.
    Tensor timed(ElementType::f32, y.shape());
    const std::vector<double> seconds = whole.run_timed(x.raw(), n, timed.values<float>().data());
    EXPECT_EQ(seconds.size(), whole.plan().steps.size());
    EXPECT_TRUE(same_bits(timed, y)) << n;
  }
}

}  // namespace
}  // namespace convlab
