#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_cut.h"

namespace convlab {

/// Copies row `row` of the input's block `block` of 16 images as the sums read it: in pairs, with the zero padding.
/// `row` may be above or below the image. The low parts of split values are cut.held_plane() bytes after the high
/// parts. `lanes` is scratch of cut.lanes_bytes bytes.
void copy_pair_row(const ConvArgs& args, const PairCut& cut, int64_t block, int64_t row, std::byte* to,
                   std::byte* lanes);

}  // namespace convlab
