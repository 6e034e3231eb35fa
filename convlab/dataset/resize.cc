// Scales images bilinearly, byte for byte as scikit-image does.

#include "convlab/dataset/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/limits.h"
#include "convlab/device/thread_pool.h"

namespace convlab {
namespace {

/// Scales H x W planes of one size, one at a time.
class Resizer {
 public:
  Resizer(int64_t h, int64_t w, int64_t side)
      : h_(h), w_(w), side_(side), rows_(h, side), columns_(w, side), left_(padded_count()), right_(padded_count()) {}

  void resize(const uint8_t* map, uint8_t* to) {
    spread_columns(map);
    // scikit-image clips to the plane's range of values. At the top, truncation already does that. At the bottom, sums
    // that include zeros from outside, or were rounded down, are raised to the smallest pixel. It is an integer, so the
    // order of truncation and clipping does not matter.
    const uint8_t least = *std::min_element(map, map + h_ * w_);
    for (int64_t p = 0; p < side_; ++p) {
      const auto at = static_cast<size_t>(p);
      const int64_t upper = rows_.first[at] * side_, lower = upper + side_;
      blend(left_.data() + upper, right_.data() + upper, rows_.weight0[at], left_.data() + lower, right_.data() + lower,
            rows_.weight1[at], least, to + p * side_);
    }
  }

 private:
  size_t padded_count() const { return static_cast<size_t>((h_ + 2) * side_); }

  /// Fills left_ and right_, [h + 2][side]: for each row of the plane, with a row of zeros above and below, the two
  /// pixels between which each output column is. So blend() reads rows in order, and the compiler vectorizes it.
  void spread_columns(const uint8_t* map) {
    std::vector<double> row(static_cast<size_t>(w_ + 2));
    for (int64_t h = 0; h < h_; ++h) {
      std::copy_n(map + h * w_, w_, row.begin() + 1);
      double* left = left_.data() + (h + 1) * side_;
      double* right = right_.data() + (h + 1) * side_;
      for (int64_t q = 0; q < side_; ++q) {
        const auto first = static_cast<size_t>(columns_.first[static_cast<size_t>(q)]);
        left[q] = row[first];
        right[q] = row[first + 1];
      }
    }
  }

  /// Computes one output row. Products and sums are in scipy's order. Pixels are 0..255 here and n/256 there, which
  /// makes no difference, because scaling by a power of two is exact.
  void blend(const double* upper_left, const double* upper_right, double upper_weight, const double* lower_left,
             const double* lower_right, double lower_weight, uint8_t least, uint8_t* __restrict to) const {
    const double* left_weight = columns_.weight0.data();
    const double* right_weight = columns_.weight1.data();
    for (int64_t q = 0; q < side_; ++q) {
      double sum = upper_left[q] * upper_weight * left_weight[q];
      sum += upper_right[q] * upper_weight * right_weight[q];
      sum += lower_left[q] * lower_weight * left_weight[q];
      sum += lower_right[q] * lower_weight * right_weight[q];
      to[q] = std::max(static_cast<uint8_t>(static_cast<int>(sum)), least);
    }
  }

  int64_t h_, w_, side_;
  ResizeTaps rows_, columns_;
  std::vector<double> left_, right_;
};

}  // namespace

ResizeTaps::ResizeTaps(int64_t size, int64_t side) {
  const double step = static_cast<double>(size) / static_cast<double>(side);
  for (int64_t i = 0; i < side; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * step - 0.5;
    const double before = std::floor(center);
    first.push_back(static_cast<int64_t>(before) + 1);
    weight0.push_back(1.0 - (center - before));
    weight1.push_back(1.0 - weight0.back());
  }
}

void resize_maps(const uint8_t* from, const Shape& shape, int64_t side, uint8_t* to, ThreadPool& threads) {
  constexpr int64_t kMapsPerChunk = 64;
  const int64_t h = shape[2], w = shape[3];
  threads.parallel_for(shape[0] * shape[1], kMapsPerChunk, [&](int64_t begin, int64_t end, int) {
    Resizer resizer(h, w, side);
    for (int64_t map = begin; map < end; ++map) resizer.resize(from + map * h * w, to + map * side * side);
  });
}

Tensor resized(const Tensor& images, int64_t side, ThreadPool& threads) {
  if (images.shape().size() != 4 || images.count() == 0) {
    throw bad_input("expected images of shape N x C x H x W, got {}", to_text(images.shape()));
  }
  if (side < 1 || side > kMostSide)
    throw bad_input("the side of scaled images must be between 1 and {}, got {}", kMostSide, side);
  const int64_t h = images.shape()[2], w = images.shape()[3];
  if (h == side && w == side) return images.clone();
  const Shape shape = {images.shape()[0], images.shape()[1], side, side};
  const int64_t bytes = element_count(shape);
  if (bytes > usable_memory_bytes() / 2) {
    throw bad_input("{} images scaled to {}x{} need {} bytes of memory; use fewer images or a smaller side", shape[0],
                    side, side, bytes);
  }
  Tensor result(ElementType::u8, shape);
  resize_maps(images.values<uint8_t>().data(), images.shape(), side, result.values<uint8_t>().data(), threads);
  return result;
}

}  // namespace convlab
