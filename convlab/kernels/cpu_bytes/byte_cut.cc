#include "convlab/kernels/cpu_bytes/byte_cut.h"

#include <algorithm>
#include <cstring>

#include "convlab/kernels/cpu_bytes/byte_levels.h"

namespace convlab {

ByteSource::ByteSource(const ConvProblem& problem, ByteUnit unit) : problem_(problem), unit_(unit) {
  copied_ = problem.padded() || unit == ByteUnit::words;
  joins_images_ = !copied_ && problem.r == 1 && problem.s == 1 && problem.unit_stride();
  width_ = problem.w + (copied_ ? problem.pad_left + problem.pad_right : 0);
  channels_ = pixel_bytes(problem.channels_per_group());
  pixel_ = copied_ ? channels_ * (unit == ByteUnit::words ? 2 : 1) : pixel_bytes(problem.c);
  row_ = width_ * pixel_;
}

void ByteSource::copy(const uint8_t* x, int64_t first, int64_t rows, int zero, uint8_t* to) const {
  const bool words = unit_ == ByteUnit::words;
  const int64_t from_pixel = pixel_bytes(problem_.c);
  const auto fill = [&](int64_t pixels) {
    const int64_t count = pixels * channels_;
    if (words) {
      std::fill_n(reinterpret_cast<int16_t*>(to), count, static_cast<int16_t>(zero));
    } else {
      std::memset(to, zero, static_cast<size_t>(count));
    }
    to += pixels * pixel_;
  };
  for (int64_t i = 0; i < rows_under(rows); ++i) {
    const int64_t row = first * problem_.stride_h + i - problem_.pad_top;
    if (row < 0 || row >= problem_.h) {
      fill(width_);
      continue;
    }
    fill(problem_.pad_left);
    const uint8_t* from = x + row * problem_.w * from_pixel;
    const bool whole = channels_ == from_pixel;  // pixels lie together
    const int64_t pieces = whole ? 1 : problem_.w, count = channels_ * (whole ? problem_.w : 1);
    for (int64_t piece = 0; piece < pieces; ++piece, from += from_pixel) {
      if (words) {
        std::copy_n(from, count, reinterpret_cast<int16_t*>(to));
      } else {
        std::memcpy(to, from, static_cast<size_t>(count));
      }
      to += count * (words ? 2 : 1);
    }
    fill(problem_.pad_right);
  }
}

}  // namespace convlab
