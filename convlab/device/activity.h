#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// kernel, copy, fill: work of the device. api: a call of the host. part: a part of the program, as reported to a
/// StageObserver.
enum class ActivityKind { kernel, copy, fill, api, part };

/// One activity, with the fields of nvprof's tables. A plain value: tables are made from activities of any source.
struct Activity {
  ActivityKind kind = ActivityKind::kernel;
  std::string name;  ///< of the kernel, function or part, or "[CUDA memcpy HtoD]"
  std::string part;  ///< the layer, or other part of the program, that caused it; "" if unknown
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t correlation = 0;  ///< the same for a call and the device's work for it; 0: none
  uint32_t thread = 0;       ///< host thread, for api and part

  // For kernel, copy and fill.
  uint32_t context = 0, stream = 0;
  int64_t bytes = 0;                     ///< copied or filled
  std::string_view source, destination;  ///< kinds of memory of a copy: "Pageable", "Pinned", "Device"

  // For kernels on a GPU; zero on a host.
  std::array<int64_t, 3> grid = {}, block = {};
  int64_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;

  int64_t duration_ns() const { return end_ns - begin_ns; }
  bool on_device() const { return kind != ActivityKind::api && kind != ActivityKind::part; }
};

/// All activities recorded between start and stop.
struct Recording {
  DeviceKind device = DeviceKind::cpu;
  std::string device_name;
  int64_t begin_ns = 0, end_ns = 0;  ///< on the activities' clock
  std::vector<Activity> activities;  ///< sorted by begin_ns
};

}  // namespace convlab
