#pragma once

#include <cstdint>

namespace convlab {

// Weights of a convolution with output channels in the vector lanes: by panel of 32 output channels, then by reduction
// index.

inline constexpr int64_t kPanelMaps = 32;

/// Returns the output channels of a panel if `left` remain: 32 or 16. Those that do not exist have weights of 0.
constexpr int64_t panel_maps(int64_t left) { return left > kPanelMaps / 2 ? kPanelMaps : kPanelMaps / 2; }

/// Prefetches weights into L2 while others are multiplied, spread evenly over `steps` calls of fetch().
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
  int64_t left_, each_;  ///< cache lines
};

/// Calls compute(first output channel, output channels of the panel, weights, bytes of the next panel) for each panel.
/// Each output channel has `map_bytes` of weights.
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
