// Tests runs whose images are shared among several devices: results equal those of one engine bit for bit.

#include "convlab/session/ready_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "convlab/device/cuda.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/model/formats/zoo.h"
#include "tests/session/models_to_run.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// The CPU's kernels, for a device that claims to be a GPU.
const RegisterConvKernel far_conv{{
    .info = {.name = "cuda.test_conv", .device = DeviceKind::cuda, .idea = "for tests"},
    .refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return std::nullopt; },
    .launch = [](const ConvArgs& args,
                 Stream& stream) { call(find_kernel("cpu.reference", DeviceKind::cpu)->launch, args, stream); },
}};
const RegisterKernel far_op{{
    .info = {.name = "cuda.test_op", .device = DeviceKind::cuda, .family = Family::rearrangement},
    .refuses = [](const Step& step, const DeviceCaps&) -> Refusal {
      if (!std::holds_alternative<PoolOp>(step.op)) return "is no pooling";
      return std::nullopt;
    },
    .launch = [](const Args& args, Stream& stream) { find_kernel(args.step, DeviceCaps())->launch(args, stream); },
}};

TEST(Shares, AreEvenInWholeSixteens) {
  EXPECT_THAT(shares_of(1000, 1), ElementsAre(1000));
  EXPECT_THAT(shares_of(1000, 2), ElementsAre(496, 504));
  EXPECT_THAT(shares_of(10000, 3), ElementsAre(3344, 3328, 3328));
  EXPECT_THAT(shares_of(33, 2), ElementsAre(16, 17));
  EXPECT_THAT(shares_of(32, 2), ElementsAre(16, 16));
  EXPECT_THAT(shares_of(31, 2), ElementsAre(16, 15));
  EXPECT_THAT(shares_of(10, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(shares_of(2, 4), ElementsAre(1, 1));
  EXPECT_THAT(shares_of(1, 4), ElementsAre(1));
  for (size_t devices = 1; devices <= 9; ++devices) {
    for (int64_t n = 1; n < 500; ++n) {
      const std::vector<int64_t> shares = shares_of(n, devices);
      EXPECT_EQ(shares.size(), std::min(devices, static_cast<size_t>(n)));
      EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), int64_t{0}), n);
      EXPECT_GE(std::ranges::min(shares), 1);
      EXPECT_LE(std::ranges::max(shares) - std::ranges::min(shares), 16);
    }
  }
}

TEST(ReadyModel, ComputesWhatOneEngineComputes) {
  const Graph graph = network().take();
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const Tensor x = images({1000, 1, 12, 12}, type);
    const EngineOptions options = options_for(x);
    const std::unique_ptr<Device> alone = open_cpu({.threads = 2});
    for (const size_t count : {1, 2, 3}) {
      const Devices devices = hosts(count);
      ReadyModel large(graph.clone(), x.shape(), devices, options);
      for (const int64_t n : {1, 2, 15, 16, 33, 1000}) {
        SCOPED_TRACE(fmt::format("{} images on {} devices", n, count));
        const std::vector<float> expected = run_alone(graph, *alone, x, n, options);
        EXPECT_EQ(run(large, x, n), expected) << "made for 1000";
        ReadyModel model(graph.clone(), Shape{n, 1, 12, 12}, devices, options);
        EXPECT_EQ(run(model, x, n), expected);
        EXPECT_EQ(run(model, x, n), expected) << "again";
        std::vector<float> kept(expected.size(), -7);
        std::vector<int> finished(static_cast<size_t>(n));
        const size_t outputs = expected.size() / static_cast<size_t>(n);
        model.run(x.raw(), n, kept.data(), [&](int64_t first_image, int64_t images_there) {
          for (int64_t i = first_image; i < first_image + images_there; ++i) {
            const auto at = static_cast<size_t>(i);
            const auto scores = std::span(expected).subspan(at * outputs, outputs);
            if (std::ranges::equal(scores, std::span(kept).subspan(at * outputs, outputs))) ++finished[at];
          }
        });
        EXPECT_THAT(finished, testing::Each(1)) << "each image's device says once that it is there";
        std::vector<float> timed(expected.size(), -7);
        EXPECT_GT(model.time_on_device(x.raw(), n, timed.data()), 0);
        EXPECT_EQ(timed, expected);
      }
    }
  }
}

