// The arrays of a convolution whose kernels are timed.

#include "convlab/measure/conv_arrays.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/download.h"

namespace convlab {
namespace {

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

}  // namespace

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

ConvArrays::ConvArrays(Device& device, const ConvStep& step, std::shared_ptr<const OracleLayer> layer)
    : BenchArrays(device), conv_(step), step_(step), layer_(std::move(layer)) {
  const auto bytes = [](const Shape& shape, Format format) {
    return static_cast<size_t>(byte_count(shape, format)) + (kPlaces - 1) * kShift;
  };
  x_ = device.allocate(bytes(step.problem.input_shape(), step.input_format));
  w_ = uploaded(device, stream(), layer_->convolved->w);
  if (step.epilogue.bias) bias_ = uploaded(device, stream(), layer_->bias);
  y_ = device.allocate(bytes(step.output_shape(), step.output_format));
  for (std::vector<int64_t>& at : at_) at.assign(static_cast<size_t>(step.problem.n), 0);
  if (stream().threads() == nullptr) own_threads_ = std::make_unique<ThreadPool>();
  const auto piece = [&](const Shape& shape) {
    return element_count(with_images(shape, std::min(images_at_a_time(shape), step.problem.n)));
  };
  staging_.resize(static_cast<size_t>(std::max(piece(step.problem.input_shape()), piece(step.output_shape()))));
  staging_lock_ = device.page_lock(staging_.data(), std::span(staging_).size_bytes());
  renew();
}

void* ConvArrays::x() const { return static_cast<char*>(x_.data()) + place_ * kShift; }

void* ConvArrays::y() const { return static_cast<char*>(y_.data()) + place_ * kShift; }

ThreadPool& ConvArrays::threads() { return own_threads_ ? *own_threads_ : *stream().threads(); }

void ConvArrays::renew() {
  const int64_t images = layer_->convolved->x->shape()[0];
  const std::vector<int64_t>& before = at_[place_];
  place_ = (place_ + 1) % kPlaces;
  std::vector<int64_t>& now = at_[place_];
  for (size_t i = 0; i < now.size(); ++i) {
    const int64_t last_time = now[i];
    while (now[i] == last_time || now[i] == before[i]) now[i] = random_.integer(0, images - 1);
  }
  inputs_ = {x(), w_.data()};
  if (conv_.epilogue.bias) inputs_.push_back(bias_.data());
  output_ = y();
  upload_images();
  mark_uninitialized(y_);
}

void ConvArrays::upload_images() {
  const Tensor& images = *layer_->convolved->x;
  const size_t image_bytes = images.bytes() / static_cast<size_t>(images.shape()[0]);
  const auto* from = static_cast<const char*>(images.raw());
  const Shape shape = conv_.problem.input_shape();
  const int64_t step = images_at_a_time(shape);
  const auto gather = [&](int64_t first, int64_t count, void* to) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(to) + static_cast<size_t>(i) * image_bytes,
                  from + static_cast<size_t>(at_[place_][first + i]) * image_bytes, image_bytes);
    }
  };
  for (int64_t first = 0; first < conv_.problem.n; first += step) {
    const int64_t count = std::min(step, conv_.problem.n - first);
    const int64_t offset = first == 0 ? 0 : byte_count(with_images(shape, first), conv_.input_format);
    char* const to = static_cast<char*>(x()) + offset;
    if (conv_.input_format.order == Order::nchw) {
      gather(first, count, staging_.data());
      stream().upload(to, staging_.data(), static_cast<size_t>(count) * image_bytes);
    } else {
      Tensor piece(images.type(), with_images(shape, count));
      gather(first, count, piece.raw());
      piece = pack(piece, conv_.input_format);
      stream().upload(to, piece.raw(), piece.bytes());
    }
    stream().synchronize();
  }
}

Verdict ConvArrays::check(const KernelInfo& kernel) {
  BatchComparison comparison(layer_->expected(), rounding_model(conv_, kernel));
  const Shape shape = conv_.output_shape();
  const int64_t step = images_at_a_time(shape);
  for (int64_t first = 0; first < conv_.problem.n; first += step) {
    const int64_t count = std::min(step, conv_.problem.n - first);
    const Shape piece = with_images(shape, count);
    const int64_t offset = first == 0 ? 0 : byte_count(with_images(shape, first), conv_.output_format);
    const char* const from = static_cast<const char*>(y()) + offset;
    std::vector<float> converted;
    std::span<const float> got = std::span(staging_).first(static_cast<size_t>(element_count(piece)));
    if (conv_.output_format.order == Order::nchw) {
      stream().download(staging_.data(), from, got.size_bytes());
      stream().synchronize();
    } else {
      got = converted = download_plain(stream(), from, piece, conv_.output_format);
    }
    comparison.add(first, std::span(at_[place_]).subspan(static_cast<size_t>(first), static_cast<size_t>(count)), got,
                   threads());
  }
  return comparison.verdict();
}

}  // namespace convlab
