#pragma once

#include <cstdint>
#include <vector>

namespace convlab {

/// Scratch memory in use from step `first` to step `last`, both inclusive.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
};

struct Arena {
  std::vector<int64_t> at;  ///< by lifetime: the offset of its first byte, a multiple of kArenaAlignment
  int64_t bytes = 0;
};

inline constexpr int64_t kArenaAlignment = 256;  ///< for vector loads and bulk copies on GPUs

/// Places every lifetime so that no two that share a step overlap. Greedy: the largest first, each into the smallest
/// gap that holds it (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
Arena pack_arena(const std::vector<Lifetime>& lifetimes);

}  // namespace convlab
