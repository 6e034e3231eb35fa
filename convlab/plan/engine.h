#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

struct EngineOptions {
  PlanOptions plan;
  int64_t batch = 0;  ///< images a batch; 0: as many as keep the arena within a bound and, on a CPU, in its caches
};

/// A graph, ready to run on one device: weights are there and prepared, memory is taken. One thread at a time.
class Engine {
 public:
  /// `input`: the shape of the inputs to come, its first size the most images that a run will bring. Errors as
  /// make_plan(); Error(bad_input) where `input` is not what the model takes. The device must outlive the engine.
  Engine(Graph graph, const Shape& input, Device& device, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The plan of a full batch.
  const Plan& plan() const;

  /// Images in a full batch.
  int64_t batch() const { return batch_; }

  /// The shape of the output for n images, and its number of elements.
  Shape output_shape(int64_t n) const;
  int64_t output_count(int64_t n) const { return element_count(output_shape(n)); }

  /// Seconds that packing the weights took, when the engine was made.
  double prepare_seconds() const { return prepare_seconds_; }

  /// Runs n images, batch by batch, from host memory (of options.plan.input elements) to host memory. Returns when the
  /// output is there. n is any number from 1 up; but where the model does not split by image it must be the number
  /// that the engine was made for, otherwise Error(bad_input). Only the first run with an n allocates.
  void run(const void* images, int64_t n, float* output);

  /// As run(), waiting for the device before and after each step: seconds by step of plan(), summed over the batches.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// As run(), checking shape and element type. For an input of any rank.
  Tensor run(const Tensor& input);

 private:
  struct Ready;  // a plan with everything that it needs on the device

  Ready& ready_for(int64_t n);
  void run_batches(const void* images, int64_t n, float* output, double* step_seconds);
  void launch(Ready& ready, double* step_seconds);
  Shape with_batch(int64_t n) const;

  Graph graph_;
  Shape input_;
  Device& device_;
  EngineOptions options_;
  std::unique_ptr<Stream> stream_;
  bool splits_ = false;
  std::string why_not_split_;
  int64_t batch_ = 0;
  double prepare_seconds_ = 0;
  std::vector<Buffer> constants_;  // by ValueId; empty where no plan reads it
  std::vector<Buffer> prepared_;   // by step of the full batch's plan
  Buffer arena_;
  Buffer input_buffer_, output_buffer_;  // unless the device reads host memory
  std::list<std::unique_ptr<Ready>> ready_;
};

}  // namespace convlab