TEST(ReadyModel, UsesOnlyAsManyDevicesAsThereAreImages) {
  const Devices devices = hosts(3);
  const Tensor x = images({2, 1, 12, 12});
  ReadyModel model(network().take(), x.shape(), devices, options_for(x));
  EXPECT_THAT(model.shares(2), ElementsAre(1, 1));
  run(model, x, 2);
  EXPECT_GT(static_cast<NamedDevice&>(*devices[1]).allocations, 0);
  EXPECT_EQ(static_cast<NamedDevice&>(*devices[2]).allocations, 0);
  EXPECT_THAT(bad_input_message([&] { model.run(x.raw(), 0, nullptr); }), HasSubstr("at least 1, got 0"));
  EXPECT_THAT(bad_input_message([&] { model.run(x.raw(), -5, nullptr); }), HasSubstr("at least 1, got -5"));
  EXPECT_THAT(bad_input_message([&] {
                ReadyModel(network().take(), Shape{0, 1, 12, 12}, devices, {});
              }),
              HasSubstr("batch size of at least 1"));
}

TEST(ReadyModel, ModelsThatMixImagesAreForOneDevice) {
  GraphBuilder mixing({-1, 3}), fixed({4, 2, 3, 3});
  mixing.add(SoftmaxOp{0}, {mixing.input()}, "mixer");
  fixed.add(ReshapeOp{{4, 18}}, {fixed.input()}, "reshape");
  const Devices one = hosts(1), two = hosts(2);
  const auto message = [&](GraphBuilder& builder, const Shape& shape) {
    return bad_input_message([&] { ReadyModel(copy_of(builder.graph()), shape, two, {}); });
  };
  EXPECT_THAT(message(mixing, {32, 3}), AllOf(HasSubstr("'mixer'"), HasSubstr("for example cuda:0")));
  EXPECT_THAT(message(fixed, {8, 2, 3, 3}), AllOf(HasSubstr("'reshape'"), HasSubstr("for example cuda:0")));
  ReadyModel(mixing.take(), Shape{32, 3}, one, {});
  ReadyModel(fixed.take(), Shape{8, 2, 3, 3}, one, {});
}

TEST(ReadyModel, DevicesWithMemoryOfTheirOwnGetTheirShares) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  Devices devices;
  for (int i = 0; i < 2; ++i) devices.push_back(open_simt({.threads = 1}));
  const Graph graph = network().take();
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const Tensor x = images({37, 1, 12, 12}, type);
    const EngineOptions options = options_for(x);
    ReadyModel model(graph.clone(), x.shape(), devices, options);
    for (const int64_t n : {1, 2, 15, 37}) {
      EXPECT_EQ(run(model, x, n), run_alone(graph, *devices[0], x, n, options)) << n;
    }
  }
}

TEST(ReadyModel, GpusGetTheirSharesInChunks) {
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device == DeviceKind::cuda && kernel.info.name != "cuda.test_conv") {
      GTEST_SKIP() << "this build has real kernels for GPUs, which the test's devices are not";
    }
  }
  GraphBuilder builder({-1, 1, 48, 48});
  builder.max_pool(builder.conv(builder.input(), 1, 1, 1), 24);
  const Tensor x = images({300, 1, 48, 48});  // 1.3 MiB per device
  Devices devices;
  for (const char* name : {"cuda:0", "cuda:1"}) {
    devices.push_back(std::make_unique<NamedDevice>(name, int64_t{1} << 30, DeviceKind::cuda));
  }
  EngineOptions options;
  options.pipelined = false;
  const std::vector<float> expected = run_alone(builder.graph(), *devices[0], x, 300, options);
  options.pipelined = true;
  for (const std::vector<int64_t>& chunks : std::vector<std::vector<int64_t>>{{}, {80, 64}}) {
    options.chunks = chunks;  // for the first device; the other's are chosen automatically
    ReadyModel model(copy_of(builder.graph()), x.shape(), devices, options);
    EXPECT_THAT(model.shares(300), ElementsAre(144, 156));
    for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(run(model, x, 300), expected);
    std::vector<float> timed(expected.size());
    EXPECT_GT(model.time_on_device(x.raw(), 300, timed.data()), 0);
    EXPECT_EQ(timed, expected);
  }
}

/// Returns the labels of noise images in fa19, computed as `convlab run` does on GPUs, for each of `runs` runs.
std::vector<std::vector<float>> labels(const Devices& devices, const Tensor& x, int runs) {
  EngineOptions options = options_for(x);
  options.scale_to = 70;
  options.labels = true;
  ReadyModel model(load_model("fa19"), x.shape(), devices, options);
  std::vector<std::vector<float>> found;
  for (int i = 0; i < runs; ++i) found.push_back(run(model, x, x.shape()[0]));
  return found;
}

TEST(ReadyModel, OnGpusFindsTheLabelsOfOne) {
  if (!cuda_present() || list_cuda().size() < 2) GTEST_SKIP() << "there are no two GPUs";
  const Tensor x = images({6000, 1, 28, 28}, ElementType::u8);
  const std::vector<float> expected = labels(open_devices("cuda:0", {}), x, 1)[0];
  EXPECT_THAT(labels(open_devices(kAllGpus, {}), x, 3), testing::Each(expected));
}

}  // namespace
}  // namespace convlab
