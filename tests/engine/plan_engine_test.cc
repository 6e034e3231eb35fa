// Tests running graphs: the requested kernel runs, batches and inputs of any size, and memory stays within the
// announced limit.

#include "convlab/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "tests/engine/engine_checks.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

int counted_launches = 0;
int64_t largest_launch = 0;
int counted_prepares = 0;

// cpu.reference with counters, to check which kernel really runs.
const RegisterConvKernel counting{{
    .info = {.name = "cpu.test_counting", .rung = -1, .idea = "for tests"},
    .refuses = [](const ConvStep& step, const DeviceCaps&) { return refuse_unless_plain(step); },
    .prepared_bytes = [](const ConvStep& step,
                         const DeviceCaps&) { return static_cast<size_t>(step.problem.filter_count()) * 4; },
    .prepare =
        [](const ConvArgs& args, Stream&) {
          ++counted_prepares;
          std::memcpy(args.prepared, args.w, static_cast<size_t>(args.step.problem.filter_count()) * 4);
        },
    .launch =
        [](const ConvArgs& args, Stream& stream) {
          ++counted_launches;
          largest_launch = std::max(largest_launch, args.step.problem.n);
          ConvArgs from_prepared = args;
          from_prepared.w = static_cast<const float*>(args.prepared);
          call(find_kernel("cpu.reference", DeviceKind::cpu)->launch, from_prepared, stream);
        },
}};

/// A device that claims to have its own memory. It uses the host's memory and checks every address passed to a kernel.
class FarDevice final : public Device {
 public:
  FarDevice() : near_(open_cpu({.threads = 1})) {
    caps_ = near_->caps();
    caps_.kind = DeviceKind::cuda;
  }
  const DeviceCaps& caps() const override { return caps_; }
  Buffer allocate(size_t bytes) override {
    auto near = std::make_shared<Buffer>(near_->allocate(bytes));
    const auto* begin = static_cast<const char*>(near->data());
    ranges[begin] = begin + std::max<size_t>(bytes, 1);
    return {near->data(), bytes, [near, begin](void*) { ranges.erase(begin); }};
  }
  std::unique_ptr<Stream> make_stream() override { return near_->make_stream(); }

  static bool has(const void* address) {
    const auto* at = static_cast<const char*>(address);
    const auto after = ranges.upper_bound(at);
    return after != ranges.begin() && at < std::prev(after)->second;
  }

 private:
  static inline std::map<const char*, const char*> ranges;
  std::unique_ptr<Device> near_;
  DeviceCaps caps_;
};

const RegisterConvKernel far_conv{{
    .info = {.name = "cuda.test_conv", .device = DeviceKind::cuda, .idea = "for tests"},
    .refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return std::nullopt; },
    .launch =
        [](const ConvArgs& args, Stream& stream) {
          for (const void* address : {args.x, static_cast<const void*>(args.w), static_cast<const void*>(args.y)}) {
            EXPECT_TRUE(FarDevice::has(address));
          }
          EXPECT_EQ(FarDevice::has(args.bias), args.step.epilogue.bias);
          call(find_kernel("cpu.reference", DeviceKind::cpu)->launch, args, stream);
        },
}};
const RegisterKernel far_op{{
    .info = {.name = "cuda.test_op", .device = DeviceKind::cuda, .family = Family::rearrangement},
    .refuses = [](const Step& step, const DeviceCaps&) -> Refusal {
      if (find_kernel(step, DeviceCaps()) == nullptr) return "is not the CPU's";
      return std::nullopt;
    },
    .prepared_bytes = [](const Step& step, const DeviceCaps& caps) -> size_t {
      return prepared_bytes(*find_kernel(step, DeviceCaps()), step, caps);
    },
    .workspace_bytes = [](const Step& step, const DeviceCaps& caps) -> size_t {
      return workspace_bytes(*find_kernel(step, DeviceCaps()), step, caps);
    },
    .prepare =
        [](const Args& args, Stream& stream) {
          for (size_t i = 0; i < args.inputs.size(); ++i) {
            EXPECT_EQ(FarDevice::has(args.inputs[i]), args.step.inputs[i].constant) << "input " << i;
          }
          const Kernel* kernel = find_kernel(args.step, DeviceCaps());
          if (kernel->prepare != nullptr) kernel->prepare(args, stream);
        },
    .launch =
        [](const Args& args, Stream& stream) {
          for (const void* input : args.inputs) EXPECT_TRUE(FarDevice::has(input));
          EXPECT_TRUE(FarDevice::has(args.output()));
          find_kernel(args.step, DeviceCaps())->launch(args, stream);
        },
}};

