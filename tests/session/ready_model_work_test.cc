// Tests how the devices of a model work concurrently: threads, errors, times and observers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "convlab/base/clock.h"
#include "convlab/kernels/registry.h"
#include "convlab/session/ready_model.h"
#include "tests/session/models_to_run.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Called by cpu.test_scripted before it computes, with the first element of its input, unless null. On a device named
/// kFusing, the kernel accepts fused epilogues.
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
          call(find_kernel("cpu.reference", DeviceKind::cpu)->launch, args, stream);
        },
}};

class ReadyModelWork : public testing::Test {
 protected:
  ~ReadyModelWork() override { script = nullptr; }
};

/// A network of one convolution, so that it is the first step.
GraphBuilder one_convolution() {
  GraphBuilder builder({-1, 1, 3, 3});
  builder.conv(builder.input(), 2, 1, 3, false, "conv");
  return builder;
}

/// Returns 3 x 3 images; all elements of an image are its index.
Tensor numbered(int64_t n) {
  Tensor x(ElementType::f32, {n, 1, 3, 3});
  for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) x.values<float>()[i] = static_cast<float>(i / 9);
  return x;
}

TEST_F(ReadyModelWork, WorksForOneThreadAfterTheOther) {
  const Devices devices = hosts(2);
  const Tensor x = images({100, 1, 12, 12});
  ReadyModel model(network().take(), x.shape(), devices, options_for(x));
  const std::vector<float> expected = run(model, x, 100);
  std::mutex turn;
  std::vector<std::thread> users;
  std::atomic<int> right = 0;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (int pass = 0; pass < 5; ++pass) {
        const std::lock_guard mine(turn);
        right += run(model, x, 100) == expected;
      }
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(right, 20);
}

