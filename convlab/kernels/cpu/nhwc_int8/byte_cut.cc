// Copies and pads the input rows of quantized CPU convolutions.

#include "convlab/kernels/cpu/nhwc_int8/byte_cut.h"

#include <algorithm>
#include <cstring>

#include "convlab/kernels/cpu/nhwc_int8/byte_levels.h"

namespace convlab {

ByteSource::ByteSource(const ConvProblem& problem) : problem_(problem) {
  copied_ = problem.padded();
  joins_images_ = !copied_ && problem.r == 1 && problem.s == 1 && problem.unit_stride();
  width_ = problem.w + (copied_ ? problem.pad_left + problem.pad_right : 0);
  channels_ = pixel_bytes(problem.channels_per_group());
  pixel_ = copied_ ? channels_ : pixel_bytes(problem.c);
  row_ = width_ * pixel_;
}

void ByteSource::copy(const uint8_t* x, int64_t first, int64_t rows, int zero, uint8_t* to) const {
  const int64_t from_pixel = pixel_bytes(problem_.c);
  const auto fill = [&](int64_t pixels) {
    const int64_t count = pixels * channels_;
    std::memset(to, zero, static_cast<size_t>(count));
    to += count;
  };
  for (int64_t i = 0; i < rows_under(rows); ++i) {
    const int64_t row = first * problem_.stride_h + i - problem_.pad_top;
    if (row < 0 || row >= problem_.h) {
      fill(width_);
      continue;
    }
    fill(problem_.pad_left);
    const uint8_t* from = x + row * problem_.w * from_pixel;
    const bool whole = channels_ == from_pixel;  // pixels are contiguous
    const int64_t pieces = whole ? 1 : problem_.w, count = channels_ * (whole ? problem_.w : 1);
    for (int64_t piece = 0; piece < pieces; ++piece, from += from_pixel) {
      std::memcpy(to, from, static_cast<size_t>(count));
      to += count;
    }
    fill(problem_.pad_right);
  }
}

}  // namespace convlab
