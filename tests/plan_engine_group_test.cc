// Several devices share out a run's images: as one engine computes them, bit for bit, and what becomes of errors.

#include "convlab/plan/engine_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "convlab/device/cpu.h"
#include "convlab/device/cuda.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/zoo.h"
#include "tests/errors.h"
#include "tests/graph_builder.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

using Devices = std::vector<std::unique_ptr<Device>>;

/// The host under a name of its own.
class NamedDevice final : public Device {
 public:
  explicit NamedDevice(std::string name, int64_t memory_bytes = int64_t{1} << 30) : host_(open_cpu({.threads = 1})) {
    caps_ = host_->caps();
    caps_.name = std::move(name);
    caps_.memory_bytes = memory_bytes;
  }
  const DeviceCaps& caps() const override { return caps_; }
  Buffer allocate(size_t bytes) override {
    ++allocations;
    return host_->allocate(bytes);
  }
  std::unique_ptr<Stream> make_stream() override { return host_->make_stream(); }

  int allocations = 0;

 private:
  std::unique_ptr<Device> host_;
  DeviceCaps caps_;
};

Devices hosts(size_t count) {
  Devices devices;
  for (size_t i = 0; i < count; ++i) devices.push_back(std::make_unique<NamedDevice>(fmt::format("host:{}", i)));
  return devices;
}

/// What cpu.test_scripted does before it computes, given the first number of its input; null: nothing. On a device of
/// this name it fuses what follows a convolution.
std::function<void(float)> script;
constexpr std::string_view kFusing = "host:fusing";

const RegisterConvKernel scripted{{
    .info = {.name = "cpu.test_scripted", .rung = -1, .idea = "for tests"},
    .refuses = [](const ConvStep& step, const DeviceCaps& caps) -> Refusal {
      if (caps.name == kFusing) return std::nullopt;
      return refuse_unless_plain(step);
    },
    .launch =
        [](const ConvArgs& args, Stream& stream) {
          if (script) script(*static_cast<const float*>(args.x));
          find_conv_kernel("cpu.reference", DeviceKind::cpu)->launch(args, stream);
        },
}};

class EngineGroupTest : public testing::Test {
 protected:
  ~EngineGroupTest() override { script = nullptr; }
};

GraphBuilder network() {
  GraphBuilder builder({-1, 1, 12, 12});
  ValueId x = builder.conv(builder.input(), 4, 1, 5, true, "conv");
  x = builder.max_pool(builder.activation(x, ActivationKind::tanh, "tanh"), 2, "pool");
  x = builder.add(FlattenOp{}, {x}, "flatten");
  builder.add(GemmOp{}, {x, builder.constant({64, 10}), builder.constant({10})}, "dense");
  return builder;
}

/// One convolution, so that the step that is looked at is the first.
GraphBuilder one_convolution() {
  GraphBuilder builder({-1, 1, 3, 3});
  builder.conv(builder.input(), 2, 1, 3, false, "conv");
  return builder;
}

Tensor images(const Shape& shape, ElementType type = ElementType::f32) {
  Rng rng(5);
  Tensor tensor(type, shape);
  if (type == ElementType::u8) {
    for (uint8_t& value : tensor.values<uint8_t>()) value = static_cast<uint8_t>(rng.integer(0, 255));
  } else {
    for (float& value : tensor.values<float>()) value = rng.uniform(-1, 1);
  }
  return tensor;
}

/// Images of 3 x 3, all numbers of an image being its index.
Tensor numbered(int64_t n) {
  Tensor x(ElementType::f32, {n, 1, 3, 3});
  for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) x.values<float>()[i] = static_cast<float>(i / 9);
  return x;
}

EngineOptions options_for(const Tensor& x, std::string kernel = "") {
  return {.plan = {.kernel = std::move(kernel), .input = x.type()}};
}

std::vector<float> run(EngineGroup& group, const Tensor& x, int64_t n) {
  std::vector<float> output(static_cast<size_t>(element_count(group.first().output_shape(n))), -7);
  group.run(x.raw(), n, output.data());
  return output;
}

std::vector<float> run_alone(const Graph& graph, Device& device, const Tensor& x, int64_t n,
                             const EngineOptions& options) {
  Engine engine(graph.clone(), x.shape(), device, options);
  std::vector<float> output(static_cast<size_t>(element_count(engine.output_shape(n))), -7);
  engine.run(x.raw(), n, output.data());
  return output;
}

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

