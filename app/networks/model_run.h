#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/runs/layer_result.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// A model and arrays for its inputs, ready to run.
class ModelRun {
 public:
  /// `inputs`: in the graph's order. Errors are those of Engine().
  ModelRun(Graph graph, std::vector<Tensor> inputs, Device& device, EngineOptions options);

  const Plan& plan() const { return engine_->plan(); }

  /// Returns the size of a full batch, and the distinct sizes of all batches.
  int64_t batch() const { return engine_->batch(); }
  std::vector<int64_t> batches() const { return engine_->batches(images()); }

  /// Whether batches may have any size.
  bool splits() const { return engine_->splits(); }

  /// Runs one pass and returns its seconds: in total, or per step of plan().
  double time_once();
  std::vector<double> time_steps_once();

  /// Returns the outputs, in the graph's order and with its types.
  std::vector<Tensor> run();

  struct Times {
    std::vector<LayerResult> layers;  ///< medians
    double network_s = 0;             ///< from inputs to outputs in host memory, also a median
    double device_network_s = 0;      ///< the GPU alone, by its own clock; on a host, network_s
  };
  /// Runs `repeat` passes with page-locked arrays. Call run() before, as a warm-up.
  Times time(int64_t repeat);

 private:
  std::vector<Tensor> make_outputs() const;
  int64_t images() const { return images_of(inputs_[0].shape()); }

  std::vector<ElementType> output_types_;
  std::vector<Tensor> inputs_;
  Device& device_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace convlab::app
