#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convlab/engine/batched_graph.h"
#include "convlab/engine/ready_plan.h"

namespace convlab {

/// The plans of a graph on a device, one per batch size, with the constants, memory and SharedWeights that they share.
/// The first is the full batch's. Graph, device, stream and options must outlive it.
///
/// With options.same_count or one batch at once, on a host, all plans are made at the start, and constant weights are
/// freed as soon as they are packed, so that they are in memory once.
class ReadyPlans {
 public:
  /// Makes the full batch's plan, for runs of `images` images. Errors as in Engine().
  ReadyPlans(BatchedGraph& graph, int64_t images, Device& device, Stream& stream, const EngineOptions& options);

  /// Returns the plan for n images, made on first use. The last few are kept. If constant weights have been freed,
  /// throws Error(bad_input) for an n that is not a batch size.
  std::shared_ptr<ReadyPlan> of(int64_t n);

  /// The full batch's plan.
  const Plan& full() const { return plans_.front().plan->plan(); }

  const RunMemory& memory() const { return memory_; }

  /// Seconds that packing the full batch's weights took.
  double prepare_seconds() const { return prepare_seconds_; }

 private:
  struct Entry {
    int64_t n;
    std::shared_ptr<ReadyPlan> plan;
  };

  Plan planned(int64_t n) const;
  std::shared_ptr<ReadyPlan> add(int64_t n, Plan plan);

  const BatchedGraph& graph_;
  Device& device_;
  Stream& stream_;
  const EngineOptions& options_;
  const bool gives_up_;  ///< frees constant weights once they are packed
  const std::shared_ptr<SharedWeights> weights_;
  DeviceConstants constants_;
  RunMemory memory_;
  std::vector<Entry> plans_;
  double prepare_seconds_ = 0;
};

}  // namespace convlab
