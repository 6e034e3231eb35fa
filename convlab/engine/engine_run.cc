// How an engine runs: a batch at a time; on a device with memory of its own as its schedule says.

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/engine/chunks.h"
#include "convlab/engine/engine_parts.h"

namespace convlab {
namespace {

/// Schedules kept: a full batch's and a rest's, each by either feed, come again and again.
constexpr size_t kSchedulesKept = 8;

void wait_for_whatever_comes(Stream& stream) noexcept {
  try {
    stream.synchronize();
  } catch (...) {  // what failed before this is what the caller will hear of
  }
}

}  // namespace

void Engine::run(const void* images, int64_t n, float* output) {
  for_each_batch(images, n, output, [&](const Batch& batch) {
    if (pipelines()) {
      run_pipelined(batch);
    } else {
      run_plainly(batch, nullptr);
    }
  });
}

std::vector<double> Engine::run_timed(const void* images, int64_t n, float* output) {
  std::vector<double> seconds(plan().steps.size(), 0);
  for_each_batch(images, n, output, [&](const Batch& batch) { run_plainly(batch, &seconds); });
  return seconds;
}

double Engine::time_on_device(const void* images, int64_t n, float* output) {
  double seconds = 0;
  for_each_batch(images, n, output, [&](const Batch& batch) {
    if (reads_host_memory(device_)) {
      seconds += stream_->time([&] { run_plainly(batch, nullptr); });
      return;
    }
    Piece plain{.images = batch.images, .ready = ready_for(batch.images)};
    Feed& feed = pipelines() ? feed_of(batch) : feeds_[0];
    Piece& whole = pipelines() ? schedule_of(batch).whole : plain;
    upload(batch, feed);
    seconds += stream_->time([&] { compute(whole, feed); });
    download(batch);
  });
  return seconds;
}

Tensor Engine::run(const Tensor& input) {
  const int64_t n = input.shape().empty() ? 1 : input.shape()[0];
  if (input.shape().size() != input_.size() || input.shape() != with_images(n) || input.type() != options_.plan.input) {
    throw bad_input("{}: an input of {} {}; {} {} is wanted", graph_.name, name_of(input.type()),
                    to_text(input.shape()), name_of(options_.plan.input), to_text(with_images(n)));
  }
  const Shape shape = output_shape(n);
  require_memory(bytes_of(shape, ElementType::f32), fmt::format("{}: its output takes", graph_.name),
                 "give fewer images");
  Tensor output(ElementType::f32, shape);
  run(input.raw(), n, output.values<float>().data());
  return output;
}

/// Images of the batch that begins with image `first` of n: a full one, or the rest. If that would leave many lanes of
/// 16 without an image, the few beyond whole sixteens are a batch of their own, without lanes.
int64_t Engine::batch_from(int64_t first, int64_t n) const {
  const int64_t count = std::min(batch_, n - first), beyond = count % kImageLanes;
  const bool splits = !why_not_split_ && reads_host_memory(device_) && count > kImageLanes;
  return splits && beyond < kLeastImagesInLanes ? count - beyond : count;
}

/// Does work(batch) for each, and waits for all of it, also where it fails: the caller's arrays may go then.
template <class Work>
void Engine::for_each_batch(const void* images, int64_t n, float* output, Work work) {
  device_.make_current();
  check_count(n);
  const int64_t output_count = element_count(plan().output);
  size_t index = 0;
  try {
    for (int64_t first = 0; first < n; first += batch_from(first, n)) {
      work(Batch{.index = index++,
                 .images = batch_from(first, n),
                 .from = static_cast<const unsigned char*>(images) + first * image_bytes(),
                 .to = output + first / batch_ * output_count + first % batch_ * (output_count / batch_),
                 .alone = batch_from(first, n) == n});
    }
    stream_->synchronize();
  } catch (...) {
    wait_for_whatever_comes(*stream_);
    for (const Feed& feed : feeds_) {
      if (feed.stream) wait_for_whatever_comes(*feed.stream);
    }
    throw;
  }
}

/// One thing after another, all by the first feed.
void Engine::run_plainly(const Batch& batch, std::vector<double>* seconds) {
  const std::shared_ptr<Ready> ready = ready_for(batch.images);
  if (seconds != nullptr && !same_operators(plan(), ready->plan)) {
    throw unavailable(
        "{}: batches of {} and of {} images are planned differently and cannot be timed together; "
        "give a --batch that divides the number of images",
        graph_.name, batch_, batch.images);
  }
  if (reads_host_memory(device_)) return launch(*ready, batch.from, batch.to, seconds);
  upload(batch, feeds_[0]);
  launch(*ready, feeds_[0].images.data(), output_buffer_.data(), seconds);
  download(batch);
}

/// As the batch's schedule says.
void Engine::run_pipelined(const Batch& batch) {
  Feed& feed = feed_of(batch);
  Schedule& schedule = schedule_of(batch);
  if (batch.alone && schedule.pieces.empty()) {
    upload(batch, feed);
    compute(schedule.whole, feed);
  } else {
    run_in_pieces(batch, schedule.pieces.empty() ? std::span(&schedule.whole, 1) : schedule.pieces);
  }
  download(batch);
}

/// Each piece is computed while the next is on its way.
void Engine::run_in_pieces(const Batch& batch, std::span<Piece> pieces) {
  Feed& feed = feed_of(batch);
  if (!feed.stream) feed.stream = device_.make_stream();
  // The bus is to serve one batch after the other, in full.
  const Feed& other = feeds_[1 - batch.index % feeds_.size()];
  if (other.stream) feed.stream->wait_for(*other.stream);
  for (Piece& piece : pieces) {
    const int64_t at = piece.first * image_bytes();
    feed.stream->upload(static_cast<unsigned char*>(feed.images.data()) + at, batch.from + at,
                        static_cast<size_t>(piece.images * image_bytes()));
    stream_->wait_for(*feed.stream);
    compute(piece, feed);
  }
  feed.stream->wait_for(*stream_);  // with the next batch that comes by this feed
}

/// simt's work is done when it is given, so that there is nothing to gain.
bool Engine::pipelines() const {
  return options_.pipelined && options_.observer == nullptr && device_.caps().kind == DeviceKind::cuda;
}

int64_t Engine::image_bytes() const { return bytes_of(with_images(batch_), options_.plan.input) / batch_; }

Engine::Feed& Engine::feed_of(const Batch& batch) {
  Feed& feed = feeds_[batch.index % feeds_.size()];
  if (!feed.images) feed.images = device_.allocate(feeds_[0].images.bytes());
  return feed;
}

/// How to run such a batch; made when the first one comes.
Engine::Schedule& Engine::schedule_of(const Batch& batch) {
  const size_t feed = batch.index % feeds_.size();
  for (const std::unique_ptr<Schedule>& each : schedules_) {
    if (each->images == batch.images && each->feed == feed) return *each;
  }
  const void* arena = arena_.data();
  auto schedule = std::make_unique<Schedule>(Schedule{.images = batch.images, .feed = feed});
  upload(batch, feeds_[feed]);
  schedule->whole = rehearsed(feeds_[feed], 0, batch.images);
  const std::vector<int64_t> chunks = choose_chunks(batch, *schedule);
  int64_t first = 0;
  for (const int64_t images : chunks) {
    if (chunks.size() > 1) schedule->pieces.push_back(rehearsed(feeds_[feed], first, images));
    first += images;
  }
  stream_->synchronize();
  if (arena_.data() != arena) return schedule_of(batch);  // a chunk's plan took more memory: all is there now
  keep_faster(batch, *schedule);
  if (schedules_.size() >= kSchedulesKept) schedules_.erase(schedules_.begin());
  schedules_.push_back(std::move(schedule));
  return *schedules_.back();
}

/// What was chosen by costs that are not quite as supposed is kept if it is faster in fact.
void Engine::keep_faster(const Batch& batch, Schedule& schedule) {
  if (schedule.pieces.empty() || !options_.chunks.empty()) return;
  constexpr int kTries = 3;
  double in_pieces = std::numeric_limits<double>::infinity(), at_once = in_pieces;
  const auto keep_least = [&](double& seconds, std::span<Piece> pieces) {
    const Clock::time_point begin = Clock::now();
    run_in_pieces(batch, pieces);
    stream_->synchronize();
    seconds = std::min(seconds, seconds_since(begin));
  };
  for (int i = 0; i < kTries; ++i) {
    keep_least(in_pieces, schedule.pieces);
    keep_least(at_once, {&schedule.whole, 1});
  }
  if (!(in_pieces < at_once)) schedule.pieces.clear();
}

/// Computes some of a batch's images, so that memory is taken and libraries have chosen, and records how.
Engine::Piece Engine::rehearsed(const Feed& feed, int64_t first, int64_t images) {
  Piece piece{.first = first, .images = images, .ready = ready_for(images)};
  compute(piece, feed);
  piece.replay = stream_->record([&] { compute(piece, feed); });
  return piece;
}

void Engine::compute(Piece& piece, const Feed& feed) {
  if (piece.replay) return piece.replay->run();
  const int64_t output_count = element_count(plan().output) / batch_;
  launch(*piece.ready, static_cast<unsigned char*>(feed.images.data()) + piece.first * image_bytes(),
         static_cast<float*>(output_buffer_.data()) + piece.first * output_count, nullptr);
}

/// By what few of the batch's images take, and all of them.
std::vector<int64_t> Engine::choose_chunks(const Batch& batch, Schedule& schedule) {
  constexpr int64_t kLeastBytes = int64_t{1} << 20;  // 20 us on a fast bus, which a chunk costs besides
  constexpr int64_t kFew = 32;                       // of so many images one
  if (why_not_split_ || batch.images * image_bytes() < kLeastBytes) return {batch.images};
  const auto& given = options_.chunks;
  if (std::accumulate(given.begin(), given.end(), int64_t{0}) == batch.images) return given;
  const Feed& feed = feeds_[schedule.feed];
  Batch few = batch;
  few.images = ceil_div(batch.images, kFew);
  if (few.images == batch.images) return {batch.images};
  Piece piece = rehearsed(feed, 0, few.images);
  const auto seconds = [&](const auto& work) { return std::min(stream_->time(work), stream_->time(work)); };
  const auto upload_seconds = [&](const Batch& some) { return seconds([&] { upload(some, feed); }); };
  const auto compute_seconds = [&](Piece& some) { return seconds([&] { compute(some, feed); }); };
  return chunk_sizes(batch.images, cost_of(few.images, upload_seconds(few), batch.images, upload_seconds(batch)),
                     cost_of(few.images, compute_seconds(piece), batch.images, compute_seconds(schedule.whole)));
}

void Engine::upload(const Batch& batch, const Feed& feed) {
  const int64_t bytes = batch.images * image_bytes();
  const Observed part(options_.observer, {.stage = Stage::upload, .bytes = bytes});
  stream_->upload(feed.images.data(), batch.from, static_cast<size_t>(bytes));
}

void Engine::download(const Batch& batch) {
  const int64_t bytes = batch.images * element_count(plan().output) / batch_ * static_cast<int64_t>(sizeof(float));
  if (options_.observer != nullptr) {
    // The copy would wait for the steps, and be charged with them.
    const Observed part(options_.observer, {Stage::waiting});
    stream_->synchronize();
  }
  const Observed part(options_.observer, {.stage = Stage::download, .bytes = bytes});
  stream_->download(batch.to, output_buffer_.data(), static_cast<size_t>(bytes));
}

}  // namespace convlab
