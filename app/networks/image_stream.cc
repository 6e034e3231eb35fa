// Streams images through a network: three threads read, compute and write chunks.

#include "app/networks/image_stream.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <vector>

#include "app/networks/hand_over.h"
#include "app/results/progress_line.h"
#include "convlab/base/clock.h"
#include "convlab/device/thread_pool.h"
#include "convlab/session/labels.h"

namespace convlab::app {
namespace {

/// Images and their results, in memory that is reused.
struct Chunk {
  Tensor input, output;
  Buffer locked_input, locked_output;
  int64_t first = 0, images = 0;
};

/// One is read, one computed and one written while a fourth waits.
constexpr size_t kChunks = 4;

class Run {
 public:
  Run(const ImageStream& stream, int64_t begin, int64_t end)
      : stream_(stream), begin_(begin), end_(end), progress_("computing", end - begin) {
    const int64_t most = std::max<int64_t>(1, std::min(stream.chunk, end - begin));
    Shape images = stream.source.shape();
    images[0] = most;
    for (Chunk& chunk : chunks_) {
      chunk.input = Tensor(stream.source.type(), images);
      chunk.output = Tensor(ElementType::f32, stream.model.output_shapes(most)[0]);
      chunk.locked_input = stream.model.page_lock(chunk.input.raw(), chunk.input.bytes());
      chunk.locked_output = stream.model.page_lock(chunk.output.raw(), chunk.output.bytes());
      empty_.give(&chunk);
    }
  }

  double run() {
    ThreadPool threads(static_cast<int>(kRoles.size()));
    threads.on_each_thread(threads.size(), [&](int role) {
      try {
        (this->*kRoles[static_cast<size_t>(role)])();
      } catch (...) {
        failures_[static_cast<size_t>(role)] = std::current_exception();
      }
      // A thread that ends, whether it succeeded or failed, wakes the threads that wait for it.
      if (role == kReading) read_.close();
      if (role == kComputing) computed_.close();
      if (role != kReading) empty_.close();
    });
    for (const size_t role : {kWriting, kComputing, kReading}) {
      if (failures_[role] != nullptr) std::rethrow_exception(failures_[role]);
    }
    return engine_seconds_;
  }

 private:
  void read() {
    if (begin_ < end_) stream_.source.seek(begin_);
    for (int64_t next = begin_; next < end_;) {
      const std::optional<Chunk*> chunk = empty_.take();
      if (!chunk) return;
      (*chunk)->first = next;
      (*chunk)->images = stream_.source.read(std::min(stream_.chunk, end_ - next), (*chunk)->input.raw());
      next += (*chunk)->images;
      read_.give(*chunk);
    }
    if (end_ == stream_.source.shape()[0]) stream_.source.expect_end();
  }

  void compute() {
    while (const std::optional<Chunk*> chunk = read_.take()) {
      const Clock::time_point begin = Clock::now();
      stream_.model.run((*chunk)->input.raw(), (*chunk)->images, (*chunk)->output.values<float>().data());
      engine_seconds_ += seconds_since(begin);
      progress_.advance((*chunk)->images);
      computed_.give(*chunk);
    }
  }

  void write() {
    const auto values = static_cast<size_t>(image_element_count(stream_.model.output_shapes(1)[0]));
    while (const std::optional<Chunk*> chunk = computed_.take()) {
      const auto all = (*chunk)->output.values<float>();
      write_rows(all.first(static_cast<size_t>((*chunk)->images) * values), (*chunk)->first);
      empty_.give(*chunk);
    }
    stream_.results.keep();
  }

  void write_rows(std::span<const float> rows, int64_t first) {
    if (stream_.type == ElementType::f32) return stream_.results.write(rows.data(), rows.size_bytes());
    if (stream_.classes) require_classes(rows, first);
    const Tensor whole = converted(Tensor::of<float>({std::ssize(rows)}, rows), stream_.type);
    stream_.results.write(whole.raw(), whole.bytes());
  }

  /// Throws Error(wrong_result) if a class is NaN.
  static void require_classes(std::span<const float> rows, int64_t first) {
    std::vector<int> labels(rows.size());
    labels_of_places(rows, first, labels);
  }

  static constexpr size_t kComputing = 0, kReading = 1, kWriting = 2;
  static constexpr std::array<void (Run::*)(), 3> kRoles = {&Run::compute, &Run::read, &Run::write};

  const ImageStream& stream_;
  int64_t begin_, end_;
  Progress progress_;
  std::array<Chunk, kChunks> chunks_;
  HandOver<Chunk*> empty_, read_, computed_;
  std::array<std::exception_ptr, 3> failures_;
  double engine_seconds_ = 0;
};

}  // namespace

double run_stream(const ImageStream& stream, int64_t begin, int64_t end) { return Run(stream, begin, end).run(); }

}  // namespace convlab::app
