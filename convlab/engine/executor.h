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

/// A graph with any number of inputs and outputs, ready to run on one device for inputs of fixed shapes, without
/// batches or chunks (see Engine for streams of images). Any thread may use it, but only one at a time.
class Executor {
 public:
  /// Throws the errors of make_plan(), and Error(bad_input) if the model does not accept these shapes. Uses only the
  /// options plan, observer and weights. The device must outlive it.
  Executor(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const Graph& graph() const;  ///< the simplified graph that is computed
  const Plan& plan() const;

  /// Seconds that packing the weights took; 0 if SharedWeights had them.
  double prepare_seconds() const;

  /// The stream on which everything runs, in order.
  Stream& stream();

  /// Returns the float32 outputs for inputs of type options.plan.input, both in the graph's order. Throws
  /// Error(bad_input) if an input has another shape or type than the executor was made for.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  /// Same as run(). Adds the seconds of each step of plan() to `seconds`, waiting for the device before and after each.
  std::vector<Tensor> run_timed(std::span<const Tensor> inputs, std::vector<double>& seconds);

  /// Same as run_timed(), for arrays in host memory with the shapes of plan().inputs and plan().outputs. `seconds` may
  /// be null.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs, std::vector<double>* seconds);

  /// Same as run(), for arrays in the device's memory. Enqueues everything in stream() and may return before it is
  /// done. Arrays whose addresses are not multiples of kGpuAlignment are copied on the device.
  void run_in_memory(std::span<const void* const> inputs, std::span<void* const> outputs);

 private:
  struct Parts;
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::vector<double>* seconds);
  size_t input_bytes(size_t index) const;
  size_t output_bytes(size_t index) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace convlab
