#pragma once

#include "convlab/kernel_file/simt_include/cub/device/device_reduce.cuh"

namespace cub {
namespace detail {

/// Replaces each chunk's sum by what comes before the chunk. Without an initial value the first stays as it is.
template <class T, class Op, class Init>
__global__ void DeviceScanChunks(T* partial, int count, Op op, Init init) {
  if constexpr (std::is_same_v<Init, NullType>) {
    T sum = partial[0];
    for (int i = 1; i < count; ++i) {
      const T own = partial[i];
      partial[i] = sum;
      sum = op(sum, own);
    }
  } else {
    T sum = static_cast<T>(init);
    for (int i = 0; i < count; ++i) {
      const T own = partial[i];
      partial[i] = sum;
      sum = op(sum, own);
    }
  }
}

/// Reads an item before it writes the result, so the arrays may be the same.
template <bool kInclusive, bool kHasInit, class T, class In, class Out, class Op>
__global__ void DeviceScanItems(In in, Out out, const T* before, Chunks chunks, Op op) {
  const int chunk = static_cast<int>(blockIdx.x);
  int64_t i = chunks.begin(chunk);
  T sum = kHasInit || chunk > 0 ? before[chunk] : static_cast<T>(in[i]);
  if (!kHasInit && chunk == 0) out[i++] = sum;
  for (; i < chunks.end(chunk); ++i) {
    const T next = op(sum, in[i]);
    out[i] = kInclusive ? next : sum;
    sum = next;
  }
}

template <bool kInclusive, class In, class Out, class Op, class Init>
cudaError_t scan(void* storage, size_t& bytes, In in, Out out, int64_t items, Op op, Init init, cudaStream_t stream,
                 Where where) {
  constexpr bool kHasInit = !std::is_same_v<Init, NullType>;
  using First = std::conditional_t<kHasInit, Init, value_of<In>>;
  using T = accumulator<Op, First, value_of<In>>;
  const Chunks chunks = chunks_of(items);
  Temporary temporary(storage, bytes, Temporary::bytes_of<T>(chunks.count));
  if (temporary.is_over() || items == 0) return temporary.error();
  T* const partial = temporary.template take<T>(chunks.count);
  cudaError_t error = run(DeviceReduceChunks<T, In, Op>, chunks.count, stream, where, in, partial, chunks, op);
  if (error == cudaSuccess) {
    error = run(DeviceScanChunks<T, Op, Init>, 1, stream, where, partial, chunks.count, op, init);
  }
  if (error != cudaSuccess) return error;
  return run(DeviceScanItems<kInclusive, kHasInit, T, In, Out, Op>, chunks.count, stream, where, in, out, partial,
             chunks, op);
}

/// Scans each run of equal keys.
template <bool kInclusive, class Keys, class In, class Out, class Op, class Init, class EqualityOp>
__global__ void DeviceScanByKey(Keys keys, In in, Out out, Op op, Init init, EqualityOp equal, int64_t items) {
  using First = std::conditional_t<kInclusive, value_of<In>, Init>;
  using T = accumulator<Op, First, value_of<In>>;
  for (int64_t i = 0; i < items;) {
    const int64_t first = i;
    T sum = kInclusive ? static_cast<T>(in[i]) : static_cast<T>(init);
    for (; i < items && (i == first || equal(keys[i - 1], keys[i])); ++i) {
      const value_of<In> item = in[i];
      if (kInclusive && i > first) sum = op(sum, item);
      out[i] = sum;
      if (!kInclusive) sum = op(sum, item);
    }
  }
}

template <bool kInclusive, class Keys, class In, class Out, class Op, class Init, class EqualityOp>
cudaError_t scan_by_key(void* storage, size_t& bytes, Keys keys, In in, Out out, Op op, Init init, int64_t items,
                        EqualityOp equal, cudaStream_t stream, Where where) {
  Temporary temporary(storage, bytes, 1);
  if (temporary.is_over() || items == 0) return temporary.error();
  return run(DeviceScanByKey<kInclusive, Keys, In, Out, Op, Init, EqualityOp>, 1, stream, where, keys, in, out, op,
             init, equal, items);
}

}  // namespace detail

/// Prefix sums of arrays. Input and output may be the same array.
struct DeviceScan {
  template <class In, class Out, class Count>
  static cudaError_t ExclusiveSum(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                                  cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return detail::scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, static_cast<int64_t>(num_items),
                               cub::Sum(), detail::value_of<In>{}, stream, where);
  }
  template <class In, class Out, class Count>
  static cudaError_t InclusiveSum(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                                  cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return detail::scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, static_cast<int64_t>(num_items),
                              cub::Sum(), NullType{}, stream, where);
  }
  template <class In, class Out, class Op, class Init, class Count>
  static cudaError_t ExclusiveScan(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Op op,
                                   Init init, Count num_items, cudaStream_t stream = nullptr,
                                   detail::Where where = detail::Where::current()) {
    return detail::scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, static_cast<int64_t>(num_items), op,
                               init, stream, where);
  }
  /// The initial value is read when the scan runs.
  template <class In, class Out, class Op, class Init, class Iterator, class Count>
  static cudaError_t ExclusiveScan(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Op op,
                                   FutureValue<Init, Iterator> init, Count num_items, cudaStream_t stream = nullptr,
                                   detail::Where where = detail::Where::current()) {
    return detail::scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, static_cast<int64_t>(num_items), op,
                               init, stream, where);
  }
  template <class In, class Out, class Op, class Count>
  static cudaError_t InclusiveScan(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Op op,
                                   Count num_items, cudaStream_t stream = nullptr,
                                   detail::Where where = detail::Where::current()) {
    return detail::scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, static_cast<int64_t>(num_items), op,
                              NullType{}, stream, where);
  }
  template <class In, class Out, class Op, class Init, class Count>
  static cudaError_t InclusiveScanInit(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Op op,
                                       Init init, Count num_items, cudaStream_t stream = nullptr,
                                       detail::Where where = detail::Where::current()) {
    return detail::scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, static_cast<int64_t>(num_items), op,
                              init, stream, where);
  }

  // ---- Of each run of equal keys. Here one thread does all ----

  template <class Keys, class In, class Out, class Count, class EqualityOp = Equality>
  static cudaError_t ExclusiveSumByKey(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys_in, In d_values_in,
                                       Out d_values_out, Count num_items, EqualityOp equal = {},
                                       cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return detail::scan_by_key<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out,
                                      cub::Sum(), detail::value_of<In>{}, static_cast<int64_t>(num_items), equal,
                                      stream, where);
  }
  template <class Keys, class In, class Out, class Op, class Init, class Count, class EqualityOp = Equality>
  static cudaError_t ExclusiveScanByKey(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys_in,
                                        In d_values_in, Out d_values_out, Op op, Init init, Count num_items,
                                        EqualityOp equal = {}, cudaStream_t stream = nullptr,
                                        detail::Where where = detail::Where::current()) {
    return detail::scan_by_key<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, op,
                                      init, static_cast<int64_t>(num_items), equal, stream, where);
  }
  template <class Keys, class In, class Out, class Count, class EqualityOp = Equality>
  static cudaError_t InclusiveSumByKey(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys_in, In d_values_in,
                                       Out d_values_out, Count num_items, EqualityOp equal = {},
                                       cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return detail::scan_by_key<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out,
                                     cub::Sum(), detail::value_of<In>{}, static_cast<int64_t>(num_items), equal, stream,
                                     where);
  }
  template <class Keys, class In, class Out, class Op, class Count, class EqualityOp = Equality>
  static cudaError_t InclusiveScanByKey(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys_in,
                                        In d_values_in, Out d_values_out, Op op, Count num_items, EqualityOp equal = {},
                                        cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return detail::scan_by_key<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, op,
                                     detail::value_of<In>{}, static_cast<int64_t>(num_items), equal, stream, where);
  }
};

}  // namespace cub
