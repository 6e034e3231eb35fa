#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/device_compact.cuh"

namespace cub {

/// Copies the selected items to the beginning of the output, in their order, and the others to its end, in reverse
/// order.
struct DevicePartition {
  template <class In, class Flags, class Out, class NumOut, class Count>
  static cudaError_t Flagged(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Flags d_flags, Out d_out,
                             NumOut d_num_selected_out, Count num_items, cudaStream_t stream = nullptr,
                             detail::Where where = detail::Where::current()) {
    return detail::compact<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_num_selected_out,
                                 detail::chunks_of(static_cast<int64_t>(num_items)), detail::IsFlagged<Flags>{d_flags},
                                 stream, where);
  }
  template <class In, class Out, class NumOut, class Count, class SelectOp>
  static cudaError_t If(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, NumOut d_num_selected_out,
                        Count num_items, SelectOp op, cudaStream_t stream = nullptr,
                        detail::Where where = detail::Where::current()) {
    return detail::compact<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_num_selected_out,
                                 detail::chunks_of(static_cast<int64_t>(num_items)), detail::IsSelected<SelectOp>{op},
                                 stream, where);
  }
};

}  // namespace cub
