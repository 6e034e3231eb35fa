// Copies and pads the input rows of convolutions in nchw8c.

#include "convlab/kernels/cpu/nchw8c/image_source_nchw8c.h"

#include <algorithm>

namespace convlab {

Source::Source(const ConvProblem& problem) : problem_(problem) {
  const bool gathered = problem.r == 1 && problem.s == 1 && !problem.unit_stride();
  copied_ = problem.padded() || gathered;
  row_step_ = gathered ? 1 : problem.stride_h;
  column_step_ = gathered ? 1 : problem.stride_w;
  const int64_t width = gathered ? problem.q() : problem.w + (copied_ ? problem.pad_left + problem.pad_right : 0);
  block_ = copied_ ? width * 8 : problem.h * problem.w * 8;
  row_ = copied_ ? problem.channels_per_group() * width : width * 8;
}

void Source::copy(const float* x, int64_t first, int64_t rows, float* to) const {
  const int64_t width = block_ / 8;
  const int64_t every_row = problem_.stride_h / row_step_, every_column = problem_.stride_w / column_step_;
  // Columns of the copy that are inside the image.
  const int64_t begin = std::min(width, (problem_.pad_left + every_column - 1) / every_column);
  const int64_t end = std::clamp((problem_.w + problem_.pad_left + every_column - 1) / every_column, begin, width);
  for (int64_t i = 0; i < rows_under(rows); ++i) {
    const int64_t row = (first * row_step_ + i) * every_row - problem_.pad_top;
    for (int64_t block = 0; block < problem_.channels_per_group() / 8; ++block, to += block_) {
      if (row < 0 || row >= problem_.h) {
        std::fill_n(to, block_, 0.0f);
        continue;
      }
      const float* const from = x + (block * problem_.h + row) * problem_.w * 8;
      std::fill_n(to, begin * 8, 0.0f);
      if (every_column == 1) {
        std::copy_n(from + (begin - problem_.pad_left) * 8, (end - begin) * 8, to + begin * 8);
      } else {
        for (int64_t j = begin; j < end; ++j) {
          std::copy_n(from + (j * every_column - problem_.pad_left) * 8, 8, to + j * 8);
        }
      }
      std::fill(to + end * 8, to + block_, 0.0f);
    }
  }
}

}  // namespace convlab
