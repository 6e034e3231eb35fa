#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/device_compact.cuh"

namespace cub {

/// Copies the selected items, in their order, and writes how many there are.
struct DeviceSelect {
  template <class In, class Flags, class Out, class NumOut, class Count>
  static cudaError_t Flagged(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Flags d_flags, Out d_out,
                             NumOut d_num_selected_out, Count num_items, cudaStream_t stream = nullptr,
                             detail::Where where = detail::Where::current()) {
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_num_selected_out,
                                  chunks(num_items), detail::IsFlagged<Flags>{d_flags}, stream, where);
  }
  /// In place.
  template <class Data, class Flags, class NumOut, class Count>
  requires std::is_integral_v<Count>
  static cudaError_t Flagged(void* d_temp_storage, size_t& temp_storage_bytes, Data d_data, Flags d_flags,
                             NumOut d_num_selected_out, Count num_items, cudaStream_t stream = nullptr,
                             detail::Where where = detail::Where::current()) {
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_data, d_data, d_num_selected_out,
                                  detail::one_chunk(static_cast<int64_t>(num_items)), detail::IsFlagged<Flags>{d_flags},
                                  stream, where);
  }
  template <class In, class Out, class NumOut, class Count, class SelectOp>
  requires std::is_integral_v<Count>
  static cudaError_t If(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out, NumOut d_num_selected_out,
                        Count num_items, SelectOp op, cudaStream_t stream = nullptr,
                        detail::Where where = detail::Where::current()) {
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_num_selected_out,
                                  chunks(num_items), detail::IsSelected<SelectOp>{op}, stream, where);
  }
  /// In place.
  template <class Data, class NumOut, class Count, class SelectOp>
  requires std::is_integral_v<Count>
  static cudaError_t If(void* d_temp_storage, size_t& temp_storage_bytes, Data d_data, NumOut d_num_selected_out,
                        Count num_items, SelectOp op, cudaStream_t stream = nullptr,
                        detail::Where where = detail::Where::current()) {
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_data, d_data, d_num_selected_out,
                                  detail::one_chunk(static_cast<int64_t>(num_items)), detail::IsSelected<SelectOp>{op},
                                  stream, where);
  }
  /// Selects by an operator on the flags.
  template <class In, class Flags, class Out, class NumOut, class Count, class SelectOp>
  static cudaError_t FlaggedIf(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Flags d_flags, Out d_out,
                               NumOut d_num_selected_out, Count num_items, SelectOp op, cudaStream_t stream = nullptr,
                               detail::Where where = detail::Where::current()) {
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_num_selected_out,
                                  chunks(num_items), detail::IsFlagSelected<Flags, SelectOp>{d_flags, op}, stream,
                                  where);
  }
  /// The first item of each run of equal items.
  template <class In, class Out, class NumOut, class Count>
  static cudaError_t Unique(void* d_temp_storage, size_t& temp_storage_bytes, In d_in, Out d_out,
                            NumOut d_num_selected_out, Count num_items, cudaStream_t stream = nullptr,
                            detail::Where where = detail::Where::current()) {
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_num_selected_out,
                                  chunks(num_items), detail::IsFirst<In, Equality>{d_in, {}}, stream, where);
  }
  /// The first key of each run of equal keys, and its value.
  template <class KeysIn, class ValuesIn, class KeysOut, class ValuesOut, class NumOut, class Count,
            class EqualityOp = Equality>
  static cudaError_t UniqueByKey(void* d_temp_storage, size_t& temp_storage_bytes, KeysIn d_keys_in,
                                 ValuesIn d_values_in, KeysOut d_keys_out, ValuesOut d_values_out,
                                 NumOut d_num_selected_out, Count num_items, EqualityOp equal = {},
                                 cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    const detail::IsFirst<KeysIn, EqualityOp> is_first{d_keys_in, equal};
    const cudaError_t error = detail::compact<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                                     d_num_selected_out, chunks(num_items), is_first, stream, where);
    if (d_temp_storage == nullptr || error != cudaSuccess) return error;
    return detail::compact<false>(d_temp_storage, temp_storage_bytes, d_values_in, d_values_out, d_num_selected_out,
                                  chunks(num_items), is_first, stream, where);
  }

 private:
  template <class Count>
  static detail::Chunks chunks(Count num_items) {
    return detail::chunks_of(static_cast<int64_t>(num_items));
  }
};

}  // namespace cub
