#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convlab/base/stage.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/rewrite/fold.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

struct Batch;

/// A graph, ready to run on one device: weights are uploaded and packed, memory is allocated. Any thread may use it,
/// but only one at a time.
///
/// On a GPU, a batch is computed while the next one is uploaded. If a run is a single batch, the first run of its size
/// measures the upload and the computation, and chooses the chunks in which the batch is uploaded (see chunk_sizes());
/// each chunk is computed while the next one is uploaded. All launches are recorded as CUDA graphs, and later runs
/// replay them. Results are the same either way, provided that kernels compute the same for any number of images. With
/// an observer, the engine uses neither replays nor chunks.
class Engine {
 public:
  /// `input`: the shape of run()'s input; its first size is the number of images (the maximum, or the exact number: see
  /// run()). Throws the errors of make_plan(), and Error(bad_input) if the model does not accept this shape,
  /// options.batch is negative, or a batch needs more memory than the device has. The device must outlive the engine.
  Engine(Graph graph, const Shape& input, Device& device, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The plan of a full batch.
  const Plan& plan() const;

  /// Images in a full batch.
  int64_t batch() const;

  /// Returns the distinct batch sizes of a run of n images.
  std::vector<int64_t> batches(int64_t n) const;

  /// Whether the model computes each image independently, so that batches may have any size.
  bool splits() const;

  /// Returns the shape of the model's own output for n images, even if the engine's output is labels.
  Shape scores_shape(int64_t n) const;

  /// Returns the shape of the output for n images. Throws Error(bad_input) for an n that run() does not accept.
  Shape output_shape(int64_t n) const;

  /// The chains of linear operators in the graph, and how they were folded; empty unless the plan is folded.
  const std::vector<Folding>& foldings() const;

  /// From now on, notifies this observer before and after each part of the work; null: none. It must outlive the engine
  /// or be replaced before it is destroyed. With an observer, a run waits for its steps before it downloads the scores.
  void observe(StageObserver* observer);

  /// The stream on which everything runs, in order.
  Stream& stream();

  /// Seconds that packing the weights took in the constructor; 0 if SharedWeights had them.
  double prepare_seconds() const;

  /// Runs n images, batch by batch. `images` are elements of type options.plan.input; `output` holds
  /// element_count(output_shape(n)) floats. Both are in host memory and should be page-locked (see Device). Returns
  /// when the output is complete. Only the first run with a given n allocates memory.
  ///
  /// If the model computes each image independently, n may be any number from 1. Otherwise, a model with a fixed batch
  /// size needs a multiple of it and runs batch by batch; a model with a variable batch size needs the n that the
  /// engine was made for, as one batch. Throws Error(bad_input) with the reason for any other n.
  void run(const void* images, int64_t n, float* output);

  /// Same as run(), for arrays in the device's memory. Enqueues everything in stream() and may return before it is
  /// done. Arrays whose addresses are not multiples of kGpuAlignment are copied on the device.
  void run_in_memory(const void* images, int64_t n, float* output);

  /// Same as run(), but waits for the device before and after each step. Returns seconds by step of plan(), summed over
  /// the batches. If the last batch's plan fuses nodes differently, each of its steps counts toward the step that
  /// computes its first node.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// Same as run(). Returns the seconds, by the device's clock, from images in its memory to the output in its memory.
  double time_on_device(const void* images, int64_t n, float* output);

  /// Same as run(), for a tensor. Its element type and its shape, except for the first size, must be the engine's.
  Tensor run(const Tensor& input);

 private:
  struct Parts;

  template <class Work>
  void give_batches(const void* images, int64_t n, float* output, Work work);
  template <class Work>
  void or_settle(Work work);
  template <class Work>
  void for_each_batch(const void* images, int64_t n, float* output, Work work);
  void run_batch(const Batch& batch, std::vector<double>* seconds);

  std::unique_ptr<Parts> parts_;
};

}  // namespace convlab
