#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/device_launch.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

namespace cub {
namespace detail {

/// Merges sorted runs of doubling length, with copies in temporary storage.
template <class Keys, class Values, class Less>
__global__ void DeviceMergeSort(Keys keys, Values values, value_of<Keys>* key_copy, value_of<Values>* value_copy,
                                int64_t items, Less less) {
  constexpr bool kHasValues = !std::is_same_v<value_of<Values>, NullType>;
  for (int64_t run = 1; run < items; run *= 2) {
    for (int64_t i = 0; i < items; ++i) {
      key_copy[i] = keys[i];
      if constexpr (kHasValues) value_copy[i] = values[i];
    }
    for (int64_t first = 0; first < items; first += 2 * run) {
      int64_t a = first, b = first + run < items ? first + run : items;
      const int64_t a_end = b, b_end = first + 2 * run < items ? first + 2 * run : items;
      for (int64_t to = first; to < b_end; ++to) {
        const bool takes_b = a == a_end || (b < b_end && less(key_copy[b], key_copy[a]));
        const int64_t from = takes_b ? b++ : a++;
        keys[to] = key_copy[from];
        if constexpr (kHasValues) values[to] = value_copy[from];
      }
    }
  }
}

template <class In, class Out>
__global__ void DeviceMergeSortCopy(In in, Out out, Chunks chunks) {
  const int chunk = static_cast<int>(blockIdx.x);
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) out[i] = in[i];
}

}  // namespace detail

/// Stable sorts by a comparison. Here one thread does all.
struct DeviceMergeSort {
  template <class Keys, class Values, class Count, class Less>
  static cudaError_t SortPairs(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys, Values d_items,
                               Count num_items, Less less, cudaStream_t stream = nullptr,
                               detail::Where where = detail::Where::current()) {
    return sort(d_temp_storage, temp_storage_bytes, d_keys, d_items, num_items, less, stream, where);
  }
  template <class Keys, class Values, class Count, class Less>
  static cudaError_t StableSortPairs(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys, Values d_items,
                                     Count num_items, Less less, cudaStream_t stream = nullptr,
                                     detail::Where where = detail::Where::current()) {
    return sort(d_temp_storage, temp_storage_bytes, d_keys, d_items, num_items, less, stream, where);
  }
  template <class Keys, class Count, class Less>
  static cudaError_t SortKeys(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys, Count num_items, Less less,
                              cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return sort(d_temp_storage, temp_storage_bytes, d_keys, static_cast<NullType*>(nullptr), num_items, less, stream,
                where);
  }
  template <class Keys, class Count, class Less>
  static cudaError_t StableSortKeys(void* d_temp_storage, size_t& temp_storage_bytes, Keys d_keys, Count num_items,
                                    Less less, cudaStream_t stream = nullptr,
                                    detail::Where where = detail::Where::current()) {
    return SortKeys(d_temp_storage, temp_storage_bytes, d_keys, num_items, less, stream, where);
  }
  template <class KeysIn, class Keys, class Count, class Less>
  static cudaError_t SortKeysCopy(void* d_temp_storage, size_t& temp_storage_bytes, KeysIn d_in, Keys d_out,
                                  Count num_items, Less less, cudaStream_t stream = nullptr,
                                  detail::Where where = detail::Where::current()) {
    if (d_temp_storage != nullptr && num_items > 0) {
      const detail::Chunks chunks = detail::chunks_of(static_cast<int64_t>(num_items));
      const cudaError_t error =
          detail::run(detail::DeviceMergeSortCopy<KeysIn, Keys>, chunks.count, stream, where, d_in, d_out, chunks);
      if (error != cudaSuccess) return error;
    }
    return SortKeys(d_temp_storage, temp_storage_bytes, d_out, num_items, less, stream, where);
  }

 private:
  template <class Keys, class Values, class Count, class Less>
  static cudaError_t sort(void* storage, size_t& bytes, Keys keys, Values values, Count num_items, Less less,
                          cudaStream_t stream, detail::Where where) {
    using Key = detail::value_of<Keys>;
    using Value = detail::value_of<Values>;
    const auto items = static_cast<int64_t>(num_items);
    detail::Temporary temporary(storage, bytes,
                                detail::Temporary::bytes_of<Key>(items) + detail::Temporary::bytes_of<Value>(items));
    if (temporary.is_over() || items == 0) return temporary.error();
    Key* const key_copy = temporary.template take<Key>(items);
    Value* const value_copy = temporary.template take<Value>(items);
    return detail::run(detail::DeviceMergeSort<Keys, Values, Less>, 1, stream, where, keys, values, key_copy,
                       value_copy, items, less);
  }
};

}  // namespace cub
