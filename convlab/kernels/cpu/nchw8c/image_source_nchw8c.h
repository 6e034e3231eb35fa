#pragma once

#include <cstdint>

#include "convlab/conv/problem.h"

namespace convlab {

/// Where a convolution in nchw8c reads an image's pixels: in the image itself or, if it is padded or a
/// strided 1x1 filter uses only some of its pixels, in a copy of the rows that some outputs need: [row][c / 8][padded
/// width][8]. Offsets are in floats; those in a copy are relative to the copy of all rows.
class Source {
 public:
  explicit Source(const ConvProblem& problem);

  bool copied() const { return copied_; }

  /// Floats of the copy of the input rows under `output_rows` rows of the output.
  int64_t count(int64_t output_rows) const { return rows_under(output_rows) * row_; }

  /// An upper bound of all offsets.
  int64_t reach() const { return count(problem_.p()) + (copied_ ? 0 : block_ * problem_.channels_per_group() / 8); }

  int32_t place_of_pixel(int64_t row, int64_t column) const {
    return static_cast<int32_t>(row * row_step_ * row_ + column * column_step_ * 8);
  }
  int32_t place_of_tap(int64_t block, int64_t r, int64_t s) const {
    return static_cast<int32_t>(block * block_ + r * problem_.dilation_h * row_ + s * problem_.dilation_w * 8);
  }

  /// Copies the input of output rows [first, first + rows) for one group of channels that begins at x.
  void copy(const float* x, int64_t first, int64_t rows, float* to) const;

 private:
  int64_t rows_under(int64_t output_rows) const {
    return (output_rows - 1) * row_step_ + (problem_.r - 1) * problem_.dilation_h + 1;
  }

  const ConvProblem& problem_;
  bool copied_;
  int64_t row_step_, column_step_;  ///< between adjacent outputs, in what is read
  int64_t row_, block_;             ///< floats between rows, and between blocks of 8 channels
};

}  // namespace convlab
