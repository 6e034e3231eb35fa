#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// kernel, copy, fill: what the device did. api: what the program asked the host for meanwhile. part: which part of the
/// program was running, as a StageObserver was told.
enum class ActivityKind { kernel, copy, fill, api, part };

/// One thing that was done, as nvprof's tables know it. A plain value: tables are made of activities alone, wherever
/// these come from.
struct Activity {
  ActivityKind kind = ActivityKind::kernel;
  std::string name;  ///< a kernel's or function's, "[CUDA memcpy HtoD]", or a part's
  std::string part;  ///< the layer, or other part of the program, that caused it; "" where unknown
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t correlation = 0;  ///< the same for a call and what the device did for it; 0: none
  uint32_t thread = 0;       ///< of the host, for api and part

  // What the device did.
  uint32_t context = 0, stream = 0;
  int64_t bytes = 0;                     ///< copied or filled
  std::string_view source, destination;  ///< kinds of memory of a copy: "Pageable", "Pinned", "Device"

  // A kernel on a GPU; zeros on a host, which has no such things.
  std::array<int64_t, 3> grid = {}, block = {};
  int64_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;

  int64_t duration_ns() const { return end_ns - begin_ns; }
  bool on_device() const { return kind != ActivityKind::api && kind != ActivityKind::part; }
};

/// Everything seen between two moments.
struct Recording {
  DeviceKind device = DeviceKind::cpu;
  std::string device_name;
  int64_t begin_ns = 0, end_ns = 0;  ///< on the clock of the activities
  std::vector<Activity> activities;  ///< by begin_ns
};

}  // namespace convlab
