#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace convlab {

// Exact sums of products of 8 bits in 16. VPMADDUBSW adds two products of a level and a weight and saturates where
// these pass 16 bits, which they cannot where weights of one sign amount to at most 128: 255 * 128 < 2^15. Four
// products, of two units, are added in 16 bits under the same condition. What weights are beyond it, an extra unit has:
// levels are multiplied by both, so that sums are right for any weights. Weights of 7 bits, as quantizers advise for
// processors without dot products, have few extra units.

/// What the weights of one sign may amount to whose products are summed in 16 bits.
inline constexpr int kMostOfPair = 128;

/// How the weights of a panel of maps are held: its units, then by vector of maps their extra units, then as many
/// int32_t: where each reads.
struct BytePanel {
  int64_t at = 0;          ///< bytes from where all panels begin
  int32_t together = 1;    ///< units of a column that are summed in 16 bits: 1 or 2
  int32_t extras[2] = {};  ///< by vector: extra units
};

/// What the weights of a vector of maps had too much.
struct ExtraUnits {
  std::vector<int64_t> units;   ///< by extra unit: which unit's levels it has
  std::vector<int8_t> weights;  ///< by extra unit and map, 4 each
};

/// Takes from a panel's weights, [column][units][vectors][`bytes` of a vector], what could pass 16 bits where pairs of
/// `together` neighbouring units are added: by vector. Leaves weights as they are where one has more than `most` extra
/// units.
std::optional<std::vector<ExtraUnits>> take_extras(std::span<int8_t> weights, int64_t vectors, int64_t bytes,
                                                   int64_t units, int64_t together, int64_t most);

}  // namespace convlab
