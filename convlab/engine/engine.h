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

/// A graph, ready to run on one device: weights are uploaded and prepared, memory is allocated. Any thread may use it,
/// but only one at a time.
///
/// On a GPU, a batch is computed while the next is on its way. The first run with a number of images that are one batch
/// measures how long uploading and computing them take, and chooses from that the chunks in which they cross the bus
/// (see chunk_sizes()), each computed while the next is on its way. All launches are recorded, and later runs replay
/// them. Results are the same either way, as far as kernels give the same for any number of images. With an observer it
/// neither replays nor cuts into chunks.
class Engine {
 public:
  /// `input`: the shape of what run() will pass in, its first size the number of images (at most, or exactly: see
  /// run()). Errors as make_plan(); Error(bad_input) where the model does not take this shape, options.batch is
  /// negative, or a batch needs more memory than the device has. The device must outlive the engine.
  Engine(Graph graph, const Shape& input, Device& device, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The plan of a full batch.
  const Plan& plan() const;

  /// Images in a full batch.
  int64_t batch() const;

  /// The numbers of images of the batches in which a run of n is computed, each number once.
  std::vector<int64_t> batches(int64_t n) const;

  /// Whether the model computes each image by itself, so that batches may have any size.
  bool splits() const;

  /// The shape of the model's own output for n images, whether the output is that or labels.
  Shape scores_shape(int64_t n) const;

  /// The shape of the output for n images. Error(bad_input) for an n that run() does not take.
  Shape output_shape(int64_t n) const;

  /// The chains of linear operators in the graph, and what became of them; empty unless the plan is folded.
  const std::vector<Folding>& foldings() const;

  /// From now on this observer hears of each part of the work, before and after; null: none does. It must outlive the
  /// engine, or be taken away in time. With an observer, a run also waits for its steps before it fetches the scores.
  void observe(StageObserver* observer);

  /// The stream on which everything runs, in order.
  Stream& stream();

  /// Seconds that packing the weights took, when the engine was made; 0 where SharedWeights had them.
  double prepare_seconds() const;

  /// Runs n images, batch by batch, from host memory (of options.plan.input elements) to host memory, where the output
  /// takes element_count(output_shape(n)) floats. Returns when it is there. Only the first run with an n allocates.
  /// Both arrays should be page-locked (see Device).
  /// n may be any number from 1 up if the model computes each image by itself. Otherwise, a model made for batches of a
  /// fixed size needs an n that is a multiple of it, and runs each batch as one; a model made for any size needs the n
  /// that the engine was made for, and runs all images as one batch. Anything else is Error(bad_input), with the
  /// reason.
  void run(const void* images, int64_t n, float* output);

  /// As run(), of arrays in the device's memory. All is given to stream(), and may not be done yet when it returns.
  /// Arrays whose addresses are no multiples of kGpuAlignment are copied there.
  void run_in_memory(const void* images, int64_t n, float* output);

  /// As run(), waiting for the device before and after each step: seconds by step of plan(), summed over the batches.
  /// Where a rest is fused in other ways, each of its steps counts with the one that computes its first node.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// As run(); seconds that the device took from images in its memory to the output there, by its own clock.
  double time_on_device(const void* images, int64_t n, float* output);

  /// As run(), for a tensor: its shape, except for the first size, and its element type must be the engine's.
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