TEST_F(EngineGroupTest, ComputesWhatOneEngineComputes) {
  const Graph graph = network().take();
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const Tensor x = images({1000, 1, 12, 12}, type);
    const EngineOptions options = options_for(x);
    const std::unique_ptr<Device> alone = open_cpu({.threads = 2});
    for (const size_t count : {1, 2, 3}) {
      const Devices devices = hosts(count);
      EngineGroup large(graph.clone(), x.shape(), devices, options);
      for (const int64_t n : {1, 2, 15, 16, 33, 1000}) {
        SCOPED_TRACE(fmt::format("{} images on {} devices", n, count));
        const std::vector<float> expected = run_alone(graph, *alone, x, n, options);
        EXPECT_EQ(run(large, x, n), expected) << "made for 1000";
        EngineGroup group(graph.clone(), {n, 1, 12, 12}, devices, options);
        EXPECT_EQ(run(group, x, n), expected);
        EXPECT_EQ(run(group, x, n), expected) << "again";
        std::vector<float> timed(expected.size(), -7);
        EXPECT_GT(group.time_on_device(x.raw(), n, timed.data()), 0);
        EXPECT_EQ(timed, expected);
      }
    }
  }
}

TEST_F(EngineGroupTest, UsesOnlyAsManyDevicesAsThereAreImages) {
  const Devices devices = hosts(3);
  const Tensor x = images({2, 1, 12, 12});
  EngineGroup group(network().take(), x.shape(), devices, options_for(x));
  EXPECT_THAT(group.shares(2), ElementsAre(1, 1));
  run(group, x, 2);
  EXPECT_GT(static_cast<NamedDevice&>(*devices[1]).allocations, 0);
  EXPECT_EQ(static_cast<NamedDevice&>(*devices[2]).allocations, 0);
  EXPECT_THAT(bad_input_message([&] { group.run(x.raw(), 0, nullptr); }), HasSubstr("0 images"));
  EXPECT_THAT(bad_input_message([&] { group.run(x.raw(), -5, nullptr); }), HasSubstr("-5 images"));
  EXPECT_THAT(bad_input_message([&] {
                EngineGroup(network().take(), {0, 1, 12, 12}, devices, {});
              }),
              HasSubstr("no images"));
}

