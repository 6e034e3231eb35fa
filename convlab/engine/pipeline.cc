// Runs batches on a device with its own memory: overlaps uploads with computation and replays recorded launches.

#include "convlab/engine/pipeline.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/engine/chunks.h"
#include "convlab/engine/plan_facts.h"

namespace convlab {
namespace {

/// The number of schedules kept: those of a full batch and of the last batch, through either feed, recur in every run.
constexpr size_t kSchedulesKept = 8;

/// The number of address pairs kept: allocators return the same few addresses again and again.
constexpr size_t kPlacedKept = 8;

bool is_aligned(const void* address) { return reinterpret_cast<uintptr_t>(address) % kGpuAlignment == 0; }

void wait_for_whatever_comes(Stream& stream) noexcept {
  try {
    stream.synchronize();
  } catch (...) {  // the caller rethrows the error that led here
  }
}

}  // namespace

void Pipeline::run(const Batch& batch) {
  if (!on()) return run_plainly(batch, nullptr);
  Schedule& schedule = schedule_of(batch);
  if (batch.alone && schedule.chunks.empty()) {
    upload(batch, schedule.feed);
    compute(schedule.whole, schedule.feed);
  } else {
    run_in_chunks(batch, schedule.chunks.empty() ? std::span(&schedule.whole, 1) : schedule.chunks);
  }
  download(batch);
}

void Pipeline::run_plainly(const Batch& batch, std::vector<double>* seconds) {
  constexpr size_t kFeed = 0;
  const Chunk whole{.images = batch.images, .plan = plans_.of(batch.images), .replay = {}};
  upload(batch, kFeed);
  launch(whole, kFeed, seconds);
  download(batch);
}

void Pipeline::run_in_memory(const Batch& batch) {
  if (!std::ranges::all_of(batch.from, is_aligned) || !std::ranges::all_of(batch.to, is_aligned)) {
    return run_copied(batch);
  }
  forget_what_moved();
  const auto known = std::ranges::find_if(placed_, [&](const Placed& each) {
    return each.from == batch.from[0] && each.to == batch.to[0] && each.chunk.images == batch.images;
  });
  if (known != placed_.end() && known->chunk.replay) return known->chunk.replay->run();
  const std::shared_ptr<ReadyPlan> plan = plans_.of(batch.images);
  const auto work = [&] { plan->launch(stream_, batch.from, batch.to, options_.observer, nullptr); };
  work();
  if (!on() || plans_.memory().moves() != moves_) return;
  if (known == placed_.end()) {
    if (placed_.size() >= kPlacedKept) placed_.erase(placed_.begin());
    placed_.push_back(
        {.from = batch.from[0], .to = batch.to[0], .chunk = {.images = batch.images, .plan = plan, .replay = {}}});
  } else if (!known->tried) {
    known->chunk.replay = stream_.record(work);
    known->tried = true;
  }
}

void Pipeline::run_copied(const Batch& batch) {
  constexpr size_t kFeed = 0;
  const std::shared_ptr<ReadyPlan> plan = plans_.of(batch.images);
  const RunMemory& memory = plans_.memory();
  std::vector<const void*> from(batch.from.begin(), batch.from.end());
  std::vector<void*> to(batch.to.begin(), batch.to.end());
  for (size_t i = 0; i < from.size(); ++i) {
    if (is_aligned(from[i])) continue;
    from[i] = memory.inputs()[i].data();
    stream_.copy(memory.inputs()[i].data(), batch.from[i], input_bytes(batch, i));
  }
  for (size_t i = 0; i < to.size(); ++i) {
    if (!is_aligned(to[i])) to[i] = memory.outputs()[i].data();
  }
  plan->launch(stream_, from, to, options_.observer, nullptr);
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] != batch.to[i]) stream_.copy(batch.to[i], to[i], output_bytes(batch, i));
  }
  if (Stream* const feed = feeds_[kFeed].stream.get()) feed->wait_for(stream_);
}

double Pipeline::time(const Batch& batch) {
  Chunk plain{.images = batch.images, .plan = plans_.of(batch.images)};
  const size_t feed = on() ? feed_of(batch) : 0;
  Chunk& whole = on() ? schedule_of(batch).whole : plain;
  upload(batch, feed);
  const double seconds = stream_.time([&] { compute(whole, feed); });
  download(batch);
  return seconds;
}

