#pragma once

namespace convlab {

/// What a kernel of bytes.cuh does, fixed at compile time: filters of at most kRows rows and
/// 9 - kNeighbours columns; cells of kNeighbours sums side by side; passes of kQuarters groups of four maps; tanh, or
/// any other activation.
template <int kRows_, int kNeighbours_, int kQuarters_, bool kTanh_>
struct BytesLayer {
  static constexpr int kRows = kRows_, kNeighbours = kNeighbours_, kQuarters = kQuarters_;
  static constexpr bool kTanh = kTanh_;
  // A warpgroup, or what is fastest; and as many blocks as a multiprocessor has registers for.
  static constexpr int kThreads = kNeighbours == 4 ? 128 : 64, kLeastBlocks = 512 / kThreads;
  static constexpr int kStrip = 3;                       // rows of outputs
  static constexpr int kStripRows = 2 * kStrip + kRows;  // of pixels for a strip; the last one meets filters of 0
  static constexpr int kPixels = kNeighbours / 2;        // outputs of a cell
  static constexpr int kParts = 8 / kNeighbours;         // lanes that share the maps of an output
  // Columns of the operand of filters, in eights: for the maps of a block of eight, and of a block of four.
  static constexpr int kOfEight = kQuarters >= 2 ? kNeighbours : 0;
  static constexpr int kOfFour = kQuarters % 2 == 1 ? kNeighbours / 2 : 0;
  static constexpr int kColumns = kOfEight + kOfFour;
};

}  // namespace convlab
