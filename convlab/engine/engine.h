#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "convlab/base/stage.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/engine/run_arrays.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/rewrite/fold.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

struct Batch;

/// A graph, ready to run on one device: weights are uploaded and packed, memory is allocated. Any thread may use it,
/// but only one at a time.
///
/// A graph with one input and one output runs batch by batch. A graph with several of either, or without images (its
/// input is a scalar), runs all images at once, for exactly the shapes that it was made for, and so does any graph with
/// options.at_once.
///
/// On a GPU, a batch is computed while the next one is uploaded. If a run is a single batch, the first run of its size
/// measures the upload and the computation, and chooses the chunks in which the batch is uploaded (see chunk_sizes());
/// each chunk is computed while the next one is uploaded. All launches are recorded as CUDA graphs, and later runs
/// replay them. Results are the same either way, provided that kernels compute the same for any number of images. With
/// an observer, the engine uses neither replays nor chunks.
class Engine {
 public:
  /// `inputs`: the shapes of run()'s inputs. The first size of the first one is the number of images (the maximum, or
  /// the exact number: see run()). Throws the errors of make_plan(), and Error(bad_input) if the model does not accept
  /// these shapes, options.batch is negative, a batch needs more memory than the device has, or if options scale images
  /// or request labels, but there are several inputs or outputs. The device must outlive the engine.
  Engine(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options);
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

  /// Returns the shapes of the outputs for n images. Throws Error(bad_input) for an n that run() does not accept.
  std::vector<Shape> output_shapes(int64_t n) const;

  /// Returns the shape of the first output for n images. Errors are those of output_shapes().
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

  /// Runs n images, batch by batch. The inputs are elements of type options.plan.input; outputs hold floats, as many as
  /// output_shapes(n) say. All are in host memory and should be page-locked (see Device). Returns when the outputs are
  /// complete. Only the first run with a given n allocates memory.
  ///
  /// If the model computes each image independently, n may be any number from 1. Otherwise, a model with a fixed batch
  /// size needs a multiple of it and runs batch by batch; a model with a variable batch size needs the n that the
  /// engine was made for, as one batch. Throws Error(bad_input) with the reason for any other n.
  void run(InputArrays inputs, int64_t n, OutputArrays outputs);

  /// Same as run(), for arrays in the device's memory. Enqueues everything in stream() and may return before it is
  /// done. Arrays whose addresses are not multiples of kGpuAlignment are copied on the device.
  void run_in_memory(InputArrays inputs, int64_t n, OutputArrays outputs);

  /// Same as run(), but waits for the device before and after each step. Returns seconds by step of plan(), summed over
  /// the batches. If the last batch's plan fuses nodes differently, each of its steps counts toward the step that
  /// computes its first node.
  std::vector<double> run_timed(InputArrays inputs, int64_t n, OutputArrays outputs);

  /// Same as run(). Returns the seconds, by the device's clock, from inputs in its memory to outputs in its memory.
  double time_on_device(InputArrays inputs, int64_t n, OutputArrays outputs);

  /// Same as run(), for tensors. Throws Error(bad_input) unless their types and shapes, except for the number of
  /// images, are the engine's.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  /// Same, for the only input; returns the only output.
  Tensor run(const Tensor& input) { return std::move(run({&input, 1})[0]); }

 private:
  struct Parts;

  template <class Work>
  void give_batches(InputArrays inputs, int64_t n, OutputArrays outputs, Work work);
  template <class Work>
  void or_settle(Work work);
  template <class Work>
  void for_each_batch(InputArrays inputs, int64_t n, OutputArrays outputs, Work work);
  void run_batch(const Batch& batch, std::vector<double>* seconds);

  std::unique_ptr<Parts> parts_;
};

}  // namespace convlab
