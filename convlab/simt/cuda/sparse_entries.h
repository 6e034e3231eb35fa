#pragma once

#include <vector>

#include "convlab/simt/cuda/cusparse.h"
#include "convlab/simt/cuda/library_arrays.h"

/// The arrays of cuSPARSE as entries with row and column.
namespace convlab::simt::cuda::runtime {

template <class Number>
struct SparseEntry {
  int64_t row, column;
  Number value;
};

cudaDataType type_of(cusparseIndexType_t type);

/// Returns indices without their base. Reports one that is not below `size`.
std::vector<int64_t> load_indices(const LibraryCall& call, const void* data, cusparseIndexType_t type,
                                  cusparseIndexBase_t base, int64_t count, int64_t size, std::string_view name);
void store_indices(const LibraryCall& call, const void* data, cusparseIndexType_t type, cusparseIndexBase_t base,
                   const std::vector<int64_t>& indices, std::string_view name);

template <class Number>
std::vector<SparseEntry<Number>> load_entries(const LibraryCall& call, const cusparseSpMatDescr& matrix);

/// Returns the entries of op(A).
template <class Number>
std::vector<SparseEntry<Number>> load_operand(const LibraryCall& call, const cusparseSpMatDescr& a,
                                              cusparseOperation_t op);

inline DeviceVector vector_of(const cusparseDnVecDescr& v, const char* name) {
  return {v.values, v.type, v.size, 1, name};
}

/// Dense matrices, columns one after the other, as the libraries' other ones.
template <class Number>
std::vector<Number> load_dense(const LibraryCall& call, const cusparseDnMatDescr& matrix, std::string_view name);
template <class Number>
void store_dense(const LibraryCall& call, const cusparseDnMatDescr& matrix, const std::vector<Number>& values,
                 std::string_view name);

}  // namespace convlab::simt::cuda::runtime