TEST(Engine, ARestThatIsFusedOtherwiseIsTimedWithTheRest) {
  GraphBuilder builder({-1, 1, 20, 20});
  ValueId x = builder.conv(builder.input(), 4, 1, 5, false, "conv");
  x = builder.activation(x, ActivationKind::relu, "relu");
  builder.max_pool(x, 4, "pool");  // nchw16n kernels do not fuse this pooling
  const Graph graph = builder.take();
  const Tensor input = images({20, 1, 20, 20});
  const std::unique_ptr<Device> device = open_cpu({});
  Engine many(copy_of(graph), input.shape(), *device, {}), few(copy_of(graph), Shape{4, 1, 20, 20}, *device, {});
  ASSERT_NE(many.plan().steps.size(), few.plan().steps.size());
  Tensor timed(ElementType::f32, {20, 4, 4, 4});
  const std::vector<double> seconds = many.run_timed(input.raw(), 20, timed.values<float>().data());
  EXPECT_EQ(seconds.size(), many.plan().steps.size());
  EXPECT_THAT(seconds, testing::Each(testing::Gt(0.0)));
  EXPECT_TRUE(same_bits(timed, many.run(input)));
}

TEST(Engine, TheForcedKernelIsTheOneThatRuns) {
  const Graph graph = course_network().take();
  const Tensor x = images({8, 1, 20, 20});
  counted_launches = 0;
  run(graph, x, {});
  EXPECT_EQ(counted_launches, 0);
  largest_launch = 0;
  const Tensor forced = run(graph, x, {.plan = {.kernel = "cpu.test_counting"}, .batch = 3});
  EXPECT_EQ(counted_launches, 2 * 3) << "two convolutions, batches of 3, 3 and 2";
  EXPECT_EQ(largest_launch, 3);
  expect_close(forced, run(graph, x, {}), 1e-5);
}

TEST(Engine, WeightsArePreparedOnceForAllBatchSizes) {
  const std::unique_ptr<Device> device = open_cpu({});
  counted_prepares = 0;
  Engine engine(course_network().take(), Shape{8, 1, 20, 20}, *device,
                {.plan = {.kernel = "cpu.test_counting"}, .batch = 3});
  EXPECT_EQ(counted_prepares, 2);
  EXPECT_GT(engine.prepare_seconds(), 0);
  for (const int64_t n : {8, 1, 2, 7, 8, 4, 5, 6, 30}) engine.run(images({n, 1, 20, 20}));
  EXPECT_EQ(counted_prepares, 2);
}

TEST(Engine, RunsAnyNumberOfImagesAgainAndAgain) {
  const std::unique_ptr<Device> device = open_cpu({});
  const Tensor x = images({50, 1, 20, 20});
  Engine engine(course_network().take(), Shape{10, 1, 20, 20}, *device, {.batch = 4});
  EXPECT_EQ(engine.batch(), 4);
  EXPECT_EQ(engine.output_shape(50), (Shape{50, 10}));
  const Tensor all = engine.run(x);
  for (const int64_t n : {1, 3, 4, 5, 11, 50, 2, 6, 50}) {
    std::vector<float> scores(static_cast<size_t>(n * 10), -1);
    engine.run(x.raw(), n, scores.data());
    EXPECT_EQ(std::memcmp(scores.data(), all.raw(), scores.size() * sizeof(float)), 0) << n;
  }
}

TEST(Engine, TimesEachStep) {
  const std::unique_ptr<Device> device = open_cpu({});
  const Tensor x = images({64, 1, 20, 20});
  Engine engine(course_network().take(), x.shape(), *device, {.batch = 10});
  std::vector<float> scores(640), again(640);
  const std::vector<double> seconds = engine.run_timed(x.raw(), 64, scores.data());
  EXPECT_EQ(seconds.size(), engine.plan().steps.size());
  EXPECT_THAT(seconds, testing::Each(testing::AllOf(testing::Gt(0.0), testing::Lt(60.0))));
  engine.run(x.raw(), 64, again.data());
  EXPECT_EQ(scores, again);
}

