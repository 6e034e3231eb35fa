#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/device_launch.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"

/// Selection of items: each chunk counts its own, then each writes them behind those of the chunks before it.
namespace cub::detail {

// ---- Which items are selected ----

template <class Flags>
struct IsFlagged {
  Flags flags;
  template <class Item>
  bool operator()(int64_t i, const Item&) {
    return static_cast<bool>(flags[i]);
  }
};

template <class SelectOp>
struct IsSelected {
  SelectOp op;
  template <class Item>
  bool operator()(int64_t, const Item& item) {
    return static_cast<bool>(op(item));
  }
};

template <class Flags, class SelectOp>
struct IsFlagSelected {
  Flags flags;
  SelectOp op;
  template <class Item>
  bool operator()(int64_t i, const Item&) {
    return static_cast<bool>(op(flags[i]));
  }
};

/// The first item of each run.
template <class Keys, class EqualityOp>
struct IsFirst {
  Keys keys;
  EqualityOp equal;
  template <class Item>
  bool operator()(int64_t i, const Item&) {
    return i == 0 || !equal(keys[i - 1], keys[i]);
  }
};

// ---- Kernels ----

template <class In, class Predicate>
__global__ void DeviceSelectCount(In in, int64_t* counts, Chunks chunks, Predicate is_selected) {
  const int chunk = static_cast<int>(blockIdx.x);
  int64_t count = 0;
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
    const value_of<In> item = in[i];
    count += is_selected(i, item) ? 1 : 0;
  }
  counts[chunk] = count;
}

/// Replaces each chunk's count by the number of items before it.
template <class NumOut>
__global__ void DeviceSelectOffsets(int64_t* counts, int chunks, NumOut num_selected) {
  int64_t sum = 0;
  for (int i = 0; i < chunks; ++i) {
    const int64_t own = counts[i];
    counts[i] = sum;
    sum += own;
  }
  *num_selected = static_cast<value_of<NumOut>>(sum);
}

/// kPartitions: the other items go to the end of the output, the last one first.
template <bool kPartitions, class In, class Out, class Predicate>
__global__ void DeviceSelectItems(In in, Out out, const int64_t* before, Chunks chunks, Predicate is_selected) {
  const int chunk = static_cast<int>(blockIdx.x);
  int64_t selected = before[chunk];
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
    const value_of<In> item = in[i];
    if (is_selected(i, item)) {
      out[selected++] = item;
    } else if (kPartitions) {
      out[chunks.items - 1 - (i - selected)] = item;
    }
  }
}

template <bool kPartitions, class In, class Out, class NumOut, class Predicate>
cudaError_t compact(void* storage, size_t& bytes, In in, Out out, NumOut num_selected, const Chunks& chunks,
                    Predicate is_selected, cudaStream_t stream, Where where) {
  Temporary temporary(storage, bytes, Temporary::bytes_of<int64_t>(chunks.count));
  if (temporary.is_over()) return temporary.error();
  int64_t* const counts = temporary.template take<int64_t>(chunks.count);
  cudaError_t error =
      run(DeviceSelectCount<In, Predicate>, chunks.count, stream, where, in, counts, chunks, is_selected);
  if (error == cudaSuccess) {
    error = run(DeviceSelectOffsets<NumOut>, 1, stream, where, counts, chunks.count, num_selected);
  }
  if (error != cudaSuccess) return error;
  return run(DeviceSelectItems<kPartitions, In, Out, Predicate>, chunks.count, stream, where, in, out, counts, chunks,
             is_selected);
}

}  // namespace cub::detail
