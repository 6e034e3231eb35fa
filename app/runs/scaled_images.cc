// Scales the images of a run, in advance or on demand.

#include "app/runs/scaled_images.h"

#include <fmt/format.h>

#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/limits.h"
#include "convlab/dataset/resize.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostReadyBytes = int64_t{64} << 20;

}  // namespace

ScaledImages::ScaledImages(Tensor originals, int64_t side, int threads, bool all)
    : shape_{originals.shape()[0], originals.shape()[1], side, side}, threads_(std::make_unique<ThreadPool>(threads)) {
  if (!all && side <= kMostSide && originals.shape() != shape_ && element_count(shape_) > kMostReadyBytes) {
    images_ = std::move(originals);
    return;
  }
  images_ = originals.shape() == shape_ ? std::move(originals) : resized(originals, side, *threads_);
  threads_.reset();
}

const uint8_t* ScaledImages::from(int64_t first, int64_t n) {
  const uint8_t* const images = images_.values<uint8_t>().data() + first * (images_.count() / count());
  if (ready()) return images;
  Shape originals = images_.shape(), scaled = shape_;
  originals[0] = scaled[0] = n;
  if (const int64_t bytes = element_count(scaled); some_.count() < bytes) {
    require_memory(checked_add(bytes, images_.count()),
                   fmt::format("{} images scaled to {}x{} need", n, shape_[2], shape_[3]),
                   "use fewer images or a smaller --batch");
    some_ = {};  // frees the old one before the new one is allocated
    some_ = Tensor(ElementType::u8, scaled);
  }
  resize_maps(images, originals, shape_[2], some_.values<uint8_t>().data(), *threads_);
  return some_.values<uint8_t>().data();
}

}  // namespace convlab::app