TEST_F(EngineGroupTest, WorksForOneThreadAfterTheOther) {
  const Devices devices = hosts(2);
  const Tensor x = images({100, 1, 12, 12});
  EngineGroup group(network().take(), x.shape(), devices, options_for(x));
  const std::vector<float> expected = run(group, x, 100);
  std::mutex turn;
  std::vector<std::thread> users;
  std::atomic<int> right = 0;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (int pass = 0; pass < 5; ++pass) {
        const std::lock_guard mine(turn);
        right += run(group, x, 100) == expected;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(right, 20);
}

TEST_F(EngineGroupTest, KeepsItsThreads) {
  const Devices devices = hosts(2);
  const Tensor x = numbered(32);
  std::mutex mutex;
  std::set<pid_t> threads;
  script = [&](float) {
    const std::lock_guard lock(mutex);
    threads.insert(::gettid());
  };
  EngineGroup group(one_convolution().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  for (int pass = 0; pass < 50; ++pass) run(group, x, 32);
  EXPECT_LE(threads.size(), 2U) << "the caller's and another";
}

TEST_F(EngineGroupTest, TheErrorOfADeviceNamesItAndComesAfterTheOthersAreDone) {
  const Devices devices = hosts(2);
  const Tensor x = numbered(32);
  const EngineOptions options = options_for(x, "cpu.test_scripted");
  EngineGroup group(one_convolution().take(), x.shape(), devices, options);
  std::atomic<bool> begun = false, done = false;
  ErrorKind kind = ErrorKind::unavailable;
  // The second share begins with image 16. It fails while the first one is on its way: devices work side by side.
  script = [&](float first) {
    if (first == 16) {
      while (!begun) std::this_thread::yield();
      throw Error(kind, "the fan is stuck");
    }
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = true;
  };
  EXPECT_EQ(error_message(ErrorKind::unavailable, [&] { run(group, x, 32); }), "host:1: the fan is stuck");
  EXPECT_TRUE(done);

  begun = done = false;
  kind = ErrorKind::bad_input;
  EXPECT_EQ(bad_input_message([&] { run(group, x, 32); }), "the fan is stuck") << "not the device's fault";
  EXPECT_TRUE(done);

  script = nullptr;
  EXPECT_EQ(run(group, x, 32), run_alone(one_convolution().graph(), *devices[0], x, 32, options)) << "and it goes on";
}

TEST_F(EngineGroupTest, ADeviceWithTooLittleMemoryIsNamed) {
  Devices devices = hosts(1);
  devices.push_back(std::make_unique<NamedDevice>("host:small", 1000));
  const Tensor x = images({64, 1, 12, 12});
  EXPECT_THAT(
      error_message(ErrorKind::unavailable, [&] { EngineGroup(network().take(), x.shape(), devices, options_for(x)); }),
      AllOf(StartsWith("host:small: "), HasSubstr("1000")));
}

TEST_F(EngineGroupTest, OneDeviceIsNotNamed) {
  const Devices devices = hosts(1);
  const Tensor x = numbered(1);
  EngineGroup group(one_convolution().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  script = [](float) { throw unavailable("the fan is stuck"); };
  EXPECT_EQ(error_message(ErrorKind::unavailable, [&] { run(group, x, 1); }), "the fan is stuck");
}

TEST_F(EngineGroupTest, ModelsThatMixImagesAreForOneDevice) {
  GraphBuilder mixing({-1, 3}), fixed({4, 2, 3, 3});
  mixing.add(SoftmaxOp{0}, {mixing.input()}, "mixer");
  fixed.add(ReshapeOp{{4, 18}}, {fixed.input()}, "reshape");
  const Devices one = hosts(1), two = hosts(2);
  const auto message = [&](GraphBuilder& builder, const Shape& shape) {
    return bad_input_message([&] { EngineGroup(copy_of(builder.graph()), shape, two, {}); });
  };
  EXPECT_THAT(message(mixing, {32, 3}), AllOf(HasSubstr("'mixer'"), HasSubstr("--device cuda:0")));
  EXPECT_THAT(message(fixed, {8, 2, 3, 3}), AllOf(HasSubstr("'reshape'"), HasSubstr("--device cuda:0")));
  EngineGroup(mixing.take(), {32, 3}, one, {});
  EngineGroup(fixed.take(), {8, 2, 3, 3}, one, {});
}

TEST_F(EngineGroupTest, AStepTakesWhatItTakesTheSlowestDevice) {
  const Devices devices = hosts(3);
  const Tensor x = numbered(48);
  const EngineOptions options = options_for(x, "cpu.test_scripted");
  EngineGroup group(one_convolution().take(), x.shape(), devices, options);
  std::vector<float> output(96);
  script = [](float first) {
    if (first == 16) std::this_thread::sleep_for(std::chrono::milliseconds(40));
  };
  EXPECT_GE(group.run_timed(x.raw(), 48, output.data()).at(0), 0.04);
  EXPECT_EQ(output, run_alone(one_convolution().graph(), *devices[0], x, 48, options));
  EXPECT_GE(group.time_on_device(x.raw(), 48, output.data()), 0.04);
}

/// Counts the steps that it is told of.
class StepCounter final : public StageObserver {
 public:
  void begin(const Part& part) override { steps += part.stage == Stage::step; }
  void end() override {}
  int steps = 0;
};

TEST_F(EngineGroupTest, AnObserverIsToldOfTheFirstDevice) {
  const Devices devices = hosts(2);
  const Tensor x = images({32, 1, 12, 12});
  StepCounter counter;
  EngineOptions options = options_for(x);
  options.observer = &counter;
  EngineGroup group(network().take(), x.shape(), devices, options);
  run(group, x, 32);
  EXPECT_EQ(counter.steps, std::ssize(group.first().plan().steps));
  group.first().observe(nullptr);
  run(group, x, 32);
  EXPECT_EQ(counter.steps, std::ssize(group.first().plan().steps));
}

TEST_F(EngineGroupTest, DevicesWithMemoryOfTheirOwnGetTheirShares) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  Devices devices;
  for (int i = 0; i < 2; ++i) devices.push_back(open_simt({.threads = 1}));
  const Graph graph = network().take();
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const Tensor x = images({37, 1, 12, 12}, type);
    const EngineOptions options = options_for(x);
    EngineGroup group(graph.clone(), x.shape(), devices, options);
    for (const int64_t n : {1, 2, 15, 37}) {
      EXPECT_EQ(run(group, x, n), run_alone(graph, *devices[0], x, n, options)) << n;
    }
  }
}

TEST_F(EngineGroupTest, PlansThatDifferAreNotTimedTogether) {
  Devices devices = hosts(1);
  devices.push_back(std::make_unique<NamedDevice>(std::string(kFusing)));
  const Tensor x = images({2, 1, 12, 12});
  EngineGroup group(network().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  std::vector<float> output(20);
  EXPECT_THAT(error_message(ErrorKind::unavailable, [&] { group.run_timed(x.raw(), 2, output.data()); }),
              AllOf(HasSubstr("host:0"), HasSubstr(std::string(kFusing))));
}

/// The labels of noise in fa19, as `convlab run` finds them on GPUs, run by run.
std::vector<std::vector<float>> labels(const Devices& devices, const Tensor& x, int runs) {
  EngineOptions options = options_for(x);
  options.scale_to = 70;
  options.labels = true;
  EngineGroup group(load_model("fa19"), x.shape(), devices, options);
  std::vector<std::vector<float>> found;
  for (int i = 0; i < runs; ++i) found.push_back(run(group, x, x.shape()[0]));
  return found;
}

TEST_F(EngineGroupTest, OnGpusFindsTheLabelsOfOne) {
  if (!cuda_present()) GTEST_SKIP() << "there is no GPU";
  const Tensor x = images({6000, 1, 28, 28}, ElementType::u8);
  const std::vector<float> expected = labels(open_devices("cuda:0", {}), x, 1)[0];
  Devices twice;  // where there is one GPU, this is as near as it gets
  for (int i = 0; i < 2; ++i) twice.push_back(open_device("cuda:0", {}));
  EXPECT_THAT(labels(twice, x, 3), testing::Each(expected));
  EXPECT_THAT(labels(open_devices(kAllGpus, {}), x, 3), testing::Each(expected));
}

}  // namespace
}  // namespace convlab