TEST(Engine, AllocatesNothingLargeAfterTheFirstRun) {
  const std::unique_ptr<Device> device = open_cpu({});
  const Tensor x = images({64, 1, 20, 20});
  Engine engine(course_network().take(), x.shape(), *device, {.batch = 10});
  std::vector<float> scores(640);
  engine.run(x.raw(), 64, scores.data());
  // Memory in use, inside and outside the heap. A few hundred bytes vary with the threads.
  const auto bytes_in_use = [] {
    const struct mallinfo2 now = mallinfo2();
    return static_cast<int64_t>(now.uordblks + now.hblkhd);
  };
  const int64_t before = bytes_in_use();
  for (int i = 0; i < 20; ++i) engine.run(x.raw(), 64, scores.data());
  EXPECT_LE(bytes_in_use() - before, 4096);
}

TEST(Engine, FixedBatchesAreFreedWhereImagesAreApart) {
  GraphBuilder builder = course_network();
  builder.graph().inputs[0].shape[0] = 2;
  const Tensor x = images({7, 1, 20, 20});
  EXPECT_TRUE(same_bits(run(builder.graph(), x, {}), run(course_network().graph(), x, {})));
}

/// A model exported for a fixed batch size: the sizes of its Reshape fix the batch.
GraphBuilder fixed_network(int64_t batch) {
  GraphBuilder builder({batch, 2, 3, 3});
  const ValueId x = builder.add(ReshapeOp{{batch, 18}}, {builder.input()}, "reshape");
  builder.add(GemmOp{}, {x, builder.constant({18, 4})}, "dense");
  return builder;
}

TEST(Engine, FixedBatchesRunOneAfterTheOther) {
  const Tensor x = images({6, 2, 3, 3});
  GraphBuilder open({-1, 2, 3, 3});
  open.add(GemmOp{}, {open.add(FlattenOp{}, {open.input()}), open.constant({18, 4})});
  const Tensor expected = run(open.graph(), x, {});
  for (const int64_t batch : {1, 2, 3, 6}) {
    const Tensor got = run(fixed_network(batch).graph(), x, {});
    EXPECT_TRUE(same_bits(got, expected)) << batch;
  }
}

TEST(Engine, ANumberOfImagesThatAFixedBatchDoesNotDivideIsExplained) {
  const Tensor x = images({6, 2, 3, 3});
  EXPECT_THAT(bad_input_message([&] { run(fixed_network(4).graph(), x, {}); }),
              AllOf(HasSubstr("6 images in batches of 4"), HasSubstr("reshape"), HasSubstr("multiple")));
  EXPECT_THAT(bad_input_message([&] { run(fixed_network(6).graph(), x, {.batch = 2}); }),
              HasSubstr("use a batch size of 6"));
}

TEST(Engine, NetworksThatMixImagesRunInOneBatch) {
  GraphBuilder builder({-1, 3});
  builder.add(SoftmaxOp{0}, {builder.input()}, "mixer");
  const Tensor x = images({2000, 3});
  const Tensor y = run(builder.graph(), x, {});
  double sum = 0;
  for (size_t i = 0; i < 6000; i += 3) sum += y.values<float>()[i];
  EXPECT_NEAR(sum, 1, 1e-4);
  const std::unique_ptr<Device> device = open_cpu({});
  Engine engine(copy_of(builder.graph()), Shape{5, 3}, *device, {});
  EXPECT_THAT(bad_input_message([&] { engine.run(images({4, 3})); }), AllOf(HasSubstr("mixer"), HasSubstr("5")));
}

TEST(Engine, AtOnceAllImagesAreOneBatch) {
  const std::unique_ptr<Device> device = open_cpu({});
  const Tensor x = images({17, 1, 20, 20});  // otherwise 16 images and one
  Engine engine(course_network().take(), x.shape(), *device, {.batch = 4, .at_once = true});
  EXPECT_THAT(engine.plan().inputs, testing::ElementsAre(x.shape()));
  EXPECT_THAT(engine.batches(17), testing::ElementsAre(17));
  expect_close(engine.run(x), run(course_network().graph(), x, {}), 1e-5);
  EXPECT_THAT(bad_input_message([&] { engine.run(images({16, 1, 20, 20})); }), HasSubstr("17x1x20x20"));
}