TEST_F(ReadyModelWork, KeepsItsThreads) {
  const Devices devices = hosts(2);
  const Tensor x = numbered(32);
  std::mutex mutex;
  std::set<pid_t> threads;
  script = [&](float) {
    const std::lock_guard lock(mutex);
    threads.insert(::gettid());
  };
  ReadyModel model(one_convolution().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  for (int pass = 0; pass < 50; ++pass) run(model, x, 32);
  EXPECT_LE(threads.size(), 2U) << "the caller's and another";
}

TEST_F(ReadyModelWork, SmallRunsAreEachOnAThreadOfTheirOwnToo) {
  const Devices devices = hosts(3);
  const Tensor x = numbered(3);
  std::mutex mutex;
  std::map<float, std::set<pid_t>> threads;  // by a share's first element
  script = [&](float first) {
    const std::lock_guard lock(mutex);
    threads[first].insert(::gettid());
  };
  ReadyModel model(one_convolution().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  for (int pass = 0; pass < 100; ++pass) run(model, x, 3);
  ASSERT_EQ(threads.size(), 3U);
  std::set<pid_t> all;
  for (const auto& [first, of_share] : threads) {
    EXPECT_EQ(of_share.size(), 1U) << "a thread took another device's share, which so came after its own";
    all.insert(of_share.begin(), of_share.end());
  }
  EXPECT_EQ(all.size(), 3U);

  // Each share waits for all others, so sequential execution would time out.
  std::atomic<int> begun = 0;
  script = [&](float) {
    const Clock::time_point begin = Clock::now();
    ++begun;
    while (begun < 3 && seconds_since(begin) < 20) std::this_thread::yield();
    EXPECT_EQ(begun, 3);
  };
  run(model, x, 3);
}

TEST_F(ReadyModelWork, TheErrorOfADeviceNamesItAndComesAfterTheOthersAreDone) {
  const Devices devices = hosts(2);
  const Tensor x = numbered(32);
  const EngineOptions options = options_for(x, "cpu.test_scripted");
  ReadyModel model(one_convolution().take(), x.shape(), devices, options);
  std::atomic<int> begun = 0;
  std::atomic<bool> done = false;
  ErrorKind kind = ErrorKind::unavailable;
  // The second share begins with image 16. It fails while the first one is running.
  script = [&](float first) {
    const Clock::time_point begin = Clock::now();
    ++begun;
    while (begun < 2 && seconds_since(begin) < 10) std::this_thread::yield();
    EXPECT_EQ(begun, 2) << "one device after the other";
    if (first == 16) throw Error(kind, "the fan is stuck");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = true;
  };
  EXPECT_EQ(error_message(ErrorKind::unavailable, [&] { run(model, x, 32); }), "host:1: the fan is stuck");
  EXPECT_TRUE(done);

  begun = 0;
  done = false;
  kind = ErrorKind::bad_input;
  EXPECT_EQ(bad_input_message([&] { run(model, x, 32); }), "the fan is stuck") << "not the device's fault";
  EXPECT_TRUE(done);

  script = nullptr;
  EXPECT_EQ(run(model, x, 32), run_alone(one_convolution().graph(), *devices[0], x, 32, options)) << "and it goes on";
}

TEST_F(ReadyModelWork, ADeviceWithTooLittleMemoryIsNamed) {
  Devices devices = hosts(1);
  devices.push_back(std::make_unique<NamedDevice>("host:small", 1000));
  const Tensor x = images({64, 1, 12, 12});
  EXPECT_THAT(bad_input_message([&] { ReadyModel(network().take(), x.shape(), devices, options_for(x)); }),
              HasSubstr("host:small has 1000"));
}

TEST_F(ReadyModelWork, OneDeviceIsNotNamed) {
  const Devices devices = hosts(1);
  const Tensor x = numbered(1);
  ReadyModel model(one_convolution().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  script = [](float) { throw unavailable("the fan is stuck"); };
  EXPECT_EQ(error_message(ErrorKind::unavailable, [&] { run(model, x, 1); }), "the fan is stuck");
}

TEST_F(ReadyModelWork, AStepTakesWhatItTakesTheSlowestDevice) {
  const Devices devices = hosts(3);
  const Tensor x = numbered(48);
  const EngineOptions options = options_for(x, "cpu.test_scripted");
  ReadyModel model(one_convolution().take(), x.shape(), devices, options);
  std::vector<float> output(96);
  script = [](float first) {
    if (first == 16) std::this_thread::sleep_for(std::chrono::milliseconds(40));
  };
  EXPECT_GE(model.run_timed(x.raw(), 48, output.data()).at(0), 0.04);
  EXPECT_EQ(output, run_alone(one_convolution().graph(), *devices[0], x, 48, options));
  EXPECT_GE(model.time_on_device(x.raw(), 48, output.data()), 0.04);
}

TEST_F(ReadyModelWork, PlansThatDifferAreNotTimedTogether) {
  Devices devices = hosts(1);
  devices.push_back(std::make_unique<NamedDevice>(std::string(kFusing)));
  const Tensor x = images({2, 1, 12, 12});
  ReadyModel model(network().take(), x.shape(), devices, options_for(x, "cpu.test_scripted"));
  std::vector<float> output(20);
  EXPECT_THAT(error_message(ErrorKind::unavailable, [&] { model.run_timed(x.raw(), 2, output.data()); }),
              AllOf(HasSubstr("host:0"), HasSubstr(std::string(kFusing))));
}

TEST_F(ReadyModelWork, AnObserverIsToldOfTheFirstDevice) {
  const Devices devices = hosts(2);
  const Tensor x = images({32, 1, 12, 12});
  StepCounter counter;
  EngineOptions options = options_for(x);
  options.observer = &counter;
  ReadyModel model(network().take(), x.shape(), devices, options);
  run(model, x, 32);
  EXPECT_EQ(counter.steps, std::ssize(model.plan().steps));
  model.observe(nullptr);
  run(model, x, 32);
  EXPECT_EQ(counter.steps, std::ssize(model.plan().steps));
}

}  // namespace
}  // namespace convlab
