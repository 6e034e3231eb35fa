// Times launches of a kernel and checks their outputs.

#include "convlab/measure/bench.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"

namespace convlab {
namespace {

/// Returns when no thread of this process computes any more, or after 50 waits of 1 ms.
void let_threads_sleep() {
  constexpr int kMostWaits = 50;
  constexpr std::chrono::milliseconds kWait{1};
  constexpr double kAsleep = 2e-4;  // CPU seconds that a wait itself and other small work may use
  for (int i = 0; i < kMostWaits; ++i) {
    const double before = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::this_thread::sleep_for(kWait);
    if (processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - before < kAsleep) return;
  }
}

}  // namespace

Summary sample(const Effort& effort, const TakeSample& take) {
  constexpr double kPatience = 10;  // times effort.seconds, to reach effort.least
  constexpr int kBetweenLooks = 5;  // samples between checks of the spread: it needs sorting, which must not dominate
  const auto begin = Clock::now();
  const auto patience_ends = [&] { return seconds_since(begin) >= effort.seconds * kPatience; };
  std::vector<double> samples{take(true)};
  const auto last_is_next = [&] {
    const auto count = static_cast<int>(samples.size()) + 1;
    if (count >= effort.most || patience_ends()) return true;
    if (count < effort.least) return false;
    if (seconds_since(begin) >= effort.seconds) return true;
    return count % kBetweenLooks == 0 && summarize(samples).spread() <= effort.spread;
  };
  while (!last_is_next()) samples.push_back(take(false));
  // If a single sample took all the time, it is both the first and the last.
  const bool more = static_cast<int>(samples.size()) < effort.most;
  if (more && (samples.size() > 1 || !patience_ends())) samples.push_back(take(true));
  return summarize(std::move(samples));
}

KernelBench::KernelBench(const Kernel& kernel, BenchArrays& arrays, Checked checked, std::span<const int> tuning)
    : kernel_(kernel),
      arrays_(arrays),
      checked_(checked),
      tuning_(tuning.begin(), tuning.end()),
      prepared_(arrays.device().allocate(prepared_bytes(kernel, arrays.step(), arrays.device().caps()))),
      workspace_(arrays.device().allocate(workspace_bytes(kernel, arrays.step(), arrays.device().caps()))) {
  if (kernel_.prepare != nullptr) {
    const Args arguments = own(arrays_.arguments());
    const auto begin = Clock::now();
    kernel_.prepare(arguments, arrays_.stream());
    arrays_.stream().synchronize();
    prepare_ms_ = seconds_since(begin) * 1e3;
  }
  take_over();
}

std::string KernelBench::choice() const {
  return kernel_.choice != nullptr ? kernel_.choice(arrays_.step(), arrays_.stream()) : "";
}

KernelBench::Times KernelBench::run(Caches caches, bool end) {
  const bool check = end || checked_ == Checked::all;
  if (check) arrays_.renew();
  if (checked_ == Checked::all) {
    launch();
    arrays_.renew();
  }
  if (caches == Caches::cold) arrays_.flush_caches();
  const Times times = launch(caches == Caches::hot);
  if (check) check_output();
  return times;
}

void KernelBench::check_output() {
  if (const Verdict verdict = arrays_.check(kernel_.info); !verdict.passed()) {
    throw wrong_result("{}: output of a timed launch is wrong: {}", kernel_.info.name, arrays_.describe_wrong(verdict));
  }
}

double KernelBench::replay(int launches, bool end) {
  Stream& stream = arrays_.stream();
  if (end) {
    arrays_.renew();
    graph_ = nullptr;  // its launches have the previous addresses
  }
  if (!graph_) {
    graph_ = stream.record([&] {
      for (int i = 0; i < launches; ++i) enqueue();
    });
    if (!graph_) throw unavailable("{}: launches cannot be captured in a CUDA graph", kernel_.info.name);
    graph_->run();
  }
  const double seconds = stream.time([&] { graph_->run(); });
  if (end) check_output();
  return seconds * 1e3 / launches;
}

void KernelBench::take_over() {
  if (arrays_.device().caps().runs_on_host()) let_threads_sleep();
  launch();
}

void KernelBench::enqueue() {
  Args arguments = own(arrays_.arguments());
  if (kernel_.packs_weights && arguments.inputs.size() > 1) {
    without_weights_.assign(arguments.inputs.begin(), arguments.inputs.end());
    without_weights_[1] = nullptr;
    arguments.inputs = without_weights_;
  }
  kernel_.launch(arguments, arrays_.stream());
}

Args KernelBench::own(const Args& arguments) const {
  return {.step = arguments.step,
          .inputs = arguments.inputs,
          .outputs = arguments.outputs,
          .prepared = prepared_.data(),
          .workspace = workspace_.data(),
          .tuning = tuning_};
}

KernelBench::Times KernelBench::launch(bool behind_another) {
  Stream& stream = arrays_.stream();
  SetAside& aside = stream.attached<SetAside>();
  aside.take();
  const auto begin = Clock::now();
  double device_seconds = stream.time([&] { enqueue(); });
  const double all_seconds = seconds_since(begin);
  const SetAside beside = aside.take();
  if (behind_another && !arrays_.device().caps().runs_on_host() && beside.seconds == 0) {
    enqueue();  // the GPU is still busy when the next launch is enqueued, so it does not idle between the two events
    device_seconds = stream.time([&] { enqueue(); });
  }
  last_ = {.device_ms = (device_seconds - beside.seconds) * 1e3,
           .op_ms = (all_seconds - beside.seconds) * 1e3,
           .layer_ms = beside.layer_seconds * 1e3,
           .early = beside.early};
  return last_;
}

}  // namespace convlab
