// Checks and converts the arrays of CUDA's libraries.

#include "convlab/simt/cuda/library_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "convlab/simt/cuda/cuda_bfloat16.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/cuda/fp8.h"
#include "convlab/simt/memory.h"

namespace convlab::simt::cuda::runtime {
namespace {

template <class T>
T at(const void* data, int64_t index) {
  return static_cast<const T*>(data)[index];
}
template <class T>
void set(void* data, int64_t index, T value) {
  static_cast<T*>(data)[index] = value;
}

/// Rounds to the nearest integer and saturates, as cuBLAS does for integer results.
template <class T>
T to_integer(double value) {
  return static_cast<T>(std::clamp(std::nearbyint(value), static_cast<double>(std::numeric_limits<T>::min()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

double real_element(const void* data, cudaDataType type, int64_t index) {
  switch (type) {
    case CUDA_R_32F:
      return at<float>(data, index);
    case CUDA_R_64F:
      return at<double>(data, index);
    case CUDA_R_16F:
      return half_to_float(at<uint16_t>(data, index));
    case CUDA_R_16BF:
      return static_cast<float>(at<__nv_bfloat16>(data, index));
    case CUDA_R_8I:
      return at<int8_t>(data, index);
    case CUDA_R_8U:
      return at<uint8_t>(data, index);
    case CUDA_R_32I:
      return at<int32_t>(data, index);
    case CUDA_R_64I:
      return static_cast<double>(at<int64_t>(data, index));
    case CUDA_R_8F_E4M3:
      return static_cast<float>(__half(__nv_cvt_fp8_to_halfraw(at<uint8_t>(data, index), __NV_E4M3)));
    case CUDA_R_8F_E5M2:
      return static_cast<float>(__half(__nv_cvt_fp8_to_halfraw(at<uint8_t>(data, index), __NV_E5M2)));
    default:
      return 0;
  }
}

void set_real_element(void* data, cudaDataType type, int64_t index, double value) {
  switch (type) {
    case CUDA_R_32F:
      return set(data, index, static_cast<float>(value));
    case CUDA_R_64F:
      return set(data, index, value);
    case CUDA_R_16F:
      return set(data, index, __half(value));
    case CUDA_R_16BF:
      return set(data, index, __nv_bfloat16(value));
    case CUDA_R_8I:
      return set(data, index, to_integer<int8_t>(value));
    case CUDA_R_8U:
      return set(data, index, to_integer<uint8_t>(value));
    case CUDA_R_32I:
      return set(data, index, to_integer<int32_t>(value));
    case CUDA_R_64I:
      return set(data, index, static_cast<int64_t>(value));
    case CUDA_R_8F_E4M3:
      return set(data, index, __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E4M3));
    case CUDA_R_8F_E5M2:
      return set(data, index, __nv_cvt_double_to_fp8(value, __NV_SATFINITE, __NV_E5M2));
    default:
      return;
  }
}

size_t alignment_of(cudaDataType type) { return is_complex(type) ? bytes_of(type) / 2 : bytes_of(type); }

const char* address(const void* data, cudaDataType type, int64_t index) {
  return static_cast<const char*>(data) + index * static_cast<int64_t>(bytes_of(type));
}

/// Bytes from the first element to the end of the last.
size_t span_of(const DeviceMatrix& m) {
  return static_cast<size_t>((m.columns - 1) * m.leading + m.rows) * bytes_of(m.type);
}
size_t span_of(const DeviceVector& v) {
  return static_cast<size_t>((v.count - 1) * std::abs(v.step) + 1) * bytes_of(v.type);
}

/// Returns the index of the vector's first element.
int64_t first_of(const DeviceVector& v) { return v.step < 0 ? -(v.count - 1) * v.step : 0; }

}  // namespace

size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_R_64I:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      throw bad_input("simt does not compute with elements of cudaDataType {}", static_cast<int>(type));
  }
}

bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

template <class Number>
Number element(const void* data, cudaDataType type, int64_t index) {
  if constexpr (std::is_same_v<Number, double>) {
    return real_element(data, type, index);
  } else {
    if (type == CUDA_C_32F) return {at<float>(data, 2 * index), at<float>(data, 2 * index + 1)};
    if (type == CUDA_C_64F) return {at<double>(data, 2 * index), at<double>(data, 2 * index + 1)};
    return real_element(data, type, index);
  }
}

template <class Number>
void set_element(void* data, cudaDataType type, int64_t index, Number value) {
  if constexpr (std::is_same_v<Number, double>) {
    set_real_element(data, type, index, value);
  } else {
    const cudaDataType part = type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
    set_real_element(data, part, is_complex(type) ? 2 * index : index, value.real());
    if (is_complex(type)) set_real_element(data, part, 2 * index + 1, value.imag());
  }
}

template <class Number>
std::vector<Number> load(const LibraryCall& call, const DeviceMatrix& m) {
  if (m.rows == 0 || m.columns == 0) return {};
  call.reads(m.data, span_of(m), alignment_of(m.type), m.name);
  std::vector<Number> values(static_cast<size_t>(m.rows * m.columns));
  size_t next = 0;
  for (int64_t column = 0; column < m.columns; ++column) {
    const int64_t first = column * m.leading;
    call.needs_values(address(m.data, m.type, first), static_cast<size_t>(m.rows) * bytes_of(m.type), m.name);
    for (int64_t row = 0; row < m.rows; ++row) values[next++] = element<Number>(m.data, m.type, first + row);
  }
  return values;
}

template <class Number>
std::vector<Number> load(const LibraryCall& call, const DeviceVector& v) {
  if (v.count == 0) return {};
  call.reads(v.data, span_of(v), alignment_of(v.type), v.name);
  std::vector<Number> values(static_cast<size_t>(v.count));
  int64_t index = first_of(v);
  const bool is_dense = std::abs(v.step) <= 1;
  if (is_dense) call.needs_values(v.data, span_of(v), v.name);
  for (Number& value : values) {
    if (!is_dense) call.needs_values(address(v.data, v.type, index), bytes_of(v.type), v.name);
    value = element<Number>(v.data, v.type, index);
    index += v.step;
  }
  return values;
}

template <class Number>
void store(const LibraryCall& call, const DeviceMatrix& m, const std::vector<Number>& values) {
  if (m.rows == 0 || m.columns == 0) return;
  call.writes(m.data, span_of(m), alignment_of(m.type), m.name);
  void* const data = const_cast<void*>(m.data);
  size_t next = 0;
  for (int64_t column = 0; column < m.columns; ++column) {
    const int64_t first = column * m.leading;
    for (int64_t row = 0; row < m.rows; ++row) set_element(data, m.type, first + row, values[next++]);
    mark_initialised(address(m.data, m.type, first), static_cast<size_t>(m.rows) * bytes_of(m.type));
  }
}

template <class Number>
void store(const LibraryCall& call, const DeviceVector& v, const std::vector<Number>& values) {
  if (v.count == 0) return;
  call.writes(v.data, span_of(v), alignment_of(v.type), v.name);
  int64_t index = first_of(v);
  const bool is_dense = std::abs(v.step) <= 1;
  if (is_dense) mark_initialised(v.data, span_of(v));
  for (const Number& value : values) {
    set_element(const_cast<void*>(v.data), v.type, index, value);
    if (!is_dense) mark_initialised(address(v.data, v.type, index), bytes_of(v.type));
    index += v.step;
  }
}

#define CONVLAB_SIMT_LIBRARY_ARRAYS(Number)                                                 \
  template Number element(const void*, cudaDataType, int64_t);                              \
  template void set_element(void*, cudaDataType, int64_t, Number);                          \
  template std::vector<Number> load(const LibraryCall&, const DeviceMatrix&);               \
  template std::vector<Number> load(const LibraryCall&, const DeviceVector&);               \
  template void store(const LibraryCall&, const DeviceMatrix&, const std::vector<Number>&); \
  template void store(const LibraryCall&, const DeviceVector&, const std::vector<Number>&);
CONVLAB_SIMT_LIBRARY_ARRAYS(double)
CONVLAB_SIMT_LIBRARY_ARRAYS(std::complex<double>)
#undef CONVLAB_SIMT_LIBRARY_ARRAYS

}  // namespace convlab::simt::cuda::runtime
