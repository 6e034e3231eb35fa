// Decides where a convolution in bf16 nhwc reads its input, and copies input rows if needed.

#include "convlab/kernels/cpu/nhwc_bf16/half_source.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_rows.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_sums.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"

namespace convlab {

namespace {

/// Whether output rows with tiles of their own need many more tile loads than output rows that run on into the next
/// row. Two tiles of positions need 4 loads; a single one needs 3, because it shares no tile of weights.
bool leaves_tiles_empty(const ConvProblem& problem) {
  const int64_t tiles = ceil_div(problem.q(), kTilePlaces), width = problem.q() + (problem.s - 1) / problem.stride_w;
  const int64_t loads = tiles / 2 * 4 + tiles % 2 * 3;
  return 2 * kTilePlaces * loads > 5 * width;
}

}  // namespace

HalfSource::HalfSource(const ConvStep& step) : step_(step), problem_(step.problem) {
  const bool plain = step.input_format.order == Order::nchw, one = problem_.r == 1 && problem_.s == 1;
  const bool strides = problem_.stride_h == problem_.stride_w && problem_.stride_h > 1;
  gathered_ = one && !problem_.unit_stride() && !plain;
  if (strides && !plain && !one && problem_.dilation_h == 1 && problem_.dilation_w == 1 &&
      leaves_tiles_empty(problem_)) {
    phases_ = problem_.stride_h;
  }
  copied_ = problem_.padded() || plain || gathered_ || phases_ > 1;
  joins_images_ = !copied_ && one && !step.epilogue.pool && problem_.n * problem_.p() * problem_.q() >= kTilePlaces;
  copied_ = copied_ || (!joins_images_ && problem_.q() < kTilePlaces);
  row_step_ = gathered_ || phases_ > 1 ? 1 : problem_.stride_h;
  column_step_ = gathered_ || phases_ > 1 ? 1 : problem_.stride_w;
  channels_ = round_up(problem_.channels_per_group(), 2);
  if (phases_ > 1) {
    width_ = problem_.q() + (problem_.s - 1) / phases_;
  } else {
    width_ = gathered_ ? problem_.q() : problem_.w + (copied_ ? most_padding() : 0);
  }
  pixel_ = copied_ ? channels_ : pixel_step(step.input_step, problem_.input_shape());
}

int64_t HalfSource::most_padding() const { return std::max(problem_.pad_left, problem_.pad_right); }

int64_t HalfSource::rows_under(int64_t output_rows) const {
  if (phases_ > 1) return phases_ * (output_rows + (problem_.r - 1) / phases_);
  return (output_rows - 1) * row_step_ + (problem_.r - 1) * problem_.dilation_h + 1;
}

int64_t HalfSource::count(int64_t output_rows) const {
  const int64_t behind = most_padding() + kTilePlaces * column_step_ + problem_.s * problem_.dilation_w;
  return rows_under(output_rows) * row() + behind * pixel_;
}

void HalfSource::copy(const void* image, int64_t group, RowRange outputs, int64_t begin, int64_t end,
                      uint16_t* copy) const {
  const int64_t every = gathered_ ? problem_.stride_h : 1, plane = this->plane(outputs.count);
  for (int64_t i = begin; i < end; ++i) {
    if (phases_ > 1) {
      const int64_t h = outputs.first * phases_ + i - problem_.pad_top;
      copy_phases(image, group, h, plane, copy + i % phases_ * phases_ * plane + i / phases_ * width_ * pixel_);
      continue;
    }
    const int64_t h = (outputs.first * row_step_ + i) * every - problem_.pad_top;
    if (h < 0 || h >= problem_.h) {
      std::fill_n(copy + i * row(), row(), uint16_t{0});
    } else {
      copy_pixels(image, group, h, copy + i * row());
    }
  }
}

const uint16_t* HalfSource::pixel_at(const void* image, int64_t group, int64_t h, int64_t w) const {
  return static_cast<const uint16_t*>(image) + group * problem_.channels_per_group() +
         (h * problem_.w + w) * pixel_step(step_.input_step, problem_.input_shape());
}

/// Copies one row, which may be padding, to a row of each phase's plane.
void HalfSource::copy_phases(const void* image, int64_t group, int64_t h, int64_t plane, uint16_t* to) const {
  const bool inside = h >= 0 && h < problem_.h;
  for (int64_t phase = 0; phase < phases_; ++phase) {
    for (int64_t i = 0; i < width_; ++i) {
      const int64_t w = i * phases_ + phase - problem_.pad_left;
      uint16_t* const pixel = to + phase * plane + i * pixel_;
      if (inside && w >= 0 && w < problem_.w) {
        std::copy_n(pixel_at(image, group, h, w), pixel_, pixel);
      } else {
        std::fill_n(pixel, pixel_, uint16_t{0});
      }
    }
  }
}

void HalfSource::pad_behind(uint16_t* behind) const { std::fill_n(behind, most_padding() * pixel_, uint16_t{0}); }

/// Copies one row: zeros, pixels, zeros.
void HalfSource::copy_pixels(const void* image, int64_t group, int64_t h, uint16_t* to) const {
  const int64_t channels = problem_.channels_per_group(), every = gathered_ ? problem_.stride_w : 1;
  const int64_t begin = std::min(width_, (problem_.pad_left + every - 1) / every);
  const int64_t end = std::clamp((problem_.w + problem_.pad_left + every - 1) / every, begin, width_);
  const int64_t column = begin * every - problem_.pad_left, count = end - begin;
  std::fill_n(to, begin * pixel_, uint16_t{0});
  std::fill(to + end * pixel_, to + width_ * pixel_, uint16_t{0});
  to += begin * pixel_;
  if (step_.input_format.order == Order::nchw) {
    const int64_t plane = problem_.h * problem_.w, at = group * channels * plane + h * problem_.w + column;
    if (step_.input_format == kRawPixels) {
      maps_to_pixels(static_cast<const uint8_t*>(image) + at, plane, channels, count, to, pixel_, channels_);
    } else {
      maps_to_pixels(static_cast<const float*>(image) + at, plane, channels, count, to, pixel_, channels_);
    }
    return;
  }
  const int64_t from_step = pixel_step(step_.input_step, problem_.input_shape()) * every;
  const uint16_t* const from = pixel_at(image, group, h, column);
  if (from_step == pixel_) {
    std::copy_n(from, count * pixel_, to);
  } else {
    for (int64_t i = 0; i < count; ++i) std::copy_n(from + i * from_step, channels, to + i * pixel_);
  }
}

}  // namespace convlab
