#pragma once

#include <cstdint>

#include "convlab/kernels/cpu/pool_rows.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Where a convolution in Layout::channel_halves reads the pixels of a group: in the images themselves, or in a copy of
/// the rows that some outputs need, [row][width][channels], where images are padded or plain, where a 1x1 filter takes
/// only some of their pixels, or where a row has fewer outputs than a tile, which then reads on behind what was copied.
/// In a copy a row's padding on the right is the next one's on the left. Where strides leave tiles half empty, pixels
/// that outputs read with the same tap lie together: the copy is [phase of rows][phase of
/// columns][row][width][channels]. All is counted in elements.
class HalfSource {
 public:
  explicit HalfSource(const ConvStep& step);

  bool copied() const { return copied_; }

  /// Whether the outputs of all images are one row, as the pixels are that each is made of.
  bool joins_images() const { return joins_images_; }

  /// Whether outputs go on from the end of a row to the next, with width() places for each row.
  bool flows() const { return row_step_ == 1 && column_step_ == 1; }

  /// Whether all that a row of the filter reads lies together.
  bool together() const { return problem_.s == 1 || (phases_ == 1 && problem_.dilation_w == 1 && pixel_ == channels_); }

  int64_t channels() const { return channels_; }  ///< of a pixel that are read: an even number
  int64_t width() const { return width_; }        ///< pixels of a row, of one phase
  int64_t pixel() const { return pixel_; }        ///< from one to the next
  int64_t row() const { return phases_ * width_ * pixel_; }
  int64_t output_column() const { return column_step_ * pixel_; }  ///< from an output to the next
  int64_t output_row() const { return row_step_ * width_ * pixel_; }
  int64_t phases() const { return phases_; }

  /// Rows of the copy of what so many rows of the output read, and all that it takes.
  int64_t rows_under(int64_t output_rows) const;
  int64_t count(int64_t output_rows) const;

  /// From a phase of columns to the next, of that copy.
  int64_t plane(int64_t output_rows) const { return rows_under(output_rows) / phases_ * width_ * pixel_; }

  /// Of the copy of what rows `outputs` read, writes rows [begin, end). Images are float32 or bytes where they are
  /// plain.
  void copy(const void* image, int64_t group, RowRange outputs, int64_t begin, int64_t end, uint16_t* copy) const;

  /// Writes the last row's padding, where another row would begin.
  void pad_behind(uint16_t* behind) const;

 private:
  int64_t most_padding() const;
  void copy_pixels(const void* image, int64_t group, int64_t row, uint16_t* to) const;
  void copy_phases(const void* image, int64_t group, int64_t row, int64_t plane, uint16_t* to) const;
  const uint16_t* pixel_at(const void* image, int64_t group, int64_t row, int64_t column) const;

  const ConvStep& step_;
  const ConvProblem& problem_;
  bool gathered_, copied_, joins_images_;
  int64_t row_step_, column_step_;  ///< of outputs, in rows and pixels of what is read
  int64_t phases_ = 1;
  int64_t channels_, width_, pixel_;
};

}  // namespace convlab
