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

/// How many schedules we keep: a full batch's and a rest's, each by either feed, come again and again.
constexpr size_t kSchedulesKept = 8;

/// Likewise addresses: those who allocate get the same few again and again.
constexpr size_t kPlacedKept = 8;

void wait_for_whatever_comes(Stream& stream) noexcept {
  try {
    stream.synchronize();
  } catch (...) {  // the caller will hear of what failed before this
  }
}

}  // namespace

void Pipeline::run(const Batch& batch) {
  if (!on()) return run_plainly(batch, nullptr);
  Schedule& schedule = schedule_of(batch);
  if (batch.alone && schedule.pieces.empty()) {
    upload(batch, schedule.feed);
    compute(schedule.whole, schedule.feed);
  } else {
    run_in_pieces(batch, schedule.pieces.empty() ? std::span(&schedule.whole, 1) : schedule.pieces);
  }
  download(batch);
}

void Pipeline::run_plainly(const Batch& batch, std::vector<double>* seconds) {
  constexpr size_t kFeed = 0;
  const std::shared_ptr<ReadyPlan> plan = plans_.of(batch.images);
  upload(batch, kFeed);
  plan->launch(stream_, images_of(kFeed), plans_.memory().output(), options_.observer, seconds);
  download(batch);
}

void Pipeline::run_in_memory(const Batch& batch) {
  const auto addresses = reinterpret_cast<uintptr_t>(batch.from) | reinterpret_cast<uintptr_t>(batch.to);
  if (addresses % kGpuAlignment != 0) return run_copied(batch);
  forget_what_moved();
  const auto known = std::ranges::find_if(placed_, [&](const Placed& each) {
    return each.from == batch.from && each.to == batch.to && each.piece.images == batch.images;
  });
  if (known != placed_.end() && known->piece.replay) return known->piece.replay->run();
  const std::shared_ptr<ReadyPlan> plan = plans_.of(batch.images);
  const auto work = [&] { plan->launch(stream_, batch.from, batch.to, options_.observer, nullptr); };
  work();
  if (!on() || plans_.memory().moves() != moves_) return;
  if (known == placed_.end()) {
    if (placed_.size() >= kPlacedKept) placed_.erase(placed_.begin());
    placed_.push_back(
        {.from = batch.from, .to = batch.to, .piece = {.images = batch.images, .plan = plan, .replay = {}}});
  } else if (!known->tried) {
    known->piece.replay = stream_.record(work);
    known->tried = true;
  }
}

void Pipeline::run_copied(const Batch& batch) {
  constexpr size_t kFeed = 0;
  const std::shared_ptr<ReadyPlan> plan = plans_.of(batch.images);
  stream_.copy(images_of(kFeed), batch.from, static_cast<size_t>(batch.images * graph_.image_bytes()));
  plan->launch(stream_, images_of(kFeed), plans_.memory().output(), options_.observer, nullptr);
  stream_.copy(batch.to, plans_.memory().output(), output_bytes(batch));
  if (Stream* const feed = feeds_[kFeed].stream.get()) feed->wait_for(stream_);
}

double Pipeline::time(const Batch& batch) {
  Piece plain{.images = batch.images, .plan = plans_.of(batch.images)};
  const size_t feed = on() ? feed_of(batch) : 0;
  Piece& whole = on() ? schedule_of(batch).whole : plain;
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

/// simt does its work when given, so there is nothing to gain.
bool Pipeline::on() const {
  return options_.pipelined && options_.observer == nullptr && device_.caps().kind == DeviceKind::cuda;
}

/// Each piece is computed while the next is on its way.
void Pipeline::run_in_pieces(const Batch& batch, std::span<Piece> pieces) {
  const size_t number = feed_of(batch);
  unsigned char* const images = images_of(number);
  Feed& feed = feeds_[number];
  if (!feed.stream) feed.stream = device_.make_stream();
  // The bus shall serve one batch after the other, in full.
  const Feed& other = feeds_[1 - number];
  if (other.stream) feed.stream->wait_for(*other.stream);
  for (Piece& piece : pieces) {
    const int64_t at = piece.first * graph_.image_bytes();
    feed.stream->upload(images + at, batch.from + at, static_cast<size_t>(piece.images * graph_.image_bytes()));
    stream_.wait_for(*feed.stream);
    compute(piece, number);
  }
  feed.stream->wait_for(stream_);  // the next batch that uses this feed waits for the engine's stream
}

unsigned char* Pipeline::images_of(size_t feed) {
  const Buffer& first = plans_.memory().images();
  if (feed == 0) return static_cast<unsigned char*>(first.data());
  Buffer& images = feeds_[feed].images;
  if (!images) images = device_.allocate(first.bytes());
  return static_cast<unsigned char*>(images.data());
}

/// Recordings have the addresses of the memory that there was.
void Pipeline::forget_what_moved() {
  if (moves_ == plans_.memory().moves()) return;
  moves_ = plans_.memory().moves();
  schedules_.clear();
  placed_.clear();
}

/// How to run such a batch; made when the first one comes.
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
    if (chunks.size() > 1) schedule->pieces.push_back(rehearsed(feed, first, images));
    first += images;
  }
  stream_.synchronize();
  if (plans_.memory().moves() != moves_) return schedule_of(batch);  // a plan took more memory: now all of it is there
  keep_faster(batch, *schedule);
  if (schedules_.size() >= kSchedulesKept) schedules_.erase(schedules_.begin());
  schedules_.push_back(std::move(schedule));
  return *schedules_.back();
}

