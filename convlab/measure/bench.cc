#include "convlab/measure/bench.h"

#include <algorithm>
#include <cstring>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/tensor/channel_blocks.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/fills.h"

namespace convlab {
namespace {

Buffer uploaded(Device& device, Stream& stream, const Tensor& tensor) {
  Buffer buffer = device.allocate(tensor.bytes());
  stream.upload(buffer.data(), tensor.raw(), buffer.bytes());
  stream.synchronize();
  return buffer;
}

}  // namespace

Summary sample(const Effort& effort, const std::function<double()>& take) {
  constexpr double kPatience = 10;  // times the limit, for the least number
  constexpr int kBetweenLooks = 5;  // the spread is sorted for, which is not to be what takes the time
  std::vector<double> samples;
  const auto begin = Clock::now();
  while (true) {
    samples.push_back(take());
    const auto count = static_cast<int>(samples.size());
    const double seconds = seconds_since(begin);
    if (count >= effort.most || seconds >= effort.seconds * kPatience) break;
    if (count < effort.least) continue;
    if (seconds >= effort.seconds) break;
    if (count % kBetweenLooks == 0 && summarize(samples).spread() <= effort.spread) break;
  }
  return summarize(std::move(samples));
}

BenchArrays::BenchArrays(Device& device, const ConvStep& step)
    : device_(device), step_(step), stream_(device.make_stream()) {
  if (step.input_layout == Layout::image_lanes || step.output_layout == Layout::image_lanes) {
    throw bad_input("images in lanes are not timed by themselves");
  }
  constexpr int64_t kDifferentImages = 64;
  ConvStep few = step;
  few.problem.n = std::min(step.problem.n, kDifferentImages);
  Tensor images = fill_images(few, Fill::reals, {});
  if (step.input_layout == Layout::channel_blocks) images = to_channel_blocks(images);
  const size_t few_bytes = images.bytes();
  x_ = device.allocate(static_cast<size_t>(layout_bytes(step.problem.input_shape(), step.input_layout, step.input)));
  for (size_t at = 0; at < x_.bytes(); at += few_bytes) {
    stream_->upload(static_cast<char*>(x_.data()) + at, images.raw(), std::min(few_bytes, x_.bytes() - at));
  }
  stream_->synchronize();
  w_ = uploaded(device, *stream_, fill_filters(step, Fill::reals, {}, 0));
  if (step.epilogue.bias) bias_ = uploaded(device, *stream_, fill_bias(step, Fill::reals, {}, 0));
  y_ = device.allocate(static_cast<size_t>(layout_bytes(step.output_shape(), step.output_layout)));
  stream_->fill(y_.data(), 0xff, y_.bytes());
  stream_->synchronize();
}

ConvArgs BenchArrays::arguments() const {
  return {.step = step_,
          .x = x_.data(),
          .w = static_cast<const float*>(w_.data()),
          .bias = static_cast<const float*>(bias_.data()),
          .y = static_cast<float*>(y_.data())};
}

void BenchArrays::flush_caches() {
  constexpr size_t kLargerThanAnyCache = size_t{256} << 20;
  if (!flush_) flush_ = device_.allocate(kLargerThanAnyCache);
  stream_->fill(flush_.data(), 1, flush_.bytes());
  stream_->synchronize();
}

KernelBench::KernelBench(const ConvKernel& kernel, BenchArrays& arrays, std::span<const int> tuning)
    : kernel_(kernel),
      arrays_(arrays),
      tuning_(tuning.begin(), tuning.end()),
      prepared_(arrays.device().allocate(
          kernel.prepared_bytes != nullptr ? kernel.prepared_bytes(arrays.step(), arrays.device().caps()) : 0)),
      workspace_(arrays.device().allocate(
          kernel.workspace_bytes != nullptr ? kernel.workspace_bytes(arrays.step(), arrays.device().caps()) : 0)),
      arguments_(arrays.arguments()) {
  arguments_.prepared = prepared_.data();
  arguments_.workspace = workspace_.data();
  arguments_.tuning = tuning_;
  Stream& stream = arrays_.stream();
  if (kernel_.prepare != nullptr) {
    const auto begin = Clock::now();
    kernel_.prepare(arguments_, stream);
    stream.synchronize();
    prepare_ms_ = seconds_since(begin) * 1e3;
  }
  run();
}

std::string KernelBench::choice() const {
  return kernel_.choice != nullptr ? kernel_.choice(arrays_.step(), arrays_.stream()) : "";
}

KernelBench::Times KernelBench::run() {
  const auto begin = Clock::now();
  const double device_seconds = arrays_.stream().time([this] { kernel_.launch(arguments_, arrays_.stream()); });
  return {.device_ms = device_seconds * 1e3, .op_ms = seconds_since(begin) * 1e3};
}

}  // namespace convlab