void Pipeline::settle() noexcept {
  wait_for_whatever_comes(stream_);
  for (Feed& feed : feeds_) {
    if (feed.stream) wait_for_whatever_comes(*feed.stream);
  }
}

/// simt runs work as soon as it is enqueued, so pipelining gains nothing there.
bool Pipeline::on() const {
  return options_.pipelined && options_.observer == nullptr && !device_.caps().runs_on_host() && !graph_.at_once();
}

/// Computes each chunk while the next one is uploaded.
void Pipeline::run_in_chunks(const Batch& batch, std::span<Chunk> chunks) {
  const size_t number = feed_of(batch);
  unsigned char* const images = images_of(number);
  Feed& feed = feeds_[number];
  if (!feed.stream) feed.stream = device_.make_stream();
  // Upload one batch after the other, each at the full speed of the bus.
  const Feed& other = feeds_[1 - number];
  if (other.stream) feed.stream->wait_for(*other.stream);
  for (Chunk& chunk : chunks) {
    const int64_t at = chunk.first * graph_.image_bytes();
    feed.stream->upload(images + at, static_cast<const unsigned char*>(batch.from[0]) + at,
                        static_cast<size_t>(chunk.images * graph_.image_bytes()));
    stream_.wait_for(*feed.stream);
    compute(chunk, number);
  }
  feed.stream->wait_for(stream_);  // the next upload to this feed waits until this batch is computed
}

unsigned char* Pipeline::images_of(size_t feed) {
  const Buffer& first = plans_.memory().inputs().front();
  if (feed == 0) return static_cast<unsigned char*>(first.data());
  Buffer& images = feeds_[feed].images;
  if (!images) images = device_.allocate(first.bytes());
  return static_cast<unsigned char*>(images.data());
}

/// Discards recordings if memory has been reallocated: they contain the old addresses.
void Pipeline::forget_what_moved() {
  if (moves_ == plans_.memory().moves()) return;
  moves_ = plans_.memory().moves();
  schedules_.clear();
  placed_.clear();
}

/// Returns the schedule for batches of this size and feed; makes it for the first one.
Pipeline::Schedule& Pipeline::schedule_of(const Batch& batch) {
  forget_what_moved();
  const size_t feed = feed_of(batch);
  for (const std::unique_ptr<Schedule>& each : schedules_) {
    if (each->images == batch.images && each->alone == batch.alone && each->feed == feed) return *each;
  }
  auto schedule = std::make_unique<Schedule>(Schedule{.images = batch.images, .alone = batch.alone, .feed = feed});
  upload(batch, feed);
  schedule->whole = rehearsed(feed, 0, batch.images);
  const std::vector<int64_t> chunks = choose_chunks(batch, *schedule);
  int64_t first = 0;
  for (const int64_t images : chunks) {
    if (chunks.size() > 1) schedule->chunks.push_back(rehearsed(feed, first, images));
    first += images;
  }
  stream_.synchronize();
  if (plans_.memory().moves() != moves_) return schedule_of(batch);  // a plan grew the memory: record again
  keep_faster(batch, *schedule);
  if (schedules_.size() >= kSchedulesKept) schedules_.erase(schedules_.begin());
  schedules_.push_back(std::move(schedule));
  return *schedules_.back();
}

/// Chooses chunks from the measured times of a few of the batch's images and of all of them.
std::vector<int64_t> Pipeline::choose_chunks(const Batch& batch, Schedule& schedule) {
  constexpr int64_t kLeastBytes = int64_t{1} << 20;  // 20 us on a fast bus, as much as the overhead of a chunk
  constexpr int64_t kFew = 32;                       // times 1/32 of the images
  if (!graph_.splits() || batch.images * graph_.image_bytes() < kLeastBytes) return {batch.images};
  const auto& given = options_.chunks;
  if (std::accumulate(given.begin(), given.end(), int64_t{0}) == batch.images) return given;
  if (!batch.alone) return {batch.images};
  Batch few = batch;
  few.images = ceil_div(batch.images, kFew);
  if (few.images == batch.images) return {batch.images};
  Chunk chunk = rehearsed(schedule.feed, 0, few.images);
  if (plans_.memory().moves() != moves_) return {batch.images};  // the whole batch's recording has old addresses
  const auto seconds = [&](const auto& work) { return std::min(stream_.time(work), stream_.time(work)); };
  const auto upload_seconds = [&](const Batch& some) { return seconds([&] { upload(some, schedule.feed); }); };
  const auto compute_seconds = [&](Chunk& some) { return seconds([&] { compute(some, schedule.feed); }); };
  return chunk_sizes(batch.images, cost_of(few.images, upload_seconds(few), batch.images, upload_seconds(batch)),
                     cost_of(few.images, compute_seconds(chunk), batch.images, compute_seconds(schedule.whole)));
}

