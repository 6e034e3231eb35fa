// Converts and counts the elements of matrices for the legacy API of cuSPARSE.

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "convlab/simt/cuda/cusparse_call.h"
#include "convlab/simt/cuda/sparse_entries.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {

using namespace runtime;

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int, int, int, const void*, const int*,
                                               const int*, void*, int*, int*, cudaDataType, cusparseAction_t,
                                               cusparseIndexBase_t, cusparseCsr2CscAlg_t, size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}

cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns, int count, const void* values,
                                    const int* offsets, const int* indices, void* csc_values, int* csc_offsets,
                                    int* csc_indices, cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*, Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseCsr2cscEx2", where);
  if (rows < 0 || columns < 0 || count < 0) {
    return refuse_sparse(call, fmt::format("sizes must be at least 0; got {}, {} and {}", rows, columns, count));
  }
  return run_sparse(handle, call, [=](const LibraryCall& library) {
    constexpr auto kIndex = CUSPARSE_INDEX_32I;
    const auto begins = load_indices(library, offsets, kIndex, base, rows + 1, int64_t{count} + 1, "csrRowPtr");
    const auto column_of = load_indices(library, indices, kIndex, base, count, columns, "csrColInd");
    // The position in CSR of each element of CSC: by column, then by row.
    std::vector<int64_t> row_of(static_cast<size_t>(count)), order, ends(static_cast<size_t>(columns) + 1);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      for (int64_t at = begins[row]; at < begins[row + 1]; ++at) {
        row_of[static_cast<size_t>(at)] = static_cast<int64_t>(row);
        order.push_back(at);
        ++ends[static_cast<size_t>(column_of[static_cast<size_t>(at)]) + 1];
      }
    }
    const auto by_column = [&](int64_t a, int64_t b) {
      return column_of[static_cast<size_t>(a)] < column_of[static_cast<size_t>(b)];
    };
    std::ranges::stable_sort(order, by_column);
    for (size_t i = 0; i < static_cast<size_t>(columns); ++i) ends[i + 1] += ends[i];
    std::vector<int64_t> csc_rows;
    for (const int64_t at : order) csc_rows.push_back(row_of[static_cast<size_t>(at)]);
    store_indices(library, csc_offsets, kIndex, base, ends, "cscColPtr");
    store_indices(library, csc_indices, kIndex, base, csc_rows, "cscRowInd");
    if (action != CUSPARSE_ACTION_NUMERIC) return;
    with_number(type, [&](auto number) {
      using Number = decltype(number);
      const auto elements = load<Number>(library, DeviceVector{values, type, count, 1, "csrVal"});
      std::vector<Number> sorted;
      for (const int64_t at : order) sorted.push_back(elements[static_cast<size_t>(at)]);
      store(library, DeviceVector{csc_values, type, static_cast<int64_t>(sorted.size()), 1, "cscVal"}, sorted);
    });
  });
}

namespace {

cusparseStatus_t count_nonzeros(cusparseHandle_t handle, const LibraryCall& call, cusparseDirection_t direction,
                                const cusparseMatDescr* description, const DeviceMatrix& a, int* counts, int* total) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (description == nullptr || total == nullptr) return refuse_sparse(call, "an argument is a null pointer");
  if (description->type != CUSPARSE_MATRIX_TYPE_GENERAL) return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
  if (a.rows < 0 || a.columns < 0 || a.leading < std::max<int64_t>(1, a.rows)) {
    return refuse_sparse(call, fmt::format("a matrix of {} x {} elements cannot have a leading dimension of {}", a.rows,
                                           a.columns, a.leading));
  }
  const bool on_device = handle->pointers == CUSPARSE_POINTER_MODE_DEVICE;
  return run_sparse(handle, call, [=](const LibraryCall& library) {
    const auto elements = load<std::complex<double>>(library, a);
    const bool by_rows = direction == CUSPARSE_DIRECTION_ROW;
    std::vector<int64_t> found(static_cast<size_t>(by_rows ? a.rows : a.columns));
    int64_t all = 0;
    for (int64_t i = 0; i < a.rows * a.columns; ++i) {
      if (elements[static_cast<size_t>(i)] == 0.0) continue;
      ++found[static_cast<size_t>(by_rows ? i % a.rows : i / a.rows)];
      ++all;
    }
    constexpr auto kIndex = CUSPARSE_INDEX_32I;
    constexpr auto kBase = CUSPARSE_INDEX_BASE_ZERO;
    store_indices(library, counts, kIndex, kBase, found, "nnzPerRowColumn");
    if (on_device) return store_indices(library, total, kIndex, kBase, {all}, "nnzTotalDevHostPtr");
    *total = static_cast<int>(all);
    simt::internal::wait_for_stream(named(library.stream));
  });
}

}  // namespace

#define CONVLAB_SIMT_NONZEROS(name, T, type)                                                              \
  cusparseStatus_t name(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int columns,    \
                        cusparseMatDescr_t description, const T* a, int leading, int* counts, int* total, \
                        Where where) noexcept {                                                           \
    return count_nonzeros(handle, sparse_call(handle, #name, where), direction, description,              \
                          DeviceMatrix{a, type, rows, columns, leading, "A"}, counts, total);             \
  }
CONVLAB_SIMT_NONZEROS(cusparseSnnz, float, CUDA_R_32F)
CONVLAB_SIMT_NONZEROS(cusparseDnnz, double, CUDA_R_64F)
CONVLAB_SIMT_NONZEROS(cusparseCnnz, cuComplex, CUDA_C_32F)
CONVLAB_SIMT_NONZEROS(cusparseZnnz, cuDoubleComplex, CUDA_C_64F)
#undef CONVLAB_SIMT_NONZEROS

}  // namespace convlab::simt::cuda
