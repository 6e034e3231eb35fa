// Tests recordings of a model on the host, their overhead, and the time breakdown of a whole run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/device/cpu.h"
#include "convlab/device/cuda.h"
#include "convlab/device/recorder.h"
#include "convlab/profile/overhead.h"
#include "convlab/profile/startup.h"
#include "convlab/profile/totals.h"
#include "convlab/session/ready_model.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of_kind(const Recording& recording, ActivityKind kind) {
  std::vector<std::string> names;
  for (const Activity& each : recording.activities) {
    if (each.kind == kind) names.push_back(each.name);
  }
  return names;
}

TEST(HostRecorder, TellsStepsCopiesAndOtherPartsApart) {
  const auto recorder = make_host_recorder(DeviceKind::simt);
  { const Observed before(recorder.get(), {Stage::data}); }  // not recorded
  recorder->start();
  { const Observed part(recorder.get(), {Stage::model}); }
  { const Observed part(recorder.get(), {.stage = Stage::upload, .bytes = 64}); }
  { const Observed part(recorder.get(), {Stage::step, "conv1", "cuda.basic"}); }
  { const Observed part(recorder.get(), {.stage = Stage::download, .bytes = 8}); }
  const Recording recording = recorder->stop();
  { const Observed after(recorder.get(), {Stage::labels}); }

  EXPECT_EQ(recording.device, DeviceKind::simt);
  EXPECT_THAT(names_of_kind(recording, ActivityKind::api), ElementsAre("reading the model"));
  EXPECT_THAT(names_of_kind(recording, ActivityKind::kernel), ElementsAre("cuda.basic"));
  EXPECT_THAT(names_of_kind(recording, ActivityKind::copy), ElementsAre("[CUDA memcpy HtoD]", "[CUDA memcpy DtoH]"));
  EXPECT_THAT(names_of_kind(recording, ActivityKind::part),
              ElementsAre("reading the model", "images to the device", "conv1", "scores to the host"));
  int64_t at = recording.begin_ns;
  for (const Activity& each : recording.activities) {
    EXPECT_LE(recording.begin_ns, each.begin_ns);
    EXPECT_LE(each.begin_ns, each.end_ns);
    EXPECT_LE(each.end_ns, recording.end_ns);
    EXPECT_LE(at, each.begin_ns);
    at = each.begin_ns;
    EXPECT_EQ(each.part, each.kind == ActivityKind::kernel ? "conv1" : each.part);
    EXPECT_EQ(each.bytes, each.name == "[CUDA memcpy HtoD]" ? 64 : each.name == "[CUDA memcpy DtoH]" ? 8 : 0);
  }
  recorder->start();
  EXPECT_THAT(recorder->stop().activities, IsEmpty());
}

/// Two convolutions on four images in two batches.
class RecordedModel : public testing::Test {
 protected:
  RecordedModel() {
    GraphBuilder builder({-1, 1, 6, 6});
    builder.conv(builder.conv(builder.input(), 2, 1, 3, false, "conv1"), 3, 2, 3, false, "conv2");
    const EngineOptions options{.batch = 2, .observer = recorder_.get()};
    recorder_->start();
    model_ = std::make_unique<ReadyModel>(builder.take(), Shape{4, 1, 6, 6}, *device_, options);
    images_.resize(4 * 36, 1.0f);
    scores_.resize(static_cast<size_t>(element_count(model_->output_shapes(4)[0])));
  }

  void run() { model_->run(images_.data(), 4, scores_.data()); }

  std::unique_ptr<Device> device_ = open_cpu({.threads = 1});
  std::unique_ptr<Recorder> recorder_ = make_host_recorder(DeviceKind::cpu);
  std::unique_ptr<ReadyModel> model_;
  std::vector<float> images_, scores_;
};

TEST_F(RecordedModel, EveryStepOfEveryBatchIsSeenWithItsLayer) {
  run();
  const Recording recording = recorder_->stop();
  std::vector<std::string> layers;
  for (const Activity& each : recording.activities) {
    if (each.kind != ActivityKind::kernel) continue;
    layers.push_back(each.part);
    EXPECT_THAT(each.name, testing::StartsWith("cpu."));
  }
  EXPECT_THAT(layers, ElementsAre("conv1", "conv2", "conv1", "conv2"));
  const std::vector<std::string> calls = names_of_kind(recording, ActivityKind::api);
  EXPECT_THAT(calls, testing::IsSupersetOf({"planning", "allocating memory", "packing the weights"}));
}

TEST_F(RecordedModel, WithoutItsObserverNothingIsTold) {
  model_->observe(nullptr);
  recorder_->stop();
  recorder_->start();
  run();
  EXPECT_THAT(recorder_->stop().activities, IsEmpty());
}