/// The cost model is approximate, so the chunks are kept only if they are measured to be faster than the whole batch.
void Pipeline::keep_faster(const Batch& batch, Schedule& schedule) {
  if (schedule.chunks.empty() || !options_.chunks.empty()) return;
  constexpr int kTries = 3;
  double in_chunks = std::numeric_limits<double>::infinity(), at_once = in_chunks;
  const auto keep_least = [&](double& seconds, std::span<Chunk> chunks) {
    const Clock::time_point begin = Clock::now();
    run_in_chunks(batch, chunks);
    stream_.synchronize();
    seconds = std::min(seconds, seconds_since(begin));
  };
  for (int i = 0; i < kTries; ++i) {
    keep_least(in_chunks, schedule.chunks);
    keep_least(at_once, {&schedule.whole, 1});
  }
  if (!(in_chunks < at_once)) schedule.chunks.clear();
}

/// Computes some of a batch's images, so that memory is allocated and libraries have chosen algorithms, and then
/// records the launches.
Pipeline::Chunk Pipeline::rehearsed(size_t feed, int64_t first, int64_t images) {
  Chunk chunk{.first = first, .images = images, .plan = plans_.of(images)};
  compute(chunk, feed);
  chunk.replay = stream_.record([&] { compute(chunk, feed); });
  return chunk;
}

/// Returns the output elements per image.
int64_t Pipeline::output_count() const { return element_count(plans_.full().outputs[0]) / graph_.batch(); }

size_t Pipeline::input_bytes(const Batch& batch, size_t input) const {
  return static_cast<size_t>(bytes_of(graph_.inputs_of(batch.images)[input], options_.plan.input));
}

size_t Pipeline::output_bytes(const Batch& batch, size_t output) const {
  return static_cast<size_t>(bytes_of(graph_.of_images(plans_.full().outputs[output], batch.images), ElementType::f32));
}

void Pipeline::compute(const Chunk& chunk, size_t feed) {
  chunk.replay ? chunk.replay->run() : launch(chunk, feed, nullptr);
}

/// Enqueues the steps, from and to the plans' memory.
void Pipeline::launch(const Chunk& chunk, size_t feed, std::vector<double>* seconds) {
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const Buffer& input : plans_.memory().inputs()) from.push_back(input.data());
  for (const Buffer& output : plans_.memory().outputs()) to.push_back(output.data());
  if (!graph_.at_once()) {
    from[0] = images_of(feed) + chunk.first * graph_.image_bytes();
    to[0] = static_cast<float*>(to[0]) + chunk.first * output_count();
  }
  chunk.plan->launch(stream_, from, to, options_.observer, seconds);
}

void Pipeline::upload(const Batch& batch, size_t feed) {
  size_t bytes = 0;
  for (size_t i = 0; i < batch.from.size(); ++i) bytes += input_bytes(batch, i);
  const Observed part(options_.observer, {.stage = Stage::upload, .bytes = static_cast<int64_t>(bytes)});
  for (size_t i = 0; i < batch.from.size(); ++i) {
    void* const to = i == 0 ? images_of(feed) : plans_.memory().inputs()[i].data();
    stream_.upload(to, batch.from[i], input_bytes(batch, i));
  }
}

void Pipeline::download(const Batch& batch) {
  size_t bytes = 0;
  for (size_t i = 0; i < batch.to.size(); ++i) bytes += output_bytes(batch, i);
  if (options_.observer != nullptr) {
    // Otherwise the download's time would include waiting for the steps.
    const Observed part(options_.observer, {Stage::waiting});
    stream_.synchronize();
  }
  const Observed part(options_.observer, {.stage = Stage::download, .bytes = static_cast<int64_t>(bytes)});
  for (size_t i = 0; i < batch.to.size(); ++i) {
    stream_.download(batch.to[i], plans_.memory().outputs()[i].data(), output_bytes(batch, i));
  }
}

}  // namespace convlab
