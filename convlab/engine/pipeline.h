#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convlab/engine/batched_graph.h"
#include "convlab/engine/ready_plans.h"

namespace convlab {

/// Runs batches on a device with its own memory, serially or pipelined. Pipelined, each batch is computed while the
/// next is uploaded, and the only batch of a run is uploaded in chunks, by a schedule made for the first batch of its
/// size (see chunk_sizes()). All arguments of the constructor must outlive it.
class Pipeline {
 public:
  Pipeline(const BatchedGraph& graph, ReadyPlans& plans, Device& device, Stream& stream, const EngineOptions& options)
      : graph_(graph), plans_(plans), device_(device), stream_(stream), options_(options) {}

  /// Enqueues a batch, from host memory to host memory. The output is complete when the engine's stream is done.
  void run(const Batch& batch);

  /// Same as run(), but serial: upload, steps, download. `seconds`: as in ReadyPlan::launch().
  void run_plainly(const Batch& batch, std::vector<double>* seconds);

  /// Same as run(), for images and an output in the device's memory. They are used directly if their addresses are
  /// multiples of kGpuAlignment, and copied otherwise. The second run with the same addresses is recorded.
  void run_in_memory(const Batch& batch);

  /// Returns the seconds, by the device's clock, to compute a batch whose images are on the device.
  double time(const Batch& batch);

  /// Waits until all streams are idle; ignores their errors.
  void settle() noexcept;

 private:
  /// A double buffer for images: while one batch is computed, the next is uploaded through the other feed.
  struct Feed {
    Buffer images;                   ///< of the second feed; the first uses the plans' own memory
    std::unique_ptr<Stream> stream;  ///< uploads the chunks
  };

  /// Images of a batch that are computed together, and the recording of their launches.
  struct Chunk {
    int64_t first = 0, images = 0;  ///< a range of the batch
    std::shared_ptr<ReadyPlan> plan;
    std::unique_ptr<Replay> replay;  ///< null if the device cannot record the launches
  };

  /// How to run batches of one size through one feed, made when the first of them runs.
  struct Schedule {
    int64_t images = 0;
    bool alone = true;
    size_t feed = 0;
    Chunk whole;                ///< all of the batch at once
    std::vector<Chunk> chunks;  ///< as it is uploaded; empty if it is uploaded at once
  };

  /// A batch in the device's memory that has run before.
  struct Placed {
    const void* from = nullptr;
    void* to = nullptr;
    Chunk chunk;
    bool tried = false;  ///< recording has been attempted
  };

  bool on() const;
  void forget_what_moved();
  void run_copied(const Batch& batch);
  size_t feed_of(const Batch& batch) const { return batch.index % feeds_.size(); }
  unsigned char* images_of(size_t feed);
  Schedule& schedule_of(const Batch& batch);
  std::vector<int64_t> choose_chunks(const Batch& batch, Schedule& schedule);
  void keep_faster(const Batch& batch, Schedule& schedule);
  void run_in_chunks(const Batch& batch, std::span<Chunk> chunks);
  Chunk rehearsed(size_t feed, int64_t first, int64_t images);
  void compute(const Chunk& chunk, size_t feed);
  void launch(const Chunk& chunk, size_t feed, std::vector<double>* seconds);
  int64_t output_count() const;
  size_t input_bytes(const Batch& batch, size_t input) const;
  size_t output_bytes(const Batch& batch, size_t output) const;
  void upload(const Batch& batch, size_t feed);
  void download(const Batch& batch);

  const BatchedGraph& graph_;
  ReadyPlans& plans_;
  Device& device_;
  Stream& stream_;
  const EngineOptions& options_;
  std::array<Feed, 2> feeds_;  ///< the second is used if a run has several batches
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<Placed> placed_;
  int64_t moves_ = 0;  ///< the memory's moves() when the recordings were made
};

}  // namespace convlab
