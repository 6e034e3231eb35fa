#pragma once

#include <map>
#include <memory>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"

namespace convlab {

/// A graph's constants in memory that a device's kernels can read: the graph's own memory on a CPU, one copy of each in
/// the device's memory otherwise. On a CPU, weights that only prepare() reads may be freed afterwards. Graph, device
/// and stream must outlive it.
class DeviceConstants {
 public:
  DeviceConstants(Graph& graph, Device& device, Stream& stream) : graph_(graph), device_(device), stream_(stream) {}

  /// Copies the constants that launches of the plan's steps read, unless they are on the device already or in `shared`.
  void place(const Plan& plan, SharedWeights& shared, StageObserver* observer);

  /// While this object lives, the constants that the plan's steps only read to pack weights are on the device, too.
  class Packing {
   public:
    Packing(DeviceConstants& constants, const Plan& plan);
    ~Packing() { constants_.to_pack_.clear(); }
    Packing(const Packing&) = delete;
    Packing& operator=(const Packing&) = delete;

   private:
    DeviceConstants& constants_;
  };

  const void* address(ValueId value) const;

  /// Counts the constants that a plan will read. `packs`: it packs its own weights instead of using another plan's. If
  /// any plan is counted, all must be before the first is prepared: a weight is freed after its last counted read.
  void expect(const Plan& plan, bool packs);

  /// Call it when a step's weights have been packed. On a CPU, frees them if no counted plan still reads them.
  void note_packed(const PlanStep& step);

 private:
  Buffer copy(ValueId value);

  Graph& graph_;
  Device& device_;
  Stream& stream_;
  std::map<ValueId, std::shared_ptr<const Buffer>> copies_;
  std::map<ValueId, Buffer> to_pack_;
  std::map<ValueId, int64_t> reads_;  ///< pending reads by steps of the plans counted in expect()
};

}  // namespace convlab
