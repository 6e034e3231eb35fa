#pragma once

namespace convlab {

/// Compile-time parameters of a kernel of bytes.cuh: filters of at most kRows rows and 9 - kNeighbors columns; cells
/// of kNeighbors adjacent sums; passes of kQuarters groups of four output channels; tanh, or any other activation.
template <int kRows_, int kNeighbors_, int kQuarters_, bool kTanh_>
struct BytesLayer {
  static constexpr int kRows = kRows_, kNeighbors = kNeighbors_, kQuarters = kQuarters_;
  static constexpr bool kTanh = kTanh_;
  // A warpgroup, or the fastest choice; and as many blocks as an SM has registers for.
  static constexpr int kThreads = kNeighbors == 4 ? 128 : 64, kLeastBlocks = 512 / kThreads;
  static constexpr int kStrip = 3;                       // rows of outputs per strip
  static constexpr int kStripRows = 2 * kStrip + kRows;  // pixel rows per strip; the last one is multiplied by 0
  static constexpr int kPixels = kNeighbors / 2;         // pooled outputs per cell
  static constexpr int kParts = 8 / kNeighbors;          // lanes that share the channels of an output pixel
  // Columns of the filter operand, in units of 8: for the output channels in a block of eight, and in a block of four.
  static constexpr int kOfEight = kQuarters >= 2 ? kNeighbors : 0;
  static constexpr int kOfFour = kQuarters % 2 == 1 ? kNeighbors / 2 : 0;
  static constexpr int kColumns = kOfEight + kOfFour;
};

}  // namespace convlab
