#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {

/// How the kernels of layer.cuh divide a convolution of one channel. A cell is what one row of a matrix operand
/// makes: two outputs side by side, or, if pooled, the one output of 2 x 2. A band is what a block of threads has in
/// shared memory at a time: the pixels of some rows of outputs of an image. A pass computes them for some of the maps.
struct FirstLayerShape {
  ConvShape conv;
  Activation activation;
  int rows, columns;     ///< outputs of a map: pooled, if the layer pools
  int cells;             ///< of a row of outputs
  int band_rows, bands;  ///< rows of outputs of a band, an even number if there are several; bands of an image
  int passes;
  int filter_words;                       ///< pairs of pixels that a filter's row takes for a cell
  int image_words;                        ///< and that a row of cells takes
  bool contiguous;                        ///< a band's pixels are whole rows of the image, and may be read in units
  int pixels_offset;                      ///< bytes from the start of shared memory; before them are filters and bias
  int results_offset;                     ///< likewise
  int stretch_pitch;                      ///< bytes from a stretch's staged results to the next's: see Stretch
  int results_bytes;                      ///< of one pass
  int buffers;                            ///< for results: 1 or 2
  bool evict_first;                       ///< whether L2 is told that results may leave it before others
  uint32_t cells_inverse, words_inverse;  ///< see divide()
};

}  // namespace convlab
