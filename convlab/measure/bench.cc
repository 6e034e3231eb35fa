// Times launches of a kernel and checks their outputs.

#include "convlab/measure/bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/download.h"

namespace convlab {
namespace {

/// Distance between the addresses of an array: a whole page, so that the alignment within a page stays the same.
constexpr size_t kShift = 4096;

Buffer uploaded(Device& device, Stream& stream, const Tensor& tensor) {
  Buffer buffer = device.allocate(tensor.bytes());
  stream.upload(buffer.data(), tensor.raw(), buffer.bytes());
  stream.synchronize();
  return buffer;
}

/// Returns `shape` with another number of images.
Shape with_images(Shape shape, int64_t images) {
  shape[0] = images;
  return shape;
}

/// Returns how many images are copied, converted or compared at a time: whole lane blocks, about 16 MB.
int64_t images_at_a_time(const Shape& shape) {
  constexpr int64_t kBytes = int64_t{16} << 20;
  const int64_t bytes = element_count(with_images(shape, 1)) * int64_t{sizeof(float)};
  return round_up(std::max<int64_t>(kBytes / bytes, 1), kImageLanes);
}

/// Returns when no thread of this process computes any more, or after 50 waits of 1 ms.
void let_threads_sleep() {
  constexpr int kMostWaits = 50;
  constexpr std::chrono::milliseconds kWait{1};
  constexpr double kAsleep = 2e-4;  // CPU seconds that a wait itself and other small work may use
  for (int i = 0; i < kMostWaits; ++i) {
    const double before = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
    std::this_thread::sleep_for(kWait);
    if (processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - before < kAsleep) return;
  }
}

}  // namespace

Summary sample(const Effort& effort, const TakeSample& take) {
  constexpr double kPatience = 10;  // times effort.seconds, to reach effort.least
  constexpr int kBetweenLooks = 5;  // samples between checks of the spread: it needs sorting, which must not dominate
  const auto begin = Clock::now();
  const auto patience_ends = [&] { return seconds_since(begin) >= effort.seconds * kPatience; };
  std::vector<double> samples{take(true)};
  const auto last_is_next = [&] {
    const auto count = static_cast<int>(samples.size()) + 1;
    if (count >= effort.most || patience_ends()) return true;
    if (count < effort.least) return false;
    if (seconds_since(begin) >= effort.seconds) return true;
    return count % kBetweenLooks == 0 && summarize(samples).spread() <= effort.spread;
  };
  while (!last_is_next()) samples.push_back(take(false));
  // If a single sample took all the time, it is both the first and the last.
  const bool more = static_cast<int>(samples.size()) < effort.most;
  if (more && (samples.size() > 1 || !patience_ends())) samples.push_back(take(true));
  return summarize(std::move(samples));
}

std::shared_ptr<const OracleLayer> timed_layer(const ConvStep& step, Oracle& oracle) {
  constexpr double kFlops = 2e9;
  constexpr int64_t kLeast = 3, kMost = 64;  // at least three, so that renew() has a choice
  ConvStep few = step;
  few.problem.n = 1;
  few.problem.n = std::clamp(static_cast<int64_t>(kFlops / few.problem.flops()), kLeast, kMost);
  if (few.input_format.order != Order::nchw) few.input_format = kNchw;
  few.output_format = kNchw;
  return oracle.layer(few, Fill::reals, {}, 0);
}

BenchArrays::BenchArrays(Device& device, const ConvStep& step, std::shared_ptr<const OracleLayer> layer)
    : device_(device), step_(step), layer_(std::move(layer)), stream_(device.make_stream()) {
  const auto bytes = [](const Shape& shape, Format format) {
    return static_cast<size_t>(byte_count(shape, format)) + (kPlaces - 1) * kShift;
  };
  x_ = device.allocate(bytes(step.problem.input_shape(), step.input_format));
  w_ = uploaded(device, *stream_, layer_->convolved->w);
  if (step.epilogue.bias) bias_ = uploaded(device, *stream_, layer_->bias);
  y_ = device.allocate(bytes(step.output_shape(), step.output_format));
  for (std::vector<int64_t>& at : at_) at.assign(static_cast<size_t>(step.problem.n), 0);
  if (stream_->threads() == nullptr) own_threads_ = std::make_unique<ThreadPool>();
  const auto piece = [&](const Shape& shape) {
    return element_count(with_images(shape, std::min(images_at_a_time(shape), step.problem.n)));
  };
  staging_.resize(static_cast<size_t>(std::max(piece(step.problem.input_shape()), piece(step.output_shape()))));
  staging_lock_ = device.page_lock(staging_.data(), std::span(staging_).size_bytes());
  renew();
}

ConvArgs BenchArrays::arguments() const {
  return {.step = step_,
          .x = x(),
          .w = static_cast<const float*>(w_.data()),
          .bias = static_cast<const float*>(bias_.data()),
          .y = static_cast<float*>(y())};
}

void* BenchArrays::x() const { return static_cast<char*>(x_.data()) + place_ * kShift; }

void* BenchArrays::y() const { return static_cast<char*>(y_.data()) + place_ * kShift; }

ThreadPool& BenchArrays::threads() { return own_threads_ ? *own_threads_ : *stream_->threads(); }

void BenchArrays::renew() {
  const int64_t images = layer_->convolved->x->shape()[0];
  const std::vector<int64_t>& before = at_[place_];
  place_ = (place_ + 1) % kPlaces;
  std::vector<int64_t>& now = at_[place_];
  for (size_t i = 0; i < now.size(); ++i) {
    const int64_t last_time = now[i];
    while (now[i] == last_time || now[i] == before[i]) now[i] = random_.integer(0, images - 1);
  }
  upload_images();
  constexpr int kUninitializedByte = 0xff;
  stream_->fill(y_.data(), kUninitializedByte, y_.bytes());
  stream_->synchronize();
}

void BenchArrays::upload_images() {
  const Tensor& images = *layer_->convolved->x;
  const size_t image_bytes = images.bytes() / static_cast<size_t>(images.shape()[0]);
  const auto* from = static_cast<const char*>(images.raw());
  const Shape shape = step_.problem.input_shape();
  const int64_t step = images_at_a_time(shape);
  const auto gather = [&](int64_t first, int64_t count, void* to) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(to) + static_cast<size_t>(i) * image_bytes,
                  from + static_cast<size_t>(at_[place_][first + i]) * image_bytes, image_bytes);
    }
  };
  for (int64_t first = 0; first < step_.problem.n; first += step) {
    const int64_t count = std::min(step, step_.problem.n - first);
    const int64_t offset = first == 0 ? 0 : byte_count(with_images(shape, first), step_.input_format);
    char* const to = static_cast<char*>(x()) + offset;
    if (step_.input_format.order == Order::nchw) {
      gather(first, count, staging_.data());
      stream_->upload(to, staging_.data(), static_cast<size_t>(count) * image_bytes);
    } else {
      Tensor piece(images.type(), with_images(shape, count));
      gather(first, count, piece.raw());
      piece = pack(piece, step_.input_format);
      stream_->upload(to, piece.raw(), piece.bytes());
    }
    stream_->synchronize();
  }
}

