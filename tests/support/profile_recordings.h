#pragma once

#include <string>
#include <utility>

#include "convlab/device/activity.h"

namespace convlab {

inline Activity activity(ActivityKind kind, std::string name, std::string part, int64_t begin_ns, int64_t end_ns,
                         uint32_t correlation = 0, uint32_t thread = 0) {
  return {.kind = kind,
          .name = std::move(name),
          .part = std::move(part),
          .begin_ns = begin_ns,
          .end_ns = end_ns,
          .correlation = correlation,
          .thread = thread};
}

/// A synthetic recording of two convolutions on a GPU, with every kind of activity. It begins at 1 s.
inline Recording gpu_recording() {
  constexpr int64_t kBegin = 1'000'000'000;
  Recording recording{.device = DeviceKind::cuda,
                      .device_name = "NVIDIA H200, compute capability 9.0",
                      .begin_ns = kBegin,
                      .end_ns = kBegin + 4'000'000'000};
  const auto add = [&](Activity each) {
    each.begin_ns += kBegin;
    each.end_ns += kBegin;
    recording.activities.push_back(std::move(each));
  };
  constexpr auto api = ActivityKind::api, part = ActivityKind::part;
  add(activity(api, "cudaStreamCreateWithFlags", "opening the device", 1'000, 3'000'001'000, 1));
  add(activity(api, "cuInit", "opening the device", 2'000, 2'000'000'000, 1));  // nested in the previous call
  add(activity(part, "images to the device", "", 3'000'100'000, 3'000'200'000));
  add(activity(api, "cudaMemcpyAsync", "images to the device", 3'000'100'500, 3'000'110'500, 2));
  Activity copied =
      activity(ActivityKind::copy, "[CUDA memcpy HtoD]", "images to the device", 3'000'120'000, 3'007'900'900, 2);
  copied.bytes = 77'070'336;  // 73.5 MB
  copied.source = "Pageable";
  copied.destination = "Device";
  copied.context = 1;
  copied.stream = 7;
  add(copied);
  add(activity(part, "conv1", "", 3'008'000'000, 3'008'010'000));
  add(activity(api, "cudaLaunchKernel", "conv1", 3'008'000'100, 3'008'005'100, 3));
  Activity kernel =
      activity(ActivityKind::kernel, "void conv<5>(float const*, \"x\")", "conv1", 3'008'010'000, 3'018'010'000, 3);
  kernel.context = 1;
  kernel.stream = 7;
  kernel.grid = {128, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.registers = 32;
  kernel.static_shared_bytes = 4096;
  add(kernel);
  add(activity(api, "cudaLaunchKernel", "conv2", 3'018'000'100, 3'018'003'100, 4));
  kernel.part = "conv2";
  kernel.begin_ns = 3'018'020'000;
  kernel.end_ns = 3'048'020'000;
  kernel.correlation = 4;
  add(kernel);
  Activity filled = activity(ActivityKind::fill, "[CUDA memset]", "conv2", 3'048'030'000, 3'048'030'608, 5);
  filled.bytes = 256;
  filled.destination = "Device";
  filled.context = 1;
  filled.stream = 7;
  add(filled);
  add(activity(api, "cudaLaunchKernel", "elsewhere", 3'018'001'000, 3'018'002'000, 6, 9));  // from another thread
  return recording;
}

}  // namespace convlab
