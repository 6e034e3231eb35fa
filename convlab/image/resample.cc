// Resizes pictures, byte for byte as Pillow does.

#include "convlab/image/resample.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace convlab {
namespace {

constexpr int kWeightBits = 22;

double weight_at(double distance, Filter filter) {
  const double x = std::abs(distance);
  if (filter == Filter::bilinear) return std::max(1 - x, 0.0);
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// For each output index of one dimension, the range of input indices that it sums, and their weights.
struct Taps {
  int64_t most = 0;  ///< the stride of `weights` per output
  std::vector<int64_t> first, count;
  std::vector<int32_t> weights;
};

Taps make_taps(int64_t inputs, int64_t outputs, Filter filter) {
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs);
  const double width = std::max(scale, 1.0);
  const double reach = (filter == Filter::bilinear ? 1 : 2) * width;
  Taps taps{.most = static_cast<int64_t>(std::ceil(reach)) * 2 + 1};
  taps.weights.resize(static_cast<size_t>(taps.most * outputs));
  std::vector<double> weights;
  for (int64_t output = 0; output < outputs; ++output) {
    const double center = (static_cast<double>(output) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(std::floor(center - reach + 0.5)), 0);
    const int64_t end = std::min(static_cast<int64_t>(std::floor(center + reach + 0.5)), inputs);
    weights.clear();
    double sum = 0;
    for (int64_t input = first; input < end; ++input) {
      weights.push_back(weight_at((static_cast<double>(input) - center + 0.5) * (1 / width), filter));
      sum += weights.back();
    }
    for (size_t i = 0; i < weights.size(); ++i) {
      const double scaled = weights[i] / sum * (1 << kWeightBits);
      taps.weights[static_cast<size_t>(output * taps.most) + i] = static_cast<int32_t>(std::lround(scaled));
    }
    taps.first.push_back(first);
    taps.count.push_back(end - first);
  }
  return taps;
}

/// Writes the weighted sum of `count` rows of `length` elements, which are `stride` elements apart.
void sum_rows(const uint8_t* rows, int64_t stride, int64_t count, const int32_t* weights, int64_t length, int32_t* sums,
              uint8_t* to) {
  std::fill(sums, sums + length, 1 << (kWeightBits - 1));
  for (int64_t row = 0; row < count; ++row, rows += stride) {
    for (int64_t i = 0; i < length; ++i) sums[i] += rows[i] * weights[row];
  }
  for (int64_t i = 0; i < length; ++i) to[i] = static_cast<uint8_t>(std::clamp(sums[i] >> kWeightBits, 0, 255));
}

Tensor along_rows(const Tensor& picture, int64_t width, Filter filter) {
  const int64_t height = picture.shape()[0], from_width = picture.shape()[1], channels = picture.shape()[2];
  const Taps taps = make_taps(from_width, width, filter);
  Tensor result(ElementType::u8, {height, width, channels});
  const uint8_t* from = picture.values<uint8_t>().data();
  uint8_t* to = result.values<uint8_t>().data();
  std::vector<int32_t> sums(static_cast<size_t>(channels));
  for (int64_t y = 0; y < height; ++y, from += from_width * channels) {
    for (int64_t x = 0; x < width; ++x, to += channels) {
      const auto at = static_cast<size_t>(x);
      sum_rows(from + taps.first[at] * channels, channels, taps.count[at],
               &taps.weights[at * static_cast<size_t>(taps.most)], channels, sums.data(), to);
    }
  }
  return result;
}

Tensor along_columns(const Tensor& picture, int64_t height, Filter filter) {
  const int64_t row = picture.shape()[1] * picture.shape()[2];
  const Taps taps = make_taps(picture.shape()[0], height, filter);
  Tensor result(ElementType::u8, {height, picture.shape()[1], picture.shape()[2]});
  const uint8_t* from = picture.values<uint8_t>().data();
  uint8_t* to = result.values<uint8_t>().data();
  std::vector<int32_t> sums(static_cast<size_t>(row));
  for (int64_t y = 0; y < height; ++y, to += row) {
    const auto at = static_cast<size_t>(y);
    sum_rows(from + taps.first[at] * row, row, taps.count[at], &taps.weights[at * static_cast<size_t>(taps.most)], row,
             sums.data(), to);
  }
  return result;
}

}  // namespace

Tensor resampled(const Tensor& picture, int64_t height, int64_t width, Filter filter) {
  const bool wide = width != picture.shape()[1], high = height != picture.shape()[0];
  if (!wide && !high) return picture.clone();
  if (!high) return along_rows(picture, width, filter);
  if (!wide) return along_columns(picture, height, filter);
  return along_columns(along_rows(picture, width, filter), height, filter);
}

}  // namespace convlab
