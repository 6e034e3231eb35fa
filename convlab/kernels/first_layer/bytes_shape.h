#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {

/// How the kernel of bytes.cuh divides its work. A cell is what a row of a matrix operand makes: a few sums
/// side by side. A strip is a cell wide and some pooled outputs high. A band is what a block of threads has in shared
/// memory at a time: the pixels of some rows of outputs of an image. A pass computes them for some of the maps.
struct BytesLayerShape {
  ConvShape conv;
  Activation activation;
  int rows, columns;     ///< pooled outputs of a map
  int cells;             ///< of a row of outputs
  int band_rows, bands;  ///< rows of outputs of a band; bands of an image
  int passes;
  int pitch;                              ///< bytes from a staged row of pixels to the next
  int buffer_bytes;                       ///< of a band's pixels
  bool contiguous;                        ///< a band's pixels are staged as they lie in memory
  int left_bytes;                         ///< of an image's output after the last channel
  int64_t image_bytes;                    ///< of the output
  uint32_t cells_inverse, words_inverse;  ///< of cells, and of pitch / 2: see divide()
};

}  // namespace convlab
