#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/conv_shape.h"

namespace convlab {

/// How the kernels of first_layer.cuh partition a convolution with one input channel. A cell is one row of a matrix
/// operand: two adjacent outputs of a row or, with pooling, the one output of 2 x 2 sums. A band is the part of an
/// image that a block has in shared memory at a time: the pixels under some rows of outputs. A pass computes a band for
/// some of the output channels.
struct FirstLayerShape {
  ConvShape conv;
  Activation activation;
  int rows, columns;     ///< output height and width, after pooling if it is fused
  int cells;             ///< cells per row of outputs
  int band_rows, bands;  ///< output rows per band, an even number if there are several; bands per image
  int passes;
  int filter_words;                       ///< words (pairs of pixels) that a filter row reads for a cell
  int image_words;                        ///< words that a row of cells reads
  bool contiguous;                        ///< a band's pixels are whole image rows, and can be loaded in units
  int pixels_offset;                      ///< byte offset of pixels in shared memory, after filters and bias
  int results_offset;                     ///< byte offset of results in shared memory
  int stretch_pitch;                      ///< bytes from one staged stretch to the next: see Stretch
  int results_bytes;                      ///< bytes of one pass's results
  int buffers;                            ///< buffers for results: 1 or 2
  bool evict_first;                       ///< whether results are stored with L2's evict-first policy
  uint32_t cells_inverse, words_inverse;  ///< see divide()
};

}  // namespace convlab
