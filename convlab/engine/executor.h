#pragma once

#include <memory>
#include <span>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// A graph with any number of inputs and outputs, ready to run on one device for inputs of given shapes, all at once:
/// no batches, no chunks (see Engine for streams of images). Any thread may use it, but only one at a time.
class Executor {
 public:
  /// Errors as make_plan(); Error(bad_input) where the model does not take these shapes. Of `options`, plan, observer
  /// and weights count. The device must outlive it.
  Executor(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Graph& graph() const;  ///< as it is computed: simplified
  const Plan& plan() const;

  /// Seconds that packing the weights took; 0 where SharedWeights had them.
  double prepare_seconds() const;

  /// The stream on which everything runs, in order.
  Stream& stream();

  /// The outputs, float32, for inputs of options.plan.input elements, in the graph's order. Error(bad_input) where one
  /// has another shape or type than the executor was made for.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  /// The same; adds the seconds of each step of plan() to `seconds`, waiting for the device before and after each.
  std::vector<Tensor> run_timed(std::span<const Tensor> inputs, std::vector<double>& seconds);

  /// The same with arrays in the host's memory, of the shapes of plan().inputs and plan().outputs. `seconds` may be
  /// null.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, std::vector<double>* seconds);

  /// The same with arrays in the device's memory. All is given to stream(), and may not be done yet when it returns.
  /// Arrays whose addresses are no multiples of kGpuAlignment are copied there.
  void run_in_memory(std::span<const void* const> inputs, std::span<void* const> outputs);

 private:
  struct Parts;
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::vector<double>* seconds);
  size_t input_bytes(size_t index) const;
  size_t output_bytes(size_t index) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace convlab
