#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"
#include "convlab/plan/choices.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// A configuration of the whole network, and its time for all images.
struct TunedWay {
  int64_t batch = 1;
  bool channel_lanes = false;  ///< see Plan
  double seconds = 0;
};

/// The result of tuning.
struct Tuned {
  std::vector<TunedWay> ways;  ///< those measured; the planner's own is the first
  size_t way = 0;              ///< index of the chosen one
  std::string_view why;        ///< see Pick
  PlanChoices choices;         ///< the kernels of the chosen one, for each of its batch sizes
  double planned_s = 0,
         tuned_s = 0;  ///< the network with the planner's choices, and with these; measured interleaved if changed()

  int64_t batch() const { return ways[way].batch; }

  /// Whether something was measured to be faster than the planner's choice; otherwise the plan is the planner's.
  bool changed() const;
};

/// What is tuned, and how long.
struct TuneRequest {
  const Graph& graph;
  const std::vector<Tensor>& inputs;  ///< what it is measured on
  Device& device;
  EngineOptions engine;                               ///< batch: 0 to choose the batch size, too
  double seconds = 0;                                 ///< for all measurements, approximately
  std::function<void(const std::string& what)> tell;  ///< called with what is measured next
};

/// Measures configurations of the whole network, and then, for each step, the kernels that support it; all
/// measurements are interleaved. Errors are those of ReadyModel().
Tuned tune_network(const TuneRequest& request);

}  // namespace convlab::app
