// Records activities of devices whose kernels run synchronously on the host.

#include <chrono>
#include <utility>

#include "convlab/device/recorder.h"

namespace convlab {
namespace {

class HostRecorder final : public Recorder {
 public:
  explicit HostRecorder(DeviceKind device) : device_(device) {}

  void start() override {
    recording_ = {.device = device_, .device_name = std::string(name_of(device_)), .begin_ns = now()};
    recording_on_ = true;
  }

  Recording stop() override {
    recording_on_ = false;
    recording_.end_ns = now();
    return std::exchange(recording_, {});
  }

  void begin(const Part& part) override {
    if (!recording_on_) return;
    part_ = part;
    begin_ns_ = now();
  }

  void end() override {
    if (!recording_on_) return;
    const int64_t end_ns = now();
    const uint32_t number = ++count_;
    const std::string name(part_.name);
    Activity activity{
        .part = name, .begin_ns = begin_ns_, .end_ns = end_ns, .correlation = number, .bytes = part_.bytes};
    const bool upload = part_.stage == Stage::upload;
    if (part_.stage == Stage::step) {
      activity.kind = ActivityKind::kernel;
      activity.name = part_.kernel;
    } else if (upload || part_.stage == Stage::download) {
      activity.kind = ActivityKind::copy;
      activity.name = upload ? "[CUDA memcpy HtoD]" : "[CUDA memcpy DtoH]";
      activity.source = upload ? "Pageable" : "Device";
      activity.destination = upload ? "Device" : "Pageable";
    } else {
      activity.kind = ActivityKind::api;
      activity.name = name;
    }
    recording_.activities.push_back(
        {.kind = ActivityKind::part, .name = name, .begin_ns = begin_ns_, .end_ns = end_ns, .correlation = number});
    recording_.activities.push_back(std::move(activity));
  }

 private:
  static int64_t now() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

  DeviceKind device_;
  Recording recording_;
  bool recording_on_ = false;
  Part part_{Stage::step};
  int64_t begin_ns_ = 0;
  uint32_t count_ = 0;
};

}  // namespace

std::unique_ptr<Recorder> make_host_recorder(DeviceKind device) { return std::make_unique<HostRecorder>(device); }

}  // namespace convlab
