#pragma once

#include <cstdint>

#include "convlab/conv/problem.h"

namespace convlab {

/// Where a convolution in Layout::channel_bytes reads the levels of a group's pixels: in the images themselves, or,
/// where they are padded, in a copy of the rows that some outputs need: [row][padded width][channels]. The images of a
/// filter of one pixel that are not copied are one image, as high as all together.
class ByteSource {
 public:
  explicit ByteSource(const ConvProblem& problem);

  bool copied() const { return copied_; }
  bool joins_images() const { return joins_images_; }

  /// Whether outputs go on from the end of a row to the next, with width() places for each row.
  bool flows() const { return problem_.unit_stride(); }

  int64_t width() const { return width_; }  ///< pixels of a row of what is read

  /// Bytes from a pixel to the next, and from a row to the next, of what is read.
  int64_t pixel() const { return pixel_; }
  int64_t row() const { return row_; }

  /// The same from a row of the filter to the next, and from a column.
  int64_t filter_row() const { return problem_.dilation_h * row_; }
  int64_t filter_column() const { return problem_.dilation_w * pixel_; }

  /// Bytes of the copy of the rows under so many rows of the output.
  int64_t bytes(int64_t output_rows) const { return rows_under(output_rows) * row_; }

  /// Copies what `rows` rows of the output from `first` on read of a group of channels whose image begins at x, with
  /// pixels of `zero` around it.
  void copy(const uint8_t* x, int64_t first, int64_t rows, int zero, uint8_t* to) const;

 private:
  int64_t rows_under(int64_t output_rows) const {
    return (output_rows - 1) * problem_.stride_h + (problem_.r - 1) * problem_.dilation_h + 1;
  }

  const ConvProblem& problem_;
  bool copied_, joins_images_;
  int64_t width_, channels_;  ///< of what is read: in pixels; of a group's pixel, with what fills it up
  int64_t pixel_, row_;
};

}  // namespace convlab