TEST_F(RecordedModel, TheCheckComparesPassesAndLeavesTheEngineAlone) {
  recorder_->stop();
  int passes = 0;
  const ProfilingCheck check = check_profiling(*model_, *recorder_, [&] {
    ++passes;
    run();
  });
  EXPECT_GE(check.passes, 3);
  EXPECT_EQ(passes, 2 * check.passes);
  EXPECT_GT(check.plain_s, 0);
  EXPECT_GT(check.recorded_kernels_s, 0);
  EXPECT_LT(check.recorded_kernels_s, check.profiled_s);
  EXPECT_FALSE(check.timed_kernels_s.has_value());
  EXPECT_NEAR(check.overhead(), check.profiled_s / check.plain_s - 1, 1e-12);
  recorder_->start();
  run();
  EXPECT_THAT(recorder_->stop().activities, IsEmpty());
}

TEST(CudaRecorder, SaysWhatIsMissing) {
  if (cuda_present()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THAT(error_message(ErrorKind::unavailable, [] { make_cuda_recorder(); }),
              HasSubstr("GPU profiling is not supported"));
}

TEST(StageLog, AddsUpByStageInTheOrderOfComing) {
  StageLog log;
  { const Observed part(&log, {Stage::model}); }
  for (int i = 0; i < 2; ++i) {
    const Observed part(&log, {Stage::data});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  { const Observed part(&log, {Stage::model}); }
  ASSERT_EQ(log.times().size(), 2u);
  EXPECT_EQ(log.times()[0].stage, Stage::model);
  EXPECT_EQ(log.times()[1].stage, Stage::data);
  EXPECT_GE(log.times()[1].seconds, 4e-3);
}

TEST(Bill, PartsAndWhatNoneCoversAreTheWallTime) {
  const WholeRun run{.device = DeviceKind::cuda,
                     .main_s = 0.01,
                     .done_s = 0.9,
                     .ended_s = 1.0,
                     .json_s = 0.01,
                     .layers_s = 0.25,
                     .stages = {{Stage::context, 0.4},
                                {Stage::upload, 0.1},
                                {Stage::step, 0.2},
                                {Stage::download, 0.05},
                                {Stage::waiting, 0.1}}};
  // The first pass takes 0.3 s of steps and waiting; a later pass takes 0.25 s of them.
  const StartupBill bill = make_bill(run);
  EXPECT_EQ(bill.wall_s, 1.0);
  std::vector<std::string> names;
  double sum = 0;
  for (const BillPart& part : bill.parts) {
    names.push_back(part.name);
    sum += part.seconds;
  }
  EXPECT_THAT(names,
              ElementsAre("process and library load", "context", "transfers", "module load or JIT, algorithm search",
                          "first pass (warm-up)", "results as JSON", "process exit"));
  EXPECT_NEAR(bill.parts[2].seconds, 0.15, 1e-12);
  EXPECT_NEAR(bill.parts[3].seconds, 0.05, 1e-12);
  EXPECT_NEAR(bill.parts[4].seconds, 0.25, 1e-12);
  EXPECT_NEAR(bill.unattributed_s, 0.03, 1e-12);
  EXPECT_NEAR(sum + bill.unattributed_s, bill.wall_s, 1e-12);
  EXPECT_EQ(bill.largest().name, "context");
  const std::string text = to_text(bill);
  EXPECT_THAT(text, HasSubstr("     400.000 ms   40.0 %  context\n"));
  EXPECT_THAT(text, HasSubstr("      30.000 ms    3.0 %  other\n    1000.000 ms  100.0 %  wall time"));
  EXPECT_THAT(text, HasSubstr("Largest: context. Remedy: " + std::string(bill.largest().remedy)));
}

TEST(Bill, OnAHostStepsAreTheFirstPass) {
  const StartupBill bill =
      make_bill({.device = DeviceKind::cpu, .main_s = 0.01, .done_s = 1, .ended_s = 1, .stages = {{Stage::step, 0.9}}});
  EXPECT_EQ(bill.largest().name, "first pass (warm-up)");
}

TEST(Bill, EveryStageHasAnEntryAndIsFoundByName) {
  for (int i = 0; i <= static_cast<int>(Stage::release); ++i) {
    const auto stage = static_cast<Stage>(i);
    EXPECT_NE(name_of(stage), "?") << i;
    EXPECT_EQ(find_stage(name_of(stage)), stage);
    const StartupBill bill =
        make_bill({.device = DeviceKind::cuda, .ended_s = 1, .layers_s = 0.5, .stages = {{stage, 0.5}}});
    EXPECT_EQ(bill.parts[bill.parts.size() - 3].seconds, 0.5) << name_of(stage);
  }
  EXPECT_FALSE(find_stage("juggling").has_value());
}

}  // namespace
}  // namespace convlab
