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

/// A way to compute a whole network, and the time of all images.
struct TunedWay {
  int64_t batch = 1;
  bool channel_lanes = false;  ///< see Plan
  double seconds = 0;
};

/// What tuning has found.
struct Tuned {
  std::vector<TunedWay> ways;         ///< that were measured, the planner's own first
  size_t way = 0;                     ///< which is taken
  std::string_view why;               ///< see Pick
  PlanChoices choices;                ///< of that way, for each size of its batches
  double planned_s = 0, tuned_s = 0;  ///< the network as the planner plans it, and by these choices, in turns

  int64_t batch() const { return ways[way].batch; }
};

/// What is tuned, and how long.
struct TuneRequest {
  const Graph& graph;
  const std::vector<Tensor>& inputs;  ///< what it is measured on
  Device& device;
  EngineOptions engine;                               ///< batch: 0 to choose one, too
  double seconds = 0;                                 ///< for all measurements, about
  std::function<void(const std::string& what)> tell;  ///< is told what is measured now
};

/// Measures ways to compute the network, and then for each convolution the kernels that compute it, all in turns.
/// Errors as Engine() and Executor().
Tuned tune_network(const TuneRequest& request);

}  // namespace convlab::app
