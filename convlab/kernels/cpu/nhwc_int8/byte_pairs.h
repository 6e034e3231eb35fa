#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace convlab {

// Exact sums of 8-bit products in 16 bits. VPMADDUBSW adds two products of a quantized value and a weight, and
// saturates if the sum overflows 16 bits. It cannot if weights of one sign sum to at most 128 in magnitude: 255 * 128 <
// 2^15. Four products, of two units, are added in 16 bits under the same condition. The excess of larger weights is
// moved to an extra unit that multiplies the same quantized values, so sums are correct for any weights. 7-bit weights,
// which quantizers recommend for processors without dot-product instructions, need few extra units.

/// The largest magnitude of the sum of one sign's weights if their products are summed in 16 bits.
inline constexpr int kMostOfPair = 128;

/// How the weights of a panel of output channels are stored: its units, then, by vector of output channels, their extra
/// units, then an int32_t for each extra unit: the byte offset of the quantized values it reads.
struct BytePanel {
  int64_t at = 0;          ///< bytes from the start of all panels
  int32_t together = 1;    ///< units of a column that are summed in 16 bits: 1 or 2
  int32_t extras[2] = {};  ///< by vector: number of extra units
};

/// The excess of the weights of a vector of output channels.
struct ExtraUnits {
  std::vector<int64_t> units;   ///< by extra unit: the unit whose quantized values it reads
  std::vector<int8_t> weights;  ///< by extra unit and output channel, 4 each
};

/// Removes from a panel's weights, [column][units][vectors][`bytes` of a vector], what could overflow 16 bits if pairs
/// of `together` adjacent units are added, and returns it by vector. If a vector needs more than `most` extra units,
/// leaves the weights unchanged and returns nullopt.
std::optional<std::vector<ExtraUnits>> take_extras(std::span<int8_t> weights, int64_t vectors, int64_t bytes,
                                                   int64_t units, int64_t together, int64_t most);

}  // namespace convlab
