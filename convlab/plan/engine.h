#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convlab/base/stage.h"
#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/plan/fold.h"
#include "convlab/plan/plan.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

struct EngineOptions {
  PlanOptions plan;
  int64_t batch = 0;                  ///< images a batch; 0: as many as fit into an arena of bounded size
  StageObserver* observer = nullptr;  ///< see Engine::observe()
};

/// A graph, ready to run on one device: weights are there and prepared, memory is taken. One thread at a time.
class Engine {
 public:
  /// `input`: the shape of what run() will bring, its first size the number of images (at most, or exactly: see run()).
  /// Errors as make_plan(); Error(bad_input) where the shape is not what the model takes or options.batch is negative;
  /// Error(unavailable) where a batch needs more memory than the device has. The device must outlive the engine.
  Engine(Graph graph, const Shape& input, Device& device, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The plan of a full batch.
  const Plan& plan() const;

  /// Images in a full batch.
  int64_t batch() const { return batch_; }

  /// The shape of the output for n images. Error(bad_input) for an n that run() does not take.
  Shape output_shape(int64_t n) const;

  /// The chains of linear operators that the graph had, and what became of them; empty unless the plan is folded.
  const std::vector<Folding>& foldings() const { return foldings_; }

  /// From now on this one is told of each part of the work, before and after; null: none is. It must outlive the
  /// engine, or be taken away in time. With one, a run also waits for its steps before it fetches the scores.
  void observe(StageObserver* observer) { options_.observer = observer; }

  /// On which everything runs, in order.
  Stream& stream() { return *stream_; }

  /// Seconds that packing the weights took, when the engine was made.
  double prepare_seconds() const { return prepare_seconds_; }

  /// Runs n images, batch by batch, from host memory (of options.plan.input elements) to host memory, where the output
  /// takes element_count(output_shape(n)) floats. Returns when it is there. Only the first run with an n allocates.
  /// n may be any number from 1 up if the model computes each image by itself. If it does not, but is made for batches
  /// of a fixed size, n must be a multiple of that, and each batch is run as one; if it is made for any size, n must be
  /// what the engine was made for, and all images are one batch. Otherwise Error(bad_input), with the reason.
  void run(const void* images, int64_t n, float* output);

  /// As run(), waiting for the device before and after each step: seconds by step of plan(), summed over the batches.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// As run(), for a tensor: its shape, but for the first size, and its element type must be the engine's.
  Tensor run(const Tensor& input);

 private:
  struct Ready;  ///< a plan with what it needs on the device

  Shape with_images(int64_t n) const;
  void check_count(int64_t n) const;
  int64_t choose_batch(int64_t most) const;
  void plan_batches(Graph graph, int64_t images);
  int64_t batch_from(int64_t first, int64_t n) const;
  Ready& ready_for(int64_t n);
  void make_room(const Plan& plan);
  void place_constants(const Plan& plan);
  void prepare(Ready& ready);
  const void* address(const Location& location, const void* input, const void* output) const;
  template <class OnConv, class OnOp>
  void visit(Ready& ready, size_t step, const void* input, void* output, OnConv on_conv, OnOp on_op);
  void run_batches(const void* images, int64_t n, float* output, std::vector<double>* seconds);
  void upload(const void* from, int64_t bytes);
  void download(void* to, int64_t bytes);
  void launch(Ready& ready, const void* input, void* output, std::vector<double>* seconds);

  Device& device_;
  EngineOptions options_;
  Graph graph_;
  std::vector<Folding> foldings_;
  Shape input_;
  std::unique_ptr<Stream> stream_;
  std::optional<std::string> why_not_split_;
  bool fixed_batch_ = false;  ///< the model does not split, and takes batches of batch_ only
  int64_t batch_ = 0;
  double prepare_seconds_ = 0;
  std::map<ValueId, Buffer> constants_;  ///< on devices that do not read host memory
  Buffer arena_, input_buffer_, output_buffer_;
  std::vector<std::unique_ptr<Ready>> ready_;  ///< the full batch's first
};

}  // namespace convlab
