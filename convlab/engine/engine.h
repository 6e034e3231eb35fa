#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convlab/base/stage.h"
#include "convlab/device/device.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan.h"
#include "convlab/rewrite/fold.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

struct EngineOptions {
  PlanOptions plan;
  int64_t batch = 0;                  ///< images a batch; 0: as many as fit into an arena of bounded size
  StageObserver* observer = nullptr;  ///< see Engine::observe()
  int64_t scale_to = 0;         ///< side to which the device scales images, of pixels; 0: they are as the model wants
  bool labels = false;          ///< the output is a label an image (see ArgMaxOp), not the model's scores
  bool pipelined = true;        ///< uploads beside computing, launches replayed; false: one thing after another
  std::vector<int64_t> chunks;  ///< images by chunk of a batch of as many; otherwise chosen, see chunk_sizes()
  bool must_split = false;      ///< Error(bad_input) where the model does not compute each image by itself
};

/// A graph, ready to run on one device: weights are there and prepared, memory is taken. One thread at a time, be it
/// now this one and now that.
///
/// On a GPU, the first run with some number of images measures what uploading and computing them take, decides by it in
/// which chunks they cross the bus (see chunk_sizes()), each computed while the next is on its way, and records all
/// launches, which later runs replay. Results are the same either way, as far as kernels give the same whatever the
/// number of images. With an observer nothing is replayed or shared out.
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

  /// The shape of what the model itself gives for n images, be the output that or labels.
  Shape scores_shape(int64_t n) const;

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
  /// takes element_count(output_shape(n)) floats. Returns when it is there. Only the first run with an n allocates. Both
  /// arrays are best page-locked (see Device).
  /// n may be any number from 1 up if the model computes each image by itself. If it does not, but is made for batches
  /// of a fixed size, n must be a multiple of that, and each batch is run as one; if it is made for any size, n must be
  /// what the engine was made for, and all images are one batch. Otherwise Error(bad_input), with the reason.
  void run(const void* images, int64_t n, float* output);

  /// As run(), waiting for the device before and after each step: seconds by step of plan(), summed over the batches.
  std::vector<double> run_timed(const void* images, int64_t n, float* output);

  /// As run(); seconds that the device took from images in its memory to the output there, by its own clock.
  double time_on_device(const void* images, int64_t n, float* output);

  /// As run(), for a tensor: its shape, but for the first size, and its element type must be the engine's.
  Tensor run(const Tensor& input);

 private:
  struct Ready;     ///< a plan with what it needs on the device
  struct Piece;     ///< images that are computed at a time, and the record of it
  struct Schedule;  ///< the pieces of a batch
  struct Batch;     ///< some of a run's images, on their way

  /// Where images arrive: while one batch is computed, the next comes by the other feed.
  struct Feed {
    Buffer images;
    std::unique_ptr<Stream> stream;
  };

  Shape with_images(int64_t n) const;
  Shape network_input() const;
  Shape of_images(Shape shape, int64_t n) const;
  void check_count(int64_t n) const;
  void plan_batches(Graph graph, int64_t images);
  int64_t batch_from(int64_t first, int64_t n) const;
  std::shared_ptr<Ready> ready_for(int64_t n);
  void make_room(const Plan& plan);
  void place_constants(const Plan& plan);
  void prepare(Ready& ready);
  const void* address(const Location& location, const void* input, const void* output) const;
  template <class OnConv, class OnOp>
  void visit(Ready& ready, size_t step, const void* input, void* output, OnConv on_conv, OnOp on_op);

  template <class Work>
  void for_each_batch(const void* images, int64_t n, float* output, Work work);
  void run_plainly(const Batch& batch, std::vector<double>* seconds);
  void run_pipelined(const Batch& batch);
  void run_in_pieces(const Batch& batch, std::span<Piece> pieces);
  void keep_faster(const Batch& batch, Schedule& schedule);
  bool pipelines() const;
  int64_t image_bytes() const;
  Feed& feed_of(const Batch& batch);
  Schedule& schedule_of(const Batch& batch);
  Piece rehearsed(const Feed& feed, int64_t first, int64_t images);
  void compute(Piece& piece, const Feed& feed);
  std::vector<int64_t> choose_chunks(const Batch& batch, Schedule& schedule);
  void upload(const Batch& batch, const Feed& feed);
  void download(const Batch& batch);
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
  Buffer arena_, output_buffer_;
  std::array<Feed, 2> feeds_;                  ///< the second where a run has several batches
  std::vector<std::shared_ptr<Ready>> ready_;  ///< the full batch's first
  std::vector<std::unique_ptr<Schedule>> schedules_;
};

}  // namespace convlab
