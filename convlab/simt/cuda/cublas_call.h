#pragma once

#include <complex>
#include <functional>
#include <optional>

#include "convlab/simt/cuda/cublas_handles.h"
#include "convlab/simt/cuda/library_arrays.h"

/// What the calls of cuBLAS have in common.
namespace convlab::simt::cuda::runtime {

/// The arrays of a call, of its type. `leading` is in elements.
inline DeviceMatrix matrix_of(const BlasCall& call, const void* data, int64_t rows, int64_t columns, int64_t leading,
                              const char* name) {
  return {data, call.type, rows, columns, leading, name};
}
inline DeviceVector vector_of(const BlasCall& call, const void* data, int64_t count, int64_t step, const char* name) {
  return {data, call.type, count, step, name};
}

const StatusCodes& blas_codes();

/// A factor such as alpha: a value that the call has read, or one in device memory that the work will read.
struct BlasFactor {
  std::complex<double> value;
  const void* device = nullptr;
  cudaDataType type = CUDA_R_32F;
  const char* name = "";

  std::complex<double> read(const LibraryCall& call) const;
};

/// Does the work, unless the handle is null.
cublasStatus_t run_blas(const BlasCall& call, std::function<void(const LibraryCall&)> work) noexcept;

/// Keeps the failed call.
cublasStatus_t refuse_blas(const BlasCall& call, cublasStatus_t status, std::string why) noexcept;

/// Returns the factor; nullopt, with the failed call kept, if its memory does not match the handle's pointer mode. Call
/// it with a handle that is not null.
std::optional<BlasFactor> factor(const BlasCall& call, const void* pointer, cudaDataType type, const char* name);

/// Stores a result according to the pointer mode.
void set_result(const LibraryCall& call, cublasPointerMode_t pointers, void* result, cudaDataType type,
                std::complex<double> value);
/// An index counts from 1, as in Fortran.
void set_result(const LibraryCall& call, cublasPointerMode_t pointers, int* result, int value);

template <class Number>
Number number_of(std::complex<double> value) {
  if constexpr (std::is_same_v<Number, double>) {
    return value.real();
  } else {
    return value;
  }
}

}  // namespace convlab::simt::cuda::runtime
