#pragma once

#include <cstdint>

#include "convlab/conv/problem.h"

namespace convlab {

/// Where a convolution in nhwc4 uint8 reads the quantized values of a group's pixels: in the images
/// themselves or, if they are padded, in a copy of the rows that some outputs need: [row][padded width][channels]. If a
/// 1x1 filter with unit stride reads the images themselves, the images of a batch are one image, as high as all
/// together.
class ByteSource {
 public:
  explicit ByteSource(const ConvProblem& problem);

  bool copied() const { return copied_; }
  bool joins_images() const { return joins_images_; }

  /// Whether outputs continue from the end of a row into the next, with width() positions per row.
  bool flows() const { return problem_.unit_stride(); }

  int64_t width() const { return width_; }  ///< pixels per row of what is read

  /// Bytes between pixels and between rows of what is read.
  int64_t pixel() const { return pixel_; }
  int64_t row() const { return row_; }

  /// Bytes between rows and between columns of the filter, in what is read.
  int64_t filter_row() const { return problem_.dilation_h * row_; }
  int64_t filter_column() const { return problem_.dilation_w * pixel_; }

  /// Bytes of the copy of the input rows under `output_rows` rows of the output.
  int64_t bytes(int64_t output_rows) const { return rows_under(output_rows) * row_; }

  /// Copies the input of output rows [first, first + rows) for a group of channels whose image begins at x, with pixels
  /// of `zero` as padding.
  void copy(const uint8_t* x, int64_t first, int64_t rows, int zero, uint8_t* to) const;

 private:
  int64_t rows_under(int64_t output_rows) const {
    return (output_rows - 1) * problem_.stride_h + (problem_.r - 1) * problem_.dilation_h + 1;
  }

  const ConvProblem& problem_;
  bool copied_, joins_images_;
  int64_t width_, channels_;  ///< of what is read: pixels per row; bytes per pixel of a group, including padding
  int64_t pixel_, row_;
};

}  // namespace convlab