/// Chooses by the times of a few of the batch's images, and of all of them.
std::vector<int64_t> Pipeline::choose_chunks(const Batch& batch, Schedule& schedule) {
  constexpr int64_t kLeastBytes = int64_t{1} << 20;  // 20 us on a fast bus, which a chunk costs besides
  constexpr int64_t kFew = 32;                       // one image in so many
  if (!graph_.splits() || batch.images * graph_.image_bytes() < kLeastBytes) return {batch.images};
  const auto& given = options_.chunks;
  if (std::accumulate(given.begin(), given.end(), int64_t{0}) == batch.images) return given;
  if (!batch.alone) return {batch.images};
  Batch few = batch;
  few.images = ceil_div(batch.images, kFew);
  if (few.images == batch.images) return {batch.images};
  Piece piece = rehearsed(schedule.feed, 0, few.images);
  if (plans_.memory().moves() != moves_) return {batch.images};  // the whole was recorded with addresses of before
  const auto seconds = [&](const auto& work) { return std::min(stream_.time(work), stream_.time(work)); };
  const auto upload_seconds = [&](const Batch& some) { return seconds([&] { upload(some, schedule.feed); }); };
  const auto compute_seconds = [&](Piece& some) { return seconds([&] { compute(some, schedule.feed); }); };
  return chunk_sizes(batch.images, cost_of(few.images, upload_seconds(few), batch.images, upload_seconds(batch)),
                     cost_of(few.images, compute_seconds(piece), batch.images, compute_seconds(schedule.whole)));
}

/// The costs are not quite as assumed, so a choice made by them is kept only if it is faster in fact.
void Pipeline::keep_faster(const Batch& batch, Schedule& schedule) {
  if (schedule.pieces.empty() || !options_.chunks.empty()) return;
  constexpr int kTries = 3;
  double in_pieces = std::numeric_limits<double>::infinity(), at_once = in_pieces;
  const auto keep_least = [&](double& seconds, std::span<Piece> pieces) {
    const Clock::time_point begin = Clock::now();
    run_in_pieces(batch, pieces);
    stream_.synchronize();
    seconds = std::min(seconds, seconds_since(begin));
  };
  for (int i = 0; i < kTries; ++i) {
    keep_least(in_pieces, schedule.pieces);
    keep_least(at_once, {&schedule.whole, 1});
  }
  if (!(in_pieces < at_once)) schedule.pieces.clear();
}

/// Computes some of a batch's images, so that memory is allocated and libraries have chosen, and records how.
Pipeline::Piece Pipeline::rehearsed(size_t feed, int64_t first, int64_t images) {
  Piece piece{.first = first, .images = images, .plan = plans_.of(images)};
  compute(piece, feed);
  piece.replay = stream_.record([&] { compute(piece, feed); });
  return piece;
}

/// Of an image.
int64_t Pipeline::output_count() const { return element_count(plans_.full().outputs[0]) / graph_.batch(); }

size_t Pipeline::output_bytes(const Batch& batch) const {
  return static_cast<size_t>(batch.images * output_count()) * sizeof(float);
}

void Pipeline::compute(Piece& piece, size_t feed) {
  if (piece.replay) return piece.replay->run();
  piece.plan->launch(stream_, images_of(feed) + piece.first * graph_.image_bytes(),
                     plans_.memory().output() + piece.first * output_count(), options_.observer, nullptr);
}

void Pipeline::upload(const Batch& batch, size_t feed) {
  const int64_t bytes = batch.images * graph_.image_bytes();
  const Observed part(options_.observer, {.stage = Stage::upload, .bytes = bytes});
  stream_.upload(images_of(feed), batch.from, static_cast<size_t>(bytes));
}

void Pipeline::download(const Batch& batch) {
  const size_t bytes = output_bytes(batch);
  if (options_.observer != nullptr) {
    // The copy would wait for the steps, and be charged for them.
    const Observed part(options_.observer, {Stage::waiting});
    stream_.synchronize();
  }
  const Observed part(options_.observer, {.stage = Stage::download, .bytes = static_cast<int64_t>(bytes)});
  stream_.download(batch.to, plans_.memory().output(), bytes);
}

}  // namespace convlab
