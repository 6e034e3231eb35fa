#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "convlab/engine/batched_graph.h"
#include "convlab/engine/ready_plans.h"

namespace convlab {

/// How batches run on a device with memory of its own: plainly, one thing after another; or pipelined: each batch is
/// computed while the next is on its way, and one that is alone crosses the bus in chunks, by a schedule made when the
/// first batch of its size comes (see chunk_sizes()). All arguments of the constructor must outlive it.
class Pipeline {
 public:
  Pipeline(const BatchedGraph& graph, ReadyPlans& plans, Device& device, Stream& stream, const EngineOptions& options)
      : graph_(graph), plans_(plans), device_(device), stream_(stream), options_(options) {}

  /// Gives a batch to the streams, from the host's memory to the host's memory: the output is there once the engine's
  /// stream is done.
  void run(const Batch& batch);

  /// The same, one thing after another. `seconds` as in ReadyPlan::launch().
  void run_plainly(const Batch& batch, std::vector<double>* seconds);

  /// The same of images and an output in the device's memory, which are read and written where they are if their
  /// addresses are multiples of kGpuAlignment, and copied otherwise. Work at the same addresses is recorded when it
  /// comes again.
  void run_in_memory(const Batch& batch);

  /// Seconds that the device takes to compute a batch whose images it has, by its own clock.
  double time(const Batch& batch);

  /// Waits until no stream is at work, and keeps their errors to itself.
  void settle() noexcept;

 private:
  /// Where images arrive: while one batch is computed, the next arrives by the other feed.
  struct Feed {
    Buffer images;                   ///< of the second; the first's are the plans' own
    std::unique_ptr<Stream> stream;  ///< carries the pieces
  };

  /// Images that are computed at one time, and the recording of it.
  struct Piece {
    int64_t first = 0, images = 0;  ///< of the batch
    std::shared_ptr<ReadyPlan> plan;
    std::unique_ptr<Replay> replay;  ///< null where the device cannot record the launches
  };

  /// How to run batches of one size that come by one feed, once one of them has run.
  struct Schedule {
    int64_t images = 0;
    bool alone = true;
    size_t feed = 0;
    Piece whole;                ///< all of the batch at once
    std::vector<Piece> pieces;  ///< as it crosses the bus; empty if it crosses at once, too
  };

  /// A batch in the device's memory that has come before.
  struct Placed {
    const void* from = nullptr;
    void* to = nullptr;
    Piece piece;
    bool tried = false;  ///< to record it
  };

  bool on() const;
  void forget_what_moved();
  void run_copied(const Batch& batch);
  size_t feed_of(const Batch& batch) const { return batch.index % feeds_.size(); }
  unsigned char* images_of(size_t feed);
  Schedule& schedule_of(const Batch& batch);
  std::vector<int64_t> choose_chunks(const Batch& batch, Schedule& schedule);
  void keep_faster(const Batch& batch, Schedule& schedule);
  void run_in_pieces(const Batch& batch, std::span<Piece> pieces);
  Piece rehearsed(size_t feed, int64_t first, int64_t images);
  void compute(Piece& piece, size_t feed);
  int64_t output_count() const;
  size_t output_bytes(const Batch& batch) const;
  void upload(const Batch& batch, size_t feed);
  void download(const Batch& batch);

  const BatchedGraph& graph_;
  ReadyPlans& plans_;
  Device& device_;
  Stream& stream_;
  const EngineOptions& options_;
  std::array<Feed, 2> feeds_;  ///< the second is used where a run has several batches
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<Placed> placed_;
  int64_t moves_ = 0;  ///< the memory's moves() when the recordings were made
};

}  // namespace convlab
