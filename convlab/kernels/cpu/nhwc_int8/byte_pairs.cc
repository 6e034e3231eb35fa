// Splits 8-bit weights so that sums of their products fit 16 bits.

#include "convlab/kernels/cpu/nhwc_int8/byte_pairs.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace convlab {
namespace {

/// The remaining capacity for weights of either sign, by pair of a unit.
class Room {
 public:
  explicit Room(size_t pairs) : pairs_(pairs, {kMostOfPair, kMostOfPair}) {}

  void clear() { std::ranges::fill(pairs_, std::array{kMostOfPair, kMostOfPair}); }

  /// Keeps the weights of a unit that fit and moves the excess to `excess`. Returns whether there is any excess.
  bool keep(std::span<int8_t> unit, std::span<int8_t> excess) {
    bool any = false;
    for (size_t i = 0; i < unit.size(); ++i) {
      int& room = pairs_[i / 2][unit[i] < 0 ? 1 : 0];
      const int weight = unit[i], kept = std::clamp(weight, -room, room);
      room -= std::abs(kept);
      unit[i] = static_cast<int8_t>(kept);
      excess[i] = static_cast<int8_t>(weight - kept);
      any |= weight != kept;
    }
    return any;
  }

 private:
  std::vector<std::array<int, 2>> pairs_;
};

/// take_extras() for one vector of output channels of a panel: those that are `step` bytes apart.
std::optional<ExtraUnits> extras_of(std::span<int8_t> weights, size_t step, size_t bytes, int64_t units,
                                    int64_t together, int64_t most) {
  std::vector<int8_t> excess(bytes);
  ExtraUnits extras;
  Room room(bytes / 2), room_of_extra(bytes / 2);
  for (int64_t unit = 0; !weights.empty(); ++unit, weights = weights.subspan(std::min(step, weights.size()))) {
    if (unit % units % together == 0) room.clear();
    bool any = room.keep(weights.first(bytes), excess);
    for (; any; any = room_of_extra.keep(std::span(extras.weights).last(bytes), excess)) {
      if (std::ssize(extras.units) == most) return std::nullopt;
      extras.units.push_back(unit);
      extras.weights.insert(extras.weights.end(), excess.begin(), excess.end());
      room_of_extra.clear();
    }
  }
  return extras;
}

}  // namespace

std::optional<std::vector<ExtraUnits>> take_extras(std::span<int8_t> weights, int64_t vectors, int64_t bytes,
                                                   int64_t units, int64_t together, int64_t most) {
  std::vector<int8_t> kept(weights.begin(), weights.end());
  std::vector<ExtraUnits> all;
  const auto size = static_cast<size_t>(bytes);
  for (int64_t vector = 0; vector < vectors; ++vector) {
    const auto of_vector = std::span(kept).subspan(static_cast<size_t>(vector) * size);
    std::optional<ExtraUnits> extras =
        extras_of(of_vector, static_cast<size_t>(vectors) * size, size, units, together, most);
    if (!extras) return std::nullopt;
    all.push_back(std::move(*extras));
  }
  std::ranges::copy(kept, weights.begin());
  return all;
}

}  // namespace convlab