Verdict BenchArrays::check(const KernelInfo& kernel) {
  BatchComparison comparison(layer_->expected(), rounding_model(step_, kernel));
  const Shape shape = step_.output_shape();
  const int64_t step = images_at_a_time(shape);
  for (int64_t first = 0; first < step_.problem.n; first += step) {
    const int64_t count = std::min(step, step_.problem.n - first);
    const Shape piece = with_images(shape, count);
    const int64_t offset = first == 0 ? 0 : byte_count(with_images(shape, first), step_.output_format);
    const char* const from = static_cast<const char*>(y()) + offset;
    std::vector<float> converted;
    std::span<const float> got = std::span(staging_).first(static_cast<size_t>(element_count(piece)));
    if (step_.output_format.order == Order::nchw) {
      stream_->download(staging_.data(), from, got.size_bytes());
      stream_->synchronize();
    } else {
      got = converted = download_plain(*stream_, from, piece, step_.output_format);
    }
    comparison.add(first, std::span(at_[place_]).subspan(static_cast<size_t>(first), static_cast<size_t>(count)), got,
                   threads());
  }
  return comparison.verdict();
}

void BenchArrays::flush_caches() {
  constexpr size_t kLargerThanAnyCache = size_t{256} << 20;
  if (!flush_) flush_ = device_.allocate(kLargerThanAnyCache);
  stream_->fill(flush_.data(), 1, flush_.bytes());
  stream_->synchronize();
}

