#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu_pairs/pair_cut.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Copies row `row` of the input's 16 images number `block`, which may be one above or below, as the sums read it: in
/// pairs, zeros around the image included. Split values have their low part cut.held_plane() bytes further. `lanes` is
/// scratch of cut.lanes_bytes.
void copy_pair_row(const ConvArgs& args, const PairCut& cut, int64_t block, int64_t row, std::byte* to,
                   std::byte* lanes);

}  // namespace convlab
