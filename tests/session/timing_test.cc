// Tests which passes are timed, on hosts and on GPUs, and that times are medians.

#include "convlab/session/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/models_to_run.h"

namespace convlab {
namespace {

using testing::ElementsAre;

/// Passes whose times are given, one after another; the log says which were run.
struct FakePass {
  std::vector<double> seconds;
  std::string log;
  size_t next = 0;

  Pass pass() {
    return {.run =
                [this](std::vector<double>* steps) {
                  log += steps != nullptr ? "steps " : "network ";
                  if (steps != nullptr) *steps = {seconds[next] / 4, seconds[next] / 2};
                  return seconds[next++];
                },
            .on_device =
                [this] {
                  log += "device ";
                  return seconds[next++];
                }};
  }
};

TEST(TimePasses, OnAHostOnePassMeasuresTheNetworkAndItsSteps) {
  FakePass fake{.seconds = {4, 400, 8}};
  const PassTimes times = time_passes({.kind = DeviceKind::cpu}, 3, fake.pass());
  EXPECT_EQ(fake.log, "steps steps steps ");
  EXPECT_EQ(times.network_s, 8);
  EXPECT_EQ(times.device_network_s, 8);
  EXPECT_THAT(times.steps_s, ElementsAre(2, 4));
}

TEST(TimePasses, OnAGpuTheNetworkHasPassesOfItsOwn) {
  FakePass fake{.seconds = {40, 2, 3, 80, 4, 5, 60, 6, 7}};
  const PassTimes times = time_passes({.kind = DeviceKind::cuda}, 3, fake.pass());
  EXPECT_EQ(fake.log, "steps device network steps device network steps device network ");
  EXPECT_EQ(times.network_s, 5);
  EXPECT_EQ(times.device_network_s, 4);
  EXPECT_THAT(times.steps_s, ElementsAre(15, 30));
}

TEST(TimePasses, RunsAModelAsOftenAsItIsTold) {
  StepCounter counter;
  const Devices devices = hosts(1);
  const Tensor x = images({2, 1, 12, 12});
  ReadyModel model(network().take(), x.shape(), *devices[0], {.observer = &counter});
  const int64_t steps = std::ssize(model.plan().steps);
  EXPECT_THAT(time_steps(model, x.raw(), 2, 3), testing::AllOf(testing::SizeIs(steps), testing::Each(testing::Gt(0))));
  EXPECT_EQ(counter.steps, (1 + 3) * steps) << "a warm-up and three passes";
  const PassTimes times = time_passes(model, {&x, 1}, 5);
  EXPECT_EQ(counter.steps, (1 + 3 + 5) * steps);
  EXPECT_GT(times.network_s, 0);
  EXPECT_THAT(times.steps_s, testing::SizeIs(steps));
}

}  // namespace
}  // namespace convlab
