#pragma once

#include <vector>

#include "convlab/simt/cuda/cublas_handles.h"
#include "convlab/simt/cuda/library_arrays.h"

/// The matrices of cuBLAS as dense ones: with an operation applied, symmetric, and triangular. Of a symmetric matrix,
/// one triangle is stored.
namespace convlab::simt::cuda::runtime {

/// Returns rows and columns from there on.
DeviceMatrix part(const DeviceMatrix& matrix, int64_t row, int64_t column, int64_t rows, int64_t columns);

/// Returns op(matrix).
template <class Number>
std::vector<Number> load_operand(const LibraryCall& call, const DeviceMatrix& matrix, cublasOperation_t op);

/// Load and store one triangle of a square matrix, with its diagonal; the other elements are 0. With a unit diagonal,
/// the diagonal is 1 and not read.
template <class Number>
std::vector<Number> load_triangle(const LibraryCall& call, const DeviceMatrix& matrix, cublasFillMode_t fill,
                                  cublasDiagType_t diagonal);
template <class Number>
void store_triangle(const LibraryCall& call, const DeviceMatrix& matrix, cublasFillMode_t fill,
                    const std::vector<Number>& values);

/// Returns the whole symmetric or, with `conjugates`, Hermitian matrix.
template <class Number>
std::vector<Number> load_symmetric(const LibraryCall& call, const DeviceMatrix& matrix, cublasFillMode_t fill,
                                   bool conjugates);

/// Returns the addresses in an array in device memory.
std::vector<const void*> load_pointers(const LibraryCall& call, const void* pointers, int count, std::string_view name);

/// Solves t * x = b for each column of b: `lower` says which triangle t is.
template <class Number>
void solve_triangle(const std::vector<Number>& t, bool lower, int64_t n, std::vector<Number>& b, int64_t columns);

}  // namespace convlab::simt::cuda::runtime
