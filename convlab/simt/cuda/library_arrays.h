#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/simt/cuda/data_types.h"
#include "convlab/simt/cuda/library_call.h"

/// The arrays of CUDA's libraries. They are checked and converted as a whole: libraries compute in double precision and
/// round each result once.
namespace convlab::simt::cuda::runtime {

/// Throws CallRefused for a type that no library here computes with.
size_t bytes_of(cudaDataType type);
bool is_complex(cudaDataType type);

/// Rows are contiguous in a column; column j begins at j * leading. All in elements.
struct DeviceMatrix {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  int64_t rows = 0, columns = 1, leading = 0;
  std::string_view name;  ///< "A": what reports call it
};

/// Element i is at i * step; if the step is negative, the last one is at data, as in BLAS.
struct DeviceVector {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  int64_t count = 0, step = 1;
  std::string_view name;
};

/// Both are double or std::complex<double>: the type must not be complex for double.
template <class Number>
Number element(const void* data, cudaDataType type, int64_t index);
template <class Number>
void set_element(void* data, cudaDataType type, int64_t index, Number value);

/// Return the elements, columns one after the other; report memory that the device cannot read and elements that
/// nothing has written.
template <class Number>
std::vector<Number> load(const LibraryCall& call, const DeviceMatrix& matrix);
template <class Number>
std::vector<Number> load(const LibraryCall& call, const DeviceVector& vector);

/// Stores what load() returns, and marks it as written.
template <class Number>
void store(const LibraryCall& call, const DeviceMatrix& matrix, const std::vector<Number>& values);
template <class Number>
void store(const LibraryCall& call, const DeviceVector& vector, const std::vector<Number>& values);

/// Calls use(Number{}) with the number type that computes arrays of this type.
template <class Use>
void with_number(cudaDataType type, const Use& use) {
  if (is_complex(type)) {
    use(std::complex<double>{});
  } else {
    use(double{});
  }
}

inline double conjugate(double value) { return value; }
inline std::complex<double> conjugate(std::complex<double> value) { return std::conj(value); }

}  // namespace convlab::simt::cuda::runtime
