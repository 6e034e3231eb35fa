#pragma once

#include <map>
#include <memory>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"

namespace convlab {

/// A graph's constants where kernels of a device can read them: where they are in the graph, or copied once each to the
/// device's own memory. On a host, weights that only prepare() reads may be given up after that. Graph, device and
/// stream must outlive it.
class DeviceConstants {
 public:
  DeviceConstants(Graph& graph, Device& device, Stream& stream) : graph_(graph), device_(device), stream_(stream) {}

  /// Makes sure that those that launches of the plan's steps read are there; what `shared` has is not copied again.
  void place(const Plan& plan, SharedWeights& shared, StageObserver* observer);

  /// While it lives, all others that the plan's steps read are there, too.
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

  /// Says what will be read by a plan, which packs its own weights or uses another's. Once some plan is expected, all
  /// must be before the first is prepared: what none reads any more is given up.
  void expect(const Plan& plan, bool packs);

  /// Says that a step's weights have been packed.
  void note_packed(const PlanStep& step);

 private:
  Buffer copy(ValueId value);

  Graph& graph_;
  Device& device_;
  Stream& stream_;
  std::map<ValueId, std::shared_ptr<const Buffer>> copies_;
  std::map<ValueId, Buffer> to_pack_;
  std::map<ValueId, int64_t> reads_;  ///< by steps of expected plans, still to come
};

}  // namespace convlab
