#pragma once

#include "convlab/kernel_file/simt_include/cub/device/device_reduce.cuh"

namespace cub {
namespace detail {

template <class In, class Out, class Begins, class Ends, class Op, class Init>
__global__ void DeviceSegmentedReduceItems(In in, Out out, Begins begins, Ends ends, Op op, Init init) {
  using T = accumulator<Op, Init, value_of<In>>;
  const auto segment = static_cast<int64_t>(blockIdx.x);
  T sum = static_cast<T>(init);
  const auto end = static_cast<int64_t>(ends[segment]);
  for (auto i = static_cast<int64_t>(begins[segment]); i < end; ++i) sum = op(sum, in[i]);
  out[segment] = sum;
}

}  // namespace detail

/// Reductions of segments. Here one thread handles a segment.
struct DeviceSegmentedReduce {
  template <class In, class Out, class Begins, class Ends, class Op, class Init>
  static cudaError_t Reduce(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, int64_t num_segments,
                            Begins d_begin_offsets, Ends d_end_offsets, Op op, Init init, cudaStream_t stream = nullptr,
                            detail::Where where = detail::Where::current()) {
    detail::Temporary temporary(d_temp_storage, temp_storage_bytes, 1);
    if (temporary.is_over() || num_segments == 0) return temporary.error();
    return detail::run(detail::DeviceSegmentedReduceItems<In, Out, Begins, Ends, Op, Init>,
                       static_cast<int>(num_segments), stream, where, d_in, d_out, d_begin_offsets, d_end_offsets, op,
                       init);
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Sum(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, int64_t num_segments,
                         Begins d_begin_offsets, Ends d_end_offsets, cudaStream_t stream = nullptr,
                         detail::Where where = detail::Where::current()) {
    return Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, num_segments, d_begin_offsets, d_end_offsets,
                  cub::Sum(), detail::output_of<Out, detail::value_of<In>>{}, stream, where);
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Min(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, int64_t num_segments,
                         Begins d_begin_offsets, Ends d_end_offsets, cudaStream_t stream = nullptr,
                         detail::Where where = detail::Where::current()) {
    return Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, num_segments, d_begin_offsets, d_end_offsets,
                  cub::Min(), std::numeric_limits<detail::value_of<In>>::max(), stream, where);
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Max(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, int64_t num_segments,
                         Begins d_begin_offsets, Ends d_end_offsets, cudaStream_t stream = nullptr,
                         detail::Where where = detail::Where::current()) {
    return Reduce(d_temp_storage, temp_storage_bytes, d_in, d_out, num_segments, d_begin_offsets, d_end_offsets,
                  cub::Max(), std::numeric_limits<detail::value_of<In>>::lowest(), stream, where);
  }
};

}  // namespace cub
