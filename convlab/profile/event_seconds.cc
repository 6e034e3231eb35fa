// Times a model's steps on a GPU with events.

#include <cuda_runtime_api.h>

#include <vector>

#include "convlab/device/cuda_check.h"
#include "convlab/profile/overhead.h"

namespace convlab {
namespace {

/// Records an event before and after each step.
class StepTimer final : public StageObserver {
 public:
  explicit StepTimer(Stream& stream) : stream_(static_cast<cudaStream_t>(stream.native())) {}
  ~StepTimer() override {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

  void begin(const Part& part) override {
    in_step_ = part.stage == Stage::step;
    if (in_step_) record();
  }
  void end() override {
    if (in_step_) record();
    in_step_ = false;
  }

  /// Returns the sum over all steps; wait for the stream first.
  double seconds() const {
    double sum = 0;
    for (size_t i = 0; i + 1 < events_.size(); i += 2) {
      float ms = 0;
      check_cuda(cudaEventElapsedTime(&ms, events_[i], events_[i + 1]), "reading an event");
      sum += ms * 1e-3;
    }
    return sum;
  }

 private:
  void record() {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreate(&event), "creating an event");
    events_.push_back(event);
    check_cuda(cudaEventRecord(event, stream_), "recording an event");
  }

  cudaStream_t stream_;
  std::vector<cudaEvent_t> events_;
  bool in_step_ = false;
};

}  // namespace

std::optional<double> event_seconds(ReadyModel& model, const std::function<void()>& pass) {
  if (model.caps().runs_on_host()) return {};
  StepTimer timer(model.stream());
  model.observe(&timer);
  pass();
  model.observe(nullptr);
  return timer.seconds();
}

}  // namespace convlab