KernelBench::KernelBench(const Kernel& kernel, BenchArrays& arrays, Checked checked, std::span<const int> tuning)
    : kernel_(kernel),
      arrays_(arrays),
      checked_(checked),
      tuning_(tuning.begin(), tuning.end()),
      prepared_(arrays.device().allocate(prepared_bytes(kernel, arrays.step(), arrays.device().caps()))),
      workspace_(arrays.device().allocate(workspace_bytes(kernel, arrays.step(), arrays.device().caps()))) {
  if (kernel_.prepare != nullptr) {
    ConvArgs arguments = arrays_.arguments();
    arguments.prepared = prepared_.data();
    arguments.workspace = workspace_.data();
    arguments.tuning = tuning_;
    const auto begin = Clock::now();
    call(kernel_.prepare, arguments, arrays_.stream());
    arrays_.stream().synchronize();
    prepare_ms_ = seconds_since(begin) * 1e3;
  }
  take_over();
}

std::string KernelBench::choice() const {
  return kernel_.choice != nullptr ? kernel_.choice(arrays_.step(), arrays_.stream()) : "";
}

KernelBench::Times KernelBench::run(Caches caches, bool end) {
  const bool check = end || checked_ == Checked::all;
  if (check) arrays_.renew();
  if (checked_ == Checked::all) {
    launch();
    arrays_.renew();
  }
  if (caches == Caches::cold) arrays_.flush_caches();
  const Times times = launch(caches == Caches::hot);
  if (check) check_output();
  return times;
}

void KernelBench::check_output() {
  if (const Verdict verdict = arrays_.check(kernel_.info); !verdict.passed()) {
    throw wrong_result("{}: output of a timed launch is wrong: {}", kernel_.info.name, describe(verdict));
  }
}

double KernelBench::replay(int launches, bool end) {
  Stream& stream = arrays_.stream();
  if (end) {
    arrays_.renew();
    graph_ = nullptr;  // its launches have the previous addresses
  }
  if (!graph_) {
    graph_ = stream.record([&] {
      for (int i = 0; i < launches; ++i) enqueue();
    });
    if (!graph_) throw unavailable("{}: launches cannot be captured in a CUDA graph", kernel_.info.name);
    graph_->run();
  }
  const double seconds = stream.time([&] { graph_->run(); });
  if (end) check_output();
  return seconds * 1e3 / launches;
}

void KernelBench::take_over() {
  if (arrays_.device().caps().runs_on_host()) let_threads_sleep();
  launch();
}

void KernelBench::enqueue() {
  ConvArgs arguments = arrays_.arguments();
  if (kernel_.packs_weights) arguments.w = nullptr;
  arguments.prepared = prepared_.data();
  arguments.workspace = workspace_.data();
  arguments.tuning = tuning_;
  call(kernel_.launch, arguments, arrays_.stream());
}

KernelBench::Times KernelBench::launch(bool behind_another) {
  Stream& stream = arrays_.stream();
  SetAside& aside = stream.attached<SetAside>();
  aside.take();
  const auto begin = Clock::now();
  double device_seconds = stream.time([&] { enqueue(); });
  const double all_seconds = seconds_since(begin);
  const SetAside beside = aside.take();
  if (behind_another && !arrays_.device().caps().runs_on_host() && beside.seconds == 0) {
    enqueue();  // the GPU is still busy when the next launch is enqueued, so it does not idle between the two events
    device_seconds = stream.time([&] { enqueue(); });
  }
  last_ = {.device_ms = (device_seconds - beside.seconds) * 1e3,
           .op_ms = (all_seconds - beside.seconds) * 1e3,
           .layer_ms = beside.layer_seconds * 1e3,
           .early = beside.early};
  return last_;
}

}  // namespace convlab
