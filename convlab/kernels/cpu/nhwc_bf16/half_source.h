#pragma once

#include <cstdint>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/simd/pool_rows.h"

namespace convlab {

/// Input pixels of one group of a convolution in bf16 nhwc bfloat16: read in place, or from a copy of
/// the rows that some outputs need, [row][width][channels]. The input is copied if images are padded or nchw, if a 1x1
/// filter has strides, or if a row has fewer outputs than a tile, which then reads past the end of the row. In a copy,
/// the right padding of a row is also the left padding of the next row. If strides would leave tiles half empty, pixels
/// that outputs read with the same tap are made contiguous: the copy is [row phase][column
/// phase][row][width][channels]. All sizes are in elements.
class HalfSource {
 public:
  explicit HalfSource(const ConvStep& step);

  bool copied() const { return copied_; }

  /// Whether the outputs of all images form one contiguous row, as do the input pixels that they depend on.
  bool joins_images() const { return joins_images_; }

  /// Whether positions run on from the end of an output row into the next row, with width() positions per row.
  bool flows() const { return row_step_ == 1 && column_step_ == 1; }

  /// Whether all elements that a filter row reads are contiguous.
  bool together() const { return problem_.s == 1 || (phases_ == 1 && problem_.dilation_w == 1 && pixel_ == channels_); }

  int64_t channels() const { return channels_; }  ///< channels read per pixel: an even number
  int64_t width() const { return width_; }        ///< pixels per row, of one phase
  int64_t pixel() const { return pixel_; }        ///< elements from pixel to pixel
  int64_t row() const { return phases_ * width_ * pixel_; }
  int64_t output_column() const { return column_step_ * pixel_; }  ///< elements from output to output
  int64_t output_row() const { return row_step_ * width_ * pixel_; }
  int64_t phases() const { return phases_; }

  /// Rows of the copy that output_rows output rows read, and the size of that copy, including what tiles read past its
  /// end.
  int64_t rows_under(int64_t output_rows) const;
  int64_t count(int64_t output_rows) const;

  /// Elements from one column phase to the next in that copy.
  int64_t plane(int64_t output_rows) const { return rows_under(output_rows) / phases_ * width_ * pixel_; }

  /// Writes rows [begin, end) of the copy that output rows `outputs` read. nchw images are fp32 or uint8.
  void copy(const void* image, int64_t group, RowRange outputs, int64_t begin, int64_t end, uint16_t* copy) const;

  /// Writes the right padding of the last row, where the next row would begin.
  void pad_behind(uint16_t* behind) const;

 private:
  int64_t most_padding() const;
  void copy_pixels(const void* image, int64_t group, int64_t row, uint16_t* to) const;
  void copy_phases(const void* image, int64_t group, int64_t row, int64_t plane, uint16_t* to) const;
  const uint16_t* pixel_at(const void* image, int64_t group, int64_t row, int64_t column) const;

  const ConvStep& step_;
  const ConvProblem& problem_;
  bool gathered_, copied_, joins_images_;
  int64_t row_step_, column_step_;  ///< from output to output, in rows and pixels of what is read
  int64_t phases_ = 1;
  int64_t channels_, width_, pixel_;
};

}  // namespace convlab
