#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/device_launch.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

namespace cub {
namespace detail {

template <class In, class UniqueOut, class LengthsOut, class NumOut>
__global__ void DeviceRunLengthEncode(In in, UniqueOut unique, LengthsOut lengths, NumOut num_runs, int64_t items) {
  int64_t run = 0;
  for (int64_t i = 0; i < items; ++run) {
    const int64_t first = i;
    const value_of<In> item = in[i];
    for (++i; i < items && item == in[i];) ++i;
    unique[run] = item;
    lengths[run] = static_cast<output_of<LengthsOut, int>>(i - first);
  }
  *num_runs = static_cast<value_of<NumOut>>(run);
}

template <class In, class OffsetsOut, class LengthsOut, class NumOut>
__global__ void DeviceNonTrivialRuns(In in, OffsetsOut offsets, LengthsOut lengths, NumOut num_runs, int64_t items) {
  int64_t run = 0;
  for (int64_t i = 0; i < items;) {
    const int64_t first = i;
    const value_of<In> item = in[i];
    for (++i; i < items && item == in[i];) ++i;
    if (i - first == 1) continue;
    offsets[run] = static_cast<output_of<OffsetsOut, int>>(first);
    lengths[run++] = static_cast<output_of<LengthsOut, int>>(i - first);
  }
  *num_runs = static_cast<value_of<NumOut>>(run);
}

}  // namespace detail

/// Runs of equal items. Here one thread does all.
struct DeviceRunLengthEncode {
  template <class In, class UniqueOut, class LengthsOut, class NumOut, class Count>
  static cudaError_t Encode(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, UniqueOut d_unique_out,
                            LengthsOut d_counts_out, NumOut d_num_runs_out, Count num_items,
                            cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    detail::Temporary temporary(d_temp_storage, temp_storage_bytes, 1);
    if (temporary.is_over()) return temporary.error();
    return detail::run(detail::DeviceRunLengthEncode<In, UniqueOut, LengthsOut, NumOut>, 1, stream, where, d_in,
                       d_unique_out, d_counts_out, d_num_runs_out, static_cast<int64_t>(num_items));
  }
  /// Only runs of more than one item.
  template <class In, class OffsetsOut, class LengthsOut, class NumOut, class Count>
  static cudaError_t NonTrivialRuns(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, OffsetsOut d_offsets_out,
                                    LengthsOut d_lengths_out, NumOut d_num_runs_out, Count num_items,
                                    cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    detail::Temporary temporary(d_temp_storage, temp_storage_bytes, 1);
    if (temporary.is_over()) return temporary.error();
    return detail::run(detail::DeviceNonTrivialRuns<In, OffsetsOut, LengthsOut, NumOut>, 1, stream, where, d_in,
                       d_offsets_out, d_lengths_out, d_num_runs_out, static_cast<int64_t>(num_items));
  }
};

}  // namespace cub
