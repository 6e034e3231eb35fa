#pragma once

#include <map>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"

namespace convlab {

/// A graph's constants where kernels of a device can read them: where they are in the graph, or copied once each to the
/// device's own memory. Graph, device and stream must outlive it.
class DeviceConstants {
 public:
  DeviceConstants(const Graph& graph, Device& device, Stream& stream)
      : graph_(graph), device_(device), stream_(stream) {}

  /// Makes sure that those that the plan's steps read are there.
  void place(const Plan& plan, StageObserver* observer);

  const void* address(ValueId value) const;

 private:
  const Graph& graph_;
  Device& device_;
  Stream& stream_;
  std::map<ValueId, Buffer> copies_;
};

}  // namespace convlab
