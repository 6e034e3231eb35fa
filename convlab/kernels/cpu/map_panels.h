#pragma once

#include <cstdint>

namespace convlab {

// Weights of a convolution with maps in the lanes: by panel of 32 maps, and within it by term.

inline constexpr int64_t kPanelMaps = 32;

/// Maps of a panel where `left` are left: 32 or 16. Those that do not exist have weights of 0.
constexpr int64_t panel_maps(int64_t left) { return left > kPanelMaps / 2 ? kPanelMaps : kPanelMaps / 2; }

/// Weights that are fetched into the second cache while others are multiplied: evenly over so many steps.
class WeightsAhead {
 public:
  WeightsAhead(const void* from, int64_t bytes, int64_t steps)
      : at_(static_cast<const char*>(from)), left_((bytes + kLine - 1) / kLine), each_((left_ + steps - 1) / steps) {}

  void fetch() {
    if (left_ <= 0) return;
    for (int64_t i = 0; i < each_; ++i, at_ += kLine) __builtin_prefetch(at_, 0, 2);
    left_ -= each_;
  }

 private:
  static constexpr int64_t kLine = 64;  // bytes
  const char* at_;
  int64_t left_, each_;  ///< lines
};

/// Calls compute(first map, maps, weights, how many bytes the next panel has) for each panel of `maps` maps, each of
/// which has `map_bytes` of weights.
template <class Element, class Compute>
void for_panels(int64_t all_maps, const Element* w, int64_t map_bytes, const Compute& compute) {
  for (int64_t map = 0, maps = 0; map < all_maps; map += maps) {
    maps = panel_maps(all_maps - map);
    const int64_t left = all_maps - map - maps;
    compute(map, maps, w, left > 0 ? panel_maps(left) * map_bytes : 0);
    w += maps * map_bytes / static_cast<int64_t>(sizeof(Element));
  }
}

}  // namespace convlab
