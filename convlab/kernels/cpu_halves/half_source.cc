#include "convlab/kernels/cpu_halves/half_source.h"

#include <algorithm>

#include "convlab/kernels/cpu_halves/half_rows.h"
#include "convlab/kernels/cpu_halves/half_sums.h"
#include "convlab/kernels/cpu_halves/halves.h"

namespace convlab {

HalfSource::HalfSource(const ConvStep& step) : step_(step), problem_(step.problem) {
  const bool plain = step.input_layout == Layout::plain, one = problem_.r == 1 && problem_.s == 1;
  gathered_ = one && !problem_.unit_stride() && !plain;
  copied_ = problem_.padded() || plain || gathered_;
  joins_images_ = !copied_ && one && !step.epilogue.pool && problem_.n * problem_.p() * problem_.q() >= kTilePlaces;
  copied_ = copied_ || (!joins_images_ && problem_.q() < kTilePlaces);
  row_step_ = gathered_ ? 1 : problem_.stride_h;
  column_step_ = gathered_ ? 1 : problem_.stride_w;
  channels_ = round_up(problem_.channels_per_group(), 2);
  width_ = gathered_ ? problem_.q() : problem_.w + (copied_ ? most_padding() : 0);
  pixel_ = copied_ ? channels_ : pixel_step(step.input_step, problem_.input_shape());
}

int64_t HalfSource::most_padding() const { return std::max(problem_.pad_left, problem_.pad_right); }

int64_t HalfSource::count(int64_t output_rows) const {
  const int64_t behind = most_padding() + kTilePlaces * column_step_ + problem_.s * problem_.dilation_w;
  return (rows_under(output_rows) * width_ + behind) * pixel_;
}

void HalfSource::copy(const void* image, int64_t group, int64_t first, int64_t begin, int64_t end,
                      uint16_t* copy) const {
  const int64_t every = gathered_ ? problem_.stride_h : 1;
  for (int64_t i = begin; i < end; ++i) {
    const int64_t h = (first * row_step_ + i) * every - problem_.pad_top;
    if (h < 0 || h >= problem_.h) {
      std::fill_n(copy + i * row(), row(), uint16_t{0});
    } else {
      copy_pixels(image, group, h, copy + i * row());
    }
  }
}

void HalfSource::pad_behind(uint16_t* behind) const { std::fill_n(behind, most_padding() * pixel_, uint16_t{0}); }

/// One row: zeros, pixels, zeros.
void HalfSource::copy_pixels(const void* image, int64_t group, int64_t h, uint16_t* to) const {
  const int64_t channels = problem_.channels_per_group(), every = gathered_ ? problem_.stride_w : 1;
  const int64_t begin = std::min(width_, (problem_.pad_left + every - 1) / every);
  const int64_t end = std::clamp((problem_.w + problem_.pad_left + every - 1) / every, begin, width_);
  const int64_t column = begin * every - problem_.pad_left, count = end - begin;
  std::fill_n(to, begin * pixel_, uint16_t{0});
  std::fill(to + end * pixel_, to + width_ * pixel_, uint16_t{0});
  to += begin * pixel_;
  if (step_.input_layout == Layout::plain) {
    const int64_t plane = problem_.h * problem_.w, at = group * channels * plane + h * problem_.w + column;
    if (step_.input == ElementType::u8) {
      maps_to_pixels(static_cast<const uint8_t*>(image) + at, plane, channels, count, to, pixel_, channels_);
    } else {
      maps_to_pixels(static_cast<const float*>(image) + at, plane, channels, count, to, pixel_, channels_);
    }
    return;
  }
  const int64_t from_step = pixel_step(step_.input_step, problem_.input_shape()) * every;
  const auto* from = static_cast<const uint16_t*>(image) + group * channels +
                     (h * problem_.w + column) * pixel_step(step_.input_step, problem_.input_shape());
  if (from_step == pixel_) {
    std::copy_n(from, count * pixel_, to);
  } else {
    for (int64_t i = 0; i < count; ++i) std::copy_n(from + i * from_step, channels, to + i * pixel_);
  }
}

}  // namespace convlab
