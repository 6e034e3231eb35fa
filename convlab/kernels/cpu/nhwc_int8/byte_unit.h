#pragma once

#include "convlab/kernels/kernel.h"

namespace convlab {

/// How products of quantized values and weights are summed, 4 bytes of each at a time. All are exact. words: two 16-bit
/// products, on any processor; quantized values and weights take two bytes each. pairs: two 8-bit products are summed
/// in each 16 bits, see byte_pairs.h; fours: those of two units are. dots: four 8-bit products, by VPDPBUSD of
/// AVX512-VNNI or AVX-VNNI. tiles: the same by TDPBUSD of AMX, a tile at a time.
enum class ByteUnit { words, pairs, fours, dots, tiles };

/// Products in 4 bytes.
constexpr int64_t products_of(ByteUnit unit) { return unit == ByteUnit::words ? 2 : 4; }

/// Returns whether the instruction set that kernels are dispatched to has the unit on this processor.
bool has_unit(ByteUnit unit);

/// Returns a reason if has_unit() is false.
Refusal refuse_without(ByteUnit unit);

}  // namespace convlab
