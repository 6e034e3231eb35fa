#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/device_launch.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

namespace cub {
namespace detail {

/// One pass of a sort: orders by these bits of the keys.
struct RadixPass {
  int first_bit;
  int bits;
  bool descending;

  template <class Key>
  int digit(const Key& key) const {
    const int digit = static_cast<int>(ordered_bits(key) >> first_bit & ((1u << bits) - 1));
    return descending ? (1 << bits) - 1 - digit : digit;
  }
};

constexpr int kRadixBits = 8, kDigits = 1 << kRadixBits;

/// Counts the digits of each chunk. The counts of a digit are neighbors.
template <class Key>
__global__ void DeviceRadixSortCount(const Key* keys, int64_t* counts, Chunks chunks, RadixPass pass) {
  const int chunk = static_cast<int>(blockIdx.x);
  int64_t own[kDigits] = {};
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) ++own[pass.digit(keys[i])];
  for (int digit = 0; digit < kDigits; ++digit) counts[digit * chunks.count + chunk] = own[digit];
}

inline __global__ void DeviceRadixSortOffsets(int64_t* counts, int count) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t own = counts[i];
    counts[i] = sum;
    sum += own;
  }
}

template <class Key, class Value>
__global__ void DeviceRadixSortScatter(const Key* keys, Key* keys_out, const Value* values, Value* values_out,
                                       const int64_t* offsets, Chunks chunks, RadixPass pass) {
  const int chunk = static_cast<int>(blockIdx.x);
  int64_t next[kDigits];
  for (int digit = 0; digit < kDigits; ++digit) next[digit] = offsets[digit * chunks.count + chunk];
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
    const Key key = keys[i];
    const int64_t to = next[pass.digit(key)]++;
    keys_out[to] = key;
    if constexpr (!std::is_same_v<Value, NullType>) values_out[to] = values[i];
  }
}

template <class Key, class Value>
__global__ void DeviceRadixSortCopy(const Key* keys, Key* keys_out, const Value* values, Value* values_out,
                                    Chunks chunks) {
  const int chunk = static_cast<int>(blockIdx.x);
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
    keys_out[i] = keys[i];
    if constexpr (!std::is_same_v<Value, NullType>) values_out[i] = values[i];
  }
}

/// A sort's request, without its data.
struct SortPlan {
  Chunks chunks;
  int begin_bit, end_bit;
  bool descending;
  cudaStream_t stream;
  Where where;

  int passes() const { return (end_bit - begin_bit + kRadixBits - 1) / kRadixBits; }
  int64_t counters() const { return int64_t{chunks.count} * kDigits; }

  template <class Key, class Value>
  cudaError_t pass(int index, const Key* keys, Key* keys_out, const Value* values, Value* values_out,
                   int64_t* counts) const {
    const int first_bit = begin_bit + index * kRadixBits;
    const RadixPass pass{first_bit, std::min(kRadixBits, end_bit - first_bit), descending};
    cudaError_t error = run(DeviceRadixSortCount<Key>, chunks.count, stream, where, keys, counts, chunks, pass);
    if (error == cudaSuccess) {
      error = run(DeviceRadixSortOffsets, 1, stream, where, counts, static_cast<int>(counters()));
    }
    if (error != cudaSuccess) return error;
    return run(DeviceRadixSortScatter<Key, Value>, chunks.count, stream, where, keys, keys_out, values, values_out,
               counts, chunks, pass);
  }
};

/// The passes write to the output and to temporary storage in turn, so that the last one writes to the output.
template <class Key, class Value>
cudaError_t sort(void* storage, size_t& bytes, const Key* keys, Key* keys_out, const Value* values, Value* values_out,
                 const SortPlan& plan) {
  const int64_t items = plan.chunks.items, spare_values = std::is_same_v<Value, NullType> ? 0 : items;
  Temporary temporary(storage, bytes,
                      Temporary::bytes_of<int64_t>(plan.counters()) + Temporary::bytes_of<Key>(items) +
                          Temporary::bytes_of<Value>(spare_values));
  if (temporary.is_over() || items == 0) return temporary.error();
  int64_t* const counts = temporary.template take<int64_t>(plan.counters());
  Key* const spare_key = temporary.template take<Key>(items);
  Value* const spare_value = temporary.template take<Value>(spare_values);
  if (plan.passes() == 0) {
    return run(DeviceRadixSortCopy<Key, Value>, plan.chunks.count, plan.stream, plan.where, keys, keys_out, values,
               values_out, plan.chunks);
  }
  for (int i = 0; i < plan.passes(); ++i) {
    const bool is_to_output = (plan.passes() - 1 - i) % 2 == 0;
    Key* const to = is_to_output ? keys_out : spare_key;
    Value* const values_to = is_to_output ? values_out : spare_value;
    if (const cudaError_t error = plan.pass(i, keys, to, values, values_to, counts); error != cudaSuccess) return error;
    keys = to;
    values = values_to;
  }
  return cudaSuccess;
}

