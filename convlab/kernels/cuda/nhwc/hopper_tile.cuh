#pragma once

// Tile shapes and shared memory layout of hopper_conv.cuh.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/hopper_maps.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_terms.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Maximum shared memory of a block, in bytes.
constexpr size_t kMostShared = 227 * 1024;

/// A block's tiles have kRows output pixels by kMaps output channels. kGroups warpgroups, a team, share a tile, and
/// kTeams tiles are in progress at once. kStages slices of operands are copied ahead. Each warp has kBoxes boxes of 16
/// pixels for its results. With kParts > 1, kParts blocks of a cluster share one tile and split K.
template <class Terms_, int kRows_, int kMaps_, int kGroups_, int kTeams_, int kStages_, int kBoxes_, int kParts_ = 1>
struct HopperTile {
  using Terms = Terms_;
  using Element = typename Terms::Element;
  static constexpr int kRows = kRows_, kMaps = kMaps_, kGroups = kGroups_, kTeams = kTeams_, kStages = kStages_;
  static constexpr int kBoxes = kBoxes_, kParts = kParts_;
  static_assert(kParts == 1 || kTeams == 1);

  static constexpr int kGroupRows = kRows / kGroups, kBlocks = kGroupRows / 64;  ///< per warpgroup
  static constexpr int kConsumers = kGroups * kTeams, kWarps = 4 * kConsumers, kThreads = 128 * (kConsumers + 1);
  static constexpr int kConsumerRegisters = kConsumers == 2 ? 232 : 160, kProducerRegisters = kConsumers == 2 ? 40 : 32;
  static constexpr int kMapBytes = kMaps * Terms::kFilterRow;  ///< of one part of a filter slice
  static constexpr int kA = kRows * 128, kB = Terms::kFilterParts * kMapBytes, kStage = kA + kB;
  static constexpr int kBoxMaps = kMaps % kSliceTerms<Element> == 0 ? kSliceTerms<Element> : 32;
  static constexpr int kBox = 16 * kBoxMaps * static_cast<int>(sizeof(Element));
  static constexpr int kBoxColumns = kMaps / kBoxMaps, kBoxesOfTile = kBlocks * kBoxColumns;
  static_assert(kParts > 1 || kBoxesOfTile % kBoxes == 0);
  /// Of a tile that a cluster shares, each block finishes kPartRows pixels, and has room for the other blocks' partial
  /// sums of these.
  static constexpr int kPartRows = kRows / kParts, kPartRow = (kMaps + 8) * static_cast<int>(sizeof(float));
  static constexpr int kPart = kPartRows * kPartRow;
  static constexpr int kResults = kParts > 1 ? (kParts - 1) * kPart : kWarps* kBoxes* kBox;
  static constexpr size_t kBytes =
      1024 + kStages * kStage + kResults + (2 * kStages + kTeams + kWarps * kBoxes + 1) * sizeof(uint64_t);
  static_assert(kBytes <= kMostShared);
  static_assert(kParts == 1 || kParts * kPart <= kStages * kStage);
};

/// A tiled convolution. K is ordered by filter row, filter column, channel. The last slice of a tap may be partial,
/// with `last_steps` times kStepTerms K elements. With few channels, a slice holds several taps, and only the last
/// slice may be partial.
template <class Element>
struct PixelPlan {
  PixelConvOf<Element> conv;
  bool matrix;  ///< 1x1 filters that visit all pixels: x is a matrix
  int taps;     ///< per slice: 1, 2 or 4
  int slices;   ///< along K
  int period;   ///< slices from one partial slice to the next
  int last_steps;
  int map_tiles;
  int tiles;
};

/// The next stage, and the parity of its barriers.
template <int kStages>
struct PixelTurn {
  int stage = 0, parity = 0;

  __device__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
  __device__ void skip(int count) {
    stage += count;
    parity ^= stage / kStages & 1;
    stage %= kStages;
  }
};

/// Returns the next multiple of 1024 bytes, as the swizzle of 128-byte rows requires.
inline __device__ unsigned char* aligned_to_rows(void* memory) {
  constexpr unsigned kRows = 1024;
  return static_cast<unsigned char*>(memory) + (kRows - to_shared(memory) % kRows) % kRows;
}

template <class Tile>
struct PixelShared {
  unsigned char *stages, *results;
  /// Barriers: `full` and `empty` per stage; `turns` per team, to multiply in turn (a team that is ahead by all stages
  /// would mistake a barrier's phase for an older one); `added` per box of each warp; `parts` for the other blocks'
  /// partial sums.
  uint64_t *full, *empty, *turns, *added, *parts;

  __device__ PixelShared() {
    stages = aligned_to_rows(dynamic_shared<unsigned char>());
    results = stages + Tile::kStages * Tile::kStage;
    full = reinterpret_cast<uint64_t*>(results + Tile::kResults);
    empty = full + Tile::kStages;
    turns = empty + Tile::kStages;
    added = turns + Tile::kTeams;
    parts = added + Tile::kWarps * Tile::kBoxes;
  }
  __device__ SharedAddress a(int stage) const { return to_shared(stages + stage * Tile::kStage); }
  __device__ SharedAddress b(int stage) const { return a(stage) + Tile::kA; }
  __device__ SharedAddress box(int warp, int slot) const {
    return to_shared(results + (warp * Tile::kBoxes + slot) * Tile::kBox);
  }
  /// Returns the buffer for the partial sums that another block of the cluster sends. `other`: its rank among the other
  /// blocks.
  __device__ unsigned char* part(int other) const { return results + other * Tile::kPart; }
};

/// The first output pixel and output channel of a tile.
template <class Tile>
struct TilePlace {
  int row, map;

  __device__ TilePlace(const PixelPlan<typename Tile::Element>& plan, int tile)
      : row(tile / plan.map_tiles * Tile::kRows), map(tile % plan.map_tiles * Tile::kMaps) {}
};

/// The range of K slices that a block of a cluster reduces.
template <class Tile>
struct PartOfSlices {
  int first, last;

  __device__ PartOfSlices(const PixelPlan<typename Tile::Element>& plan, int rank)
      : first(Tile::kParts == 1 ? 0 : plan.slices * rank / Tile::kParts),
        last(Tile::kParts == 1 ? plan.slices : plan.slices * (rank + 1) / Tile::kParts) {}
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
