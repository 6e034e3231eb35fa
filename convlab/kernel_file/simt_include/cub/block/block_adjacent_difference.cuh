#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"

namespace cub {

/// Applies an operator to neighboring items of a block, in a blocked arrangement. Each call has one barrier; a kernel
/// needs another one before it uses the TempStorage again.
template <class T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockAdjacentDifference {
  using Where = detail::Where;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  struct TempStorage {
    detail::Storage<T, kThreads> ends;
  };

  BlockAdjacentDifference() : storage_(private_storage()) {}
  explicit BlockAdjacentDifference(TempStorage& storage) : storage_(storage) {}

  /// output[i] = op(item i, item i - 1); the block's first item is copied.
  template <int ITEMS, class Out, class Op>
  void SubtractLeft(T (&input)[ITEMS], Out (&output)[ITEMS], Op op, Where where = Where::current()) {
    T left = left_of(input, where);
    subtract_left(input, output, op, left, thread() > 0);
  }
  /// The block's first item is compared with an item of the block before.
  template <int ITEMS, class Out, class Op>
  void SubtractLeft(T (&input)[ITEMS], Out (&output)[ITEMS], Op op, T tile_predecessor_item,
                    Where where = Where::current()) {
    T left = left_of(input, where);
    if (thread() == 0) left = tile_predecessor_item;
    subtract_left(input, output, op, left, true);
  }
  /// output[i] = op(item i, item i + 1); the block's last item is copied.
  template <int ITEMS, class Out, class Op>
  void SubtractRight(T (&input)[ITEMS], Out (&output)[ITEMS], Op op, Where where = Where::current()) {
    T right = right_of(input, where);
    subtract_right(input, output, op, right, thread() < kThreads - 1);
  }
  template <int ITEMS, class Out, class Op>
  void SubtractRight(T (&input)[ITEMS], Out (&output)[ITEMS], Op op, T tile_successor_item,
                     Where where = Where::current()) {
    T right = right_of(input, where);
    if (thread() == kThreads - 1) right = tile_successor_item;
    subtract_right(input, output, op, right, true);
  }

 private:
  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }
  static int thread() { return RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z); }

  template <int ITEMS>
  T left_of(T (&input)[ITEMS], Where where) {
    storage_.ends[thread()] = input[ITEMS - 1];
    __syncthreads(where);
    return thread() > 0 ? storage_.ends[thread() - 1] : input[0];
  }
  template <int ITEMS>
  T right_of(T (&input)[ITEMS], Where where) {
    storage_.ends[thread()] = input[0];
    __syncthreads(where);
    return thread() < kThreads - 1 ? storage_.ends[thread() + 1] : input[ITEMS - 1];
  }

  /// Input and output may be the same array.
  template <int ITEMS, class Out, class Op>
  static void subtract_left(T (&input)[ITEMS], Out (&output)[ITEMS], Op op, T& left, bool has_left) {
    for (int i = ITEMS - 1; i > 0; --i) output[i] = op(input[i], input[i - 1]);
    output[0] = has_left ? static_cast<Out>(op(input[0], left)) : static_cast<Out>(input[0]);
  }
  template <int ITEMS, class Out, class Op>
  static void subtract_right(T (&input)[ITEMS], Out (&output)[ITEMS], Op op, T& right, bool has_right) {
    for (int i = 0; i < ITEMS - 1; ++i) output[i] = op(input[i], input[i + 1]);
    output[ITEMS - 1] = has_right ? static_cast<Out>(op(input[ITEMS - 1], right)) : static_cast<Out>(input[ITEMS - 1]);
  }

  TempStorage& storage_;
};

}  // namespace cub
