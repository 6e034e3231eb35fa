#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {

/// How the kernel of bytes.cuh partitions its work. A cell is one row of a matrix operand: a few adjacent sums. A strip
/// is one cell wide and some pooled outputs high. A band is the part of an image that a block has in shared memory at a
/// time: the pixels under some rows of outputs. A pass computes a band for some of the output channels.
struct BytesLayerShape {
  ConvShape conv;
  Activation activation;
  int rows, columns;     ///< output height and width, after pooling
  int cells;             ///< cells per row of outputs
  int band_rows, bands;  ///< output rows per band; bands per image
  int passes;
  int pitch;                              ///< bytes from one staged row of pixels to the next
  int buffer_bytes;                       ///< bytes of a buffer for a band's pixels
  bool contiguous;                        ///< a band's pixels are copied unchanged
  int left_bytes;                         ///< bytes of padding after the last channel of an image's output
  int64_t image_bytes;                    ///< bytes of an image's output
  uint32_t cells_inverse, words_inverse;  ///< of cells, and of pitch / 2: see divide()
};

}  // namespace convlab