TEST(Engine, ScalesAndFindsLabelsOnlyWithOneInputAndOneOutput) {
  const std::unique_ptr<Device> device = open_cpu({});
  Graph graph = course_network().take();
  graph.outputs.push_back({.value = graph.nodes.front().output});
  EXPECT_EQ(Engine(graph.clone(), Shape{2, 1, 20, 20}, *device, {}).output_shapes(2).size(), 2u);
  EXPECT_THAT(bad_input_message([&] {
                Engine(graph.clone(), Shape{2, 1, 20, 20}, *device, {.labels = true});
              }),
              HasSubstr("expected 1 input and 1 output, got 1 and 2"));
}

TEST(Engine, InputsOfAnotherShapeOrTypeAreRefused) {
  const std::unique_ptr<Device> device = open_cpu({});
  Engine engine(course_network().take(), Shape{4, 1, 20, 20}, *device, {});
  EXPECT_THAT(bad_input_message([&] { engine.run(images({4, 1, 20, 21})); }), HasSubstr("4x1x20x20"));
  EXPECT_THAT(bad_input_message([&] { engine.run(images({4, 400})); }), HasSubstr("4x400"));
  EXPECT_THAT(bad_input_message([&] { engine.run(images({4, 1, 20, 20}, ElementType::u8)); }), HasSubstr("uint8"));
  EXPECT_THAT(bad_input_message([&] { engine.run(nullptr, 0, nullptr); }), HasSubstr("at least 1, got 0"));
  EXPECT_THAT(bad_input_message([&] { engine.run(nullptr, -5, nullptr); }), HasSubstr("at least 1, got -5"));
  const auto make = [&](const Shape& input, const EngineOptions& options) {
    Engine(course_network().take(), input, *device, options);
  };
  EXPECT_THAT(bad_input_message([&] { make({4, 3, 20, 20}, {}); }), HasSubstr("4x3x20x20"));
  EXPECT_THAT(bad_input_message([&] { make({4, 20}, {}); }), HasSubstr("4x20"));
  EXPECT_THAT(bad_input_message([&] { make({}, {}); }), HasSubstr("scalar"));
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    EXPECT_THAT(bad_input_message([&] {
                  make({0, 1, 20, 20}, {.plan = {.mode = mode}});
                }),
                HasSubstr("batch size of at least 1"));
    bad_input_message([&] { make({-3, 1, 20, 20}, {.plan = {.mode = mode}}); });
    bad_input_message([&] { make({4, 1, 0, 20}, {.plan = {.mode = mode}}); });
  }
  EXPECT_THAT(bad_input_message([&] { make({4, 1, 20, 20}, {.batch = -1}); }), HasSubstr("-1"));
}

TEST(Engine, ABatchThatDoesNotFitIntoMemoryIsBadInput) {
  const std::unique_ptr<Device> device = open_cpu({});
  GraphBuilder builder({-1, 1, 1000, 1000});
  builder.conv(builder.input(), 64, 1, 3);
  const int64_t images = device->caps().memory_bytes / (64 * 4 * 998 * 998) + 1;
  const std::string message = bad_input_message([&] {
    Engine(builder.take(), Shape{images, 1, 1000, 1000}, *device, {.batch = images});
  });
  EXPECT_THAT(message, HasSubstr("use a smaller batch"));
}

TEST(Engine, ChoosesBatchesThatKeepTheArenaSmall) {
  const std::unique_ptr<Device> device = open_cpu({});
  GraphBuilder builder({-1, 1, 72, 72});
  builder.activation(builder.conv(builder.input(), 12, 1, 7), ActivationKind::tanh);
  builder.conv(builder.graph().outputs[0].value, 24, 12, 7);
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    const Engine engine(copy_of(builder.graph()), Shape{10000, 1, 72, 72}, *device, {.plan = {.mode = mode}});
    EXPECT_GE(engine.batch(), 64);
    EXPECT_LE(engine.plan().arena_bytes, int64_t{128} << 20);
    EXPECT_EQ(engine.batch() % 16, 0);
  }
}

