#pragma once

#include "convlab/kernels/kernel.h"

namespace convlab {

/// How products of levels and weights are summed, 4 bytes of each at a time. All are exact. words: two products of 16
/// bits, which every processor has; levels and weights take two bytes each. pairs: two products of 8 bits in 16 each,
/// see byte_pairs.h; fours: those of two units. dots: four products of 8 bits, by VPDPBUSD of AVX512-VNNI or AVX-VNNI.
/// tiles: the same by TDPBUSD of AMX, a tile at a time.
enum class ByteUnit { words, pairs, fours, dots, tiles };

/// Products in 4 bytes.
constexpr int64_t products_of(ByteUnit unit) { return unit == ByteUnit::words ? 2 : 4; }

/// Whether the instruction set that kernels are dispatched to has the unit on this processor.
bool has_unit(ByteUnit unit);

/// Why it has not.
Refusal refuse_without(ByteUnit unit);

}  // namespace convlab
