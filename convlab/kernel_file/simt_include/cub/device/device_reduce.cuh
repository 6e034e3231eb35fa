#pragma once

#include <limits>
#include <type_traits>

#include "convlab/kernel_file/simt_include/cub/detail/device_launch.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/arg_index_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/transform_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"

namespace cub {
namespace detail {

/// The type in which op combines an initial value and items.
template <class Op, class Init, class Item>
using accumulator = std::decay_t<std::invoke_result_t<Op&, Init, Item>>;

template <class T, class In, class Op>
__global__ void DeviceReduceChunks(In in, T* partial, Chunks chunks, Op op) {
  const int chunk = static_cast<int>(blockIdx.x);
  T sum = static_cast<T>(in[chunks.begin(chunk)]);
  for (int64_t i = chunks.begin(chunk) + 1; i < chunks.end(chunk); ++i) sum = op(sum, in[i]);
  partial[chunk] = sum;
}

template <class T, class Out, class Op, class Init>
__global__ void DeviceReduceLast(const T* partial, Out out, int count, Op op, Init init) {
  T sum = static_cast<T>(init);
  for (int i = 0; i < count; ++i) sum = op(sum, partial[i]);
  *out = sum;
}

template <class KeysIn, class KeysOut, class ValuesIn, class ValuesOut, class RunsOut, class Op>
__global__ void DeviceReduceByKey(KeysIn keys, KeysOut unique, ValuesIn values, ValuesOut aggregates, RunsOut runs,
                                  Op op, int64_t items) {
  int64_t run = 0;
  for (int64_t i = 0; i < items; ++run) {
    const value_of<KeysIn> key = keys[i];
    accumulator<Op, value_of<ValuesIn>, value_of<ValuesIn>> sum = values[i];
    for (++i; i < items && key == keys[i]; ++i) sum = op(sum, values[i]);
    unique[run] = key;
    aggregates[run] = sum;
  }
  *runs = static_cast<value_of<RunsOut>>(run);
}

}  // namespace detail

/// Reductions of arrays. Results of floats may differ from a GPU's in the last bits.
struct DeviceReduce {
  template <class In, class Out, class Op, class Init, class Count>
  static cudaError_t Reduce(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                            Op op, Init init, cudaStream_t stream = nullptr,
                            detail::Where where = detail::Where::current()) {
    using T = detail::accumulator<Op, Init, detail::value_of<In>>;
    detail::Chunks chunks = detail::chunks_of(static_cast<int64_t>(num_items));
    if (num_items == 0) chunks.count = 0;
    const size_t needed = detail::Temporary::bytes_of<T>(chunks.count);
    detail::Temporary temporary(d_temp_storage, temp_storage_bytes, needed);
    if (temporary.is_over()) return temporary.error();
    T* const partial = temporary.template take<T>(chunks.count);
    if (chunks.count > 0) {
      const cudaError_t error =
          detail::run(detail::DeviceReduceChunks<T, In, Op>, chunks.count, stream, where, d_in, partial, chunks, op);
      if (error != cudaSuccess) return error;
    }
    return detail::run(detail::DeviceReduceLast<T, Out, Op, Init>, 1, stream, where, partial, d_out, chunks.count, op,
                       init);
  }

  template <class In, class Out, class Count>
  static cudaError_t Sum(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                         cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    using Init = detail::output_of<Out, detail::value_of<In>>;
    return Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, cub::Sum(), Init{}, stream, where);
  }
  template <class In, class Out, class Count>
  static cudaError_t Min(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                         cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    using T = detail::value_of<In>;
    return Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, cub::Min(), std::numeric_limits<T>::max(),
                  stream, where);
  }
  template <class In, class Out, class Count>
  static cudaError_t Max(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                         cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    using T = detail::value_of<In>;
    return Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, cub::Max(),
                  std::numeric_limits<T>::lowest(), stream, where);
  }
  /// The smallest item and its first index; for no items {1, the largest number}.
  template <class In, class Out, class Count>
  static cudaError_t ArgMin(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                            cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return arg(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, cub::ArgMin(),
               std::numeric_limits<detail::value_of<In>>::max(), stream, where);
  }
  template <class In, class Out, class Count>
  static cudaError_t ArgMax(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items,
                            cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return arg(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, cub::ArgMax(),
               std::numeric_limits<detail::value_of<In>>::lowest(), stream, where);
  }

  template <class In, class Out, class Op, class TransformOp, class Init, class Count>
  static cudaError_t TransformReduce(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out,
                                     Count num_items, Op op, TransformOp transform, Init init,
                                     cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    using T = std::decay_t<std::invoke_result_t<TransformOp&, detail::value_of<In>>>;
    return Reduce(d_temp_storage, temp_storage_bytes, TransformInputIterator<T, TransformOp, In>(d_in, transform),
                  d_out, num_items, op, init, stream, where);
  }

  /// Reduces each run of equal keys. Here one thread does all.
  template <class KeysIn, class KeysOut, class ValuesIn, class ValuesOut, class RunsOut, class Op, class Count>
  static cudaError_t ReduceByKey(void* d_temp_storage, size_t& temp_storage_bytes, KeysIn d_keys_in,
                                 KeysOut d_unique_out, ValuesIn d_values_in, ValuesOut d_aggregates_out,
                                 RunsOut d_num_runs_out, Op op, Count num_items, cudaStream_t stream = nullptr,
                                 detail::Where where = detail::Where::current()) {
    detail::Temporary temporary(d_temp_storage, temp_storage_bytes, 1);
    if (temporary.is_over()) return temporary.error();
    return detail::run(detail::DeviceReduceByKey<KeysIn, KeysOut, ValuesIn, ValuesOut, RunsOut, Op>, 1, stream, where,
                       d_keys_in, d_unique_out, d_values_in, d_aggregates_out, d_num_runs_out, op,
                       static_cast<int64_t>(num_items));
  }

 private:
  template <class In, class Out, class Count, class Op>
  static cudaError_t arg(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, Count num_items, Op op,
                         detail::value_of<In> limit, cudaStream_t stream, detail::Where where) {
    const KeyValuePair<int, detail::value_of<In>> none(num_items == 0 ? 1 : std::numeric_limits<int>::max(), limit);
    return Reduce(d_temp_storage, temp_storage_bytes, ArgIndexInputIterator<In, int>(d_in), d_out, num_items, op, none,
                  stream, where);
  }
};

}  // namespace cub