TEST(Engine, GivesKernelsOfAnotherDeviceItsOwnMemory) {
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device == DeviceKind::cuda && kernel.info.name != "cuda.test_conv") {
      GTEST_SKIP() << "this build has real kernels for GPUs, which the test's device is not";
    }
  }
  GraphBuilder builder = course_network();
  builder.add(SoftmaxOp{}, {builder.graph().outputs[0].value});
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const Tensor x = images({11, 1, 20, 20}, type);
    FarDevice device;
    Engine engine(copy_of(builder.graph()), x.shape(), device, {.plan = {.input = type}, .batch = 4});
    EXPECT_EQ(engine.plan().steps[0].kernel->info.name, "cuda.test_conv");
    expect_close(engine.run(x), run(builder.graph(), x, {.plan = {.kernel = "cpu.reference"}}), 1e-6);
    expect_close(engine.run(x), engine.run(x), 0);
  }
}

TEST(Engine, SharesOutUploadsToTheSameResult) {
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device == DeviceKind::cuda && kernel.info.name != "cuda.test_conv") {
      GTEST_SKIP() << "this build has real kernels for GPUs, which the test's device is not";
    }
  }
  GraphBuilder builder({-1, 1, 48, 48});
  builder.add(FlattenOp{}, {builder.max_pool(builder.conv(builder.input(), 2, 1, 3), 23)});
  const Tensor x = images({700, 1, 48, 48});  // 6 MiB
  const Tensor expected = run(builder.graph(), x, {.plan = {.kernel = "cpu.reference"}});
  FarDevice device;
  const std::vector<std::vector<int64_t>> ways{{}, {400, 200, 100}, {16, 684}, {50, 100, 100}};
  for (const std::vector<int64_t>& chunks : ways) {
    for (const int64_t batch : {700, 250}) {
      EngineOptions options;
      options.batch = batch;
      options.chunks = chunks;
      Engine engine(copy_of(builder.graph()), x.shape(), device, options);
      for (int pass = 0; pass < 3; ++pass) expect_close(engine.run(x), expected, 1e-6);
      Tensor again(ElementType::f32, expected.shape());
      EXPECT_GT(engine.time_on_device(x.raw(), 700, again.values<float>().data()), 0);
      expect_close(again, expected, 1e-6);
      expect_close(engine.run(images({3, 1, 48, 48})), run(builder.graph(), images({3, 1, 48, 48}), {}), 1e-5);
    }
  }
}

TEST(Engine, ComputedWeightsAreEvaluatedBeforeAnythingElse) {
  GraphBuilder builder({-1, 1, 6, 6});
  const ValueId weights = builder.add(MulOp{}, {builder.constant({2, 1, 3, 3}), builder.constant({2, 1, 1, 1})});
  builder.add(ConvOp{}, {builder.input(), weights}, "conv");
  const Tensor x = images({9, 1, 6, 6});
  EXPECT_TRUE(same_bits(run(builder.graph(), x, {.batch = 2}), run(builder.graph(), x, {.batch = 9})));
}

TEST(Engine, ManyImagesTakeBoundedMemory) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer keeps notes of each byte";
#endif
  const std::unique_ptr<Device> device = open_cpu({});
  GraphBuilder builder({-1, 1, 72, 72});
  ValueId x = builder.conv(builder.input(), 12, 1, 1);
  x = builder.activation(x, ActivationKind::relu);
  builder.add(GlobalAveragePoolOp{}, {x});
  const Tensor pixels = images({4000, 1, 72, 72}, ElementType::u8);
  const auto peak_bytes = [] {
    struct rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
  };
  const int64_t before = peak_bytes();
  Engine engine(builder.take(), pixels.shape(), *device,
                {.plan = {.mode = PlanMode::layers, .input = ElementType::u8}});
  engine.run(pixels);
  EXPECT_LE(peak_bytes() - before, int64_t{256} << 20) << "all at once are 2 GB";
}

TEST(Engine, NanGoesThrough) {
  Tensor x = images({3, 1, 20, 20});
  x.values<float>()[500] = std::numeric_limits<float>::quiet_NaN();
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    const Tensor y = run(course_network().graph(), x, {.plan = {.mode = mode}});
    for (size_t i = 0; i < 30; ++i) EXPECT_EQ(std::isnan(y.values<float>()[i]), i / 10 == 1) << i;
  }
}

}  // namespace
}  // namespace convlab
