#pragma once

#include "convlab/kernel_file/simt_include/cub/block/block_adjacent_difference.cuh"

namespace cub {

/// Flags items of a block that differ from their neighbor, in a blocked arrangement.
template <class T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockDiscontinuity {
  using Where = detail::Where;
  using Difference = BlockAdjacentDifference<T, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  using TempStorage = typename Difference::TempStorage;

  explicit BlockDiscontinuity(TempStorage& storage) : storage_(storage) {}

  /// head_flags[i] = op(item i - 1, item i); the block's first item is always flagged.
  template <int ITEMS, class Flag, class FlagOp>
  void FlagHeads(Flag (&head_flags)[ITEMS], T (&input)[ITEMS], FlagOp op, Where where = Where::current()) {
    Difference(storage_).SubtractLeft(input, head_flags, reversed(op), where);
    if (thread() == 0) head_flags[0] = 1;
  }
  template <int ITEMS, class Flag, class FlagOp>
  void FlagHeads(Flag (&head_flags)[ITEMS], T (&input)[ITEMS], FlagOp op, T tile_predecessor_item,
                 Where where = Where::current()) {
    Difference(storage_).SubtractLeft(input, head_flags, reversed(op), tile_predecessor_item, where);
  }
  /// tail_flags[i] = op(item i, item i + 1); the block's last item is always flagged.
  template <int ITEMS, class Flag, class FlagOp>
  void FlagTails(Flag (&tail_flags)[ITEMS], T (&input)[ITEMS], FlagOp op, Where where = Where::current()) {
    Difference(storage_).SubtractRight(input, tail_flags, op, where);
    if (thread() == kThreads - 1) tail_flags[ITEMS - 1] = 1;
  }
  template <int ITEMS, class Flag, class FlagOp>
  void FlagTails(Flag (&tail_flags)[ITEMS], T (&input)[ITEMS], FlagOp op, T tile_successor_item,
                 Where where = Where::current()) {
    Difference(storage_).SubtractRight(input, tail_flags, op, tile_successor_item, where);
  }

 private:
  static int thread() { return RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z); }
  template <class FlagOp>
  static auto reversed(FlagOp op) {
    return [op](const T& right, const T& left) mutable { return op(left, right); };
  }

  TempStorage& storage_;
};

}  // namespace cub