template <class Key, class Value>
cudaError_t sort(void* storage, size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values,
                 const SortPlan& plan) {
  Temporary temporary(storage, bytes, Temporary::bytes_of<int64_t>(plan.counters()));
  if (temporary.is_over() || plan.chunks.items == 0) return temporary.error();
  int64_t* const counts = temporary.template take<int64_t>(plan.counters());
  for (int i = 0; i < plan.passes(); ++i) {
    const cudaError_t error =
        plan.pass<Key, Value>(i, keys.Current(), keys.Alternate(), values.Current(), values.Alternate(), counts);
    if (error != cudaSuccess) return error;
    keys.selector ^= 1;
    values.selector ^= 1;
  }
  return cudaSuccess;
}

}  // namespace detail

/// Stable sorts by the bits of the keys. Input and output must not overlap; with a DoubleBuffer, its Current() is the
/// result. Keys with a decomposer are not supported.
struct DeviceRadixSort {
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* d_temp_storage, size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
                               const Value* d_values_in, Value* d_values_out, Count num_items, int begin_bit = 0,
                               int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr,
                               detail::Where where = detail::Where::current()) {
    return detail::sort(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                        plan(num_items, begin_bit, end_bit, false, stream, where));
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void* d_temp_storage, size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, Count num_items, int begin_bit = 0,
                               int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr,
                               detail::Where where = detail::Where::current()) {
    return detail::sort(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                        plan(num_items, begin_bit, end_bit, false, stream, where));
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairsDescending(void* d_temp_storage, size_t& temp_storage_bytes, const Key* d_keys_in,
                                         Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                         Count num_items, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                         cudaStream_t stream = nullptr,
                                         detail::Where where = detail::Where::current()) {
    return detail::sort(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                        plan(num_items, begin_bit, end_bit, true, stream, where));
  }
  template <class Key, class Value, class Count>
  static cudaError_t SortPairsDescending(void* d_temp_storage, size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                                         DoubleBuffer<Value>& d_values, Count num_items, int begin_bit = 0,
                                         int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr,
                                         detail::Where where = detail::Where::current()) {
    return detail::sort(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                        plan(num_items, begin_bit, end_bit, true, stream, where));
  }
  template <class Key, class Count>
  static cudaError_t SortKeys(void* d_temp_storage, size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
                              Count num_items, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    return detail::sort<Key, NullType>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, nullptr, nullptr,
                                       plan(num_items, begin_bit, end_bit, false, stream, where));
  }
  template <class Key, class Count>
  static cudaError_t SortKeys(void* d_temp_storage, size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              Count num_items, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                              cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    DoubleBuffer<NullType> none;
    return detail::sort(d_temp_storage, temp_storage_bytes, d_keys, none,
                        plan(num_items, begin_bit, end_bit, false, stream, where));
  }
  template <class Key, class Count>
  static cudaError_t SortKeysDescending(void* d_temp_storage, size_t& temp_storage_bytes, const Key* d_keys_in,
                                        Key* d_keys_out, Count num_items, int begin_bit = 0,
                                        int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr,
                                        detail::Where where = detail::Where::current()) {
    return detail::sort<Key, NullType>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, nullptr, nullptr,
                                       plan(num_items, begin_bit, end_bit, true, stream, where));
  }
  template <class Key, class Count>
  static cudaError_t SortKeysDescending(void* d_temp_storage, size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                                        Count num_items, int begin_bit = 0, int end_bit = sizeof(Key) * 8,
                                        cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    DoubleBuffer<NullType> none;
    return detail::sort(d_temp_storage, temp_storage_bytes, d_keys, none,
                        plan(num_items, begin_bit, end_bit, true, stream, where));
  }

 private:
  template <class Count>
  static detail::SortPlan plan(Count items, int begin_bit, int end_bit, bool descending, cudaStream_t stream,
                               detail::Where where) {
    return {detail::chunks_of(static_cast<int64_t>(items)), begin_bit, end_bit, descending, stream, where};
  }
};

}  // namespace cub
