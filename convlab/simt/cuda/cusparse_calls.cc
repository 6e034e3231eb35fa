// Computes with sparse matrices and vectors for cuSPARSE.

#include "convlab/simt/cuda/cusparse.h"

#include <fmt/format.h>

#include "convlab/simt/cuda/cusparse_call.h"
#include "convlab/simt/cuda/dense_products.h"
#include "convlab/simt/cuda/sparse_entries.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {
namespace {

using namespace runtime;

DeviceVector values_of(const cusparseSpVecDescr& v) { return {v.values, v.type, v.count, 1, "the values of x"}; }

std::vector<int64_t> indices_of(const LibraryCall& call, const cusparseSpVecDescr& x, int64_t size) {
  return load_indices(call, x.indices, x.index_type, x.base, x.count, size, "the indices of x");
}

}  // namespace

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t,
                                         size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, const void*,
                                         cusparseDnVecDescr_t, cudaDataType, cusparseSpMVAlg_t, void*) noexcept {
  return handle == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t, void*,
                              Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpMV", where);
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(a, x, y)) return refuse_sparse(call, kNullDescriptor);
  const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const int64_t rows = plain ? a->rows : a->columns, columns = plain ? a->columns : a->rows;
  if (x->size != columns || y->size != rows) {
    return refuse_sparse(
        call, fmt::format("op(A) is {} x {}, but x has {} elements and y {}", rows, columns, x->size, y->size));
  }
  const auto first = factor(call, handle->pointers, alpha, compute, "alpha");
  const auto second = factor(call, handle->pointers, beta, compute, "beta");
  if (!first || !second) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(
      handle, call, [op, a = *a, x = *x, y = *y, alpha = *first, beta = *second](const LibraryCall& library) {
        with_number(y.type, [&](auto number) {
          using Number = decltype(number);
          const auto by = number_of<Number>(alpha.read(library)), keep = number_of<Number>(beta.read(library));
          const std::vector<Number> values = load<Number>(library, vector_of(x, "x"));
          std::vector<Number> sums(static_cast<size_t>(y.size));
          for (const SparseEntry<Number>& each : load_operand<Number>(library, a, op)) {
            sums[static_cast<size_t>(each.row)] += each.value * values[static_cast<size_t>(each.column)];
          }
          for (Number& sum : sums) sum *= by;
          if (keep != Number(0)) {
            const std::vector<Number> old = load<Number>(library, vector_of(y, "y"));
            for (size_t i = 0; i < sums.size(); ++i) sums[i] += keep * old[i];
          }
          store(library, vector_of(y, "y"), sums);
        });
      });
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, const void*,
                                         cusparseDnMatDescr_t, cudaDataType, cusparseSpMMAlg_t,
                                         size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpMMAlg_t, void*,
                              Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpMM", where);
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(a, b, c)) return refuse_sparse(call, kNullDescriptor);
  const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE, plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const int64_t m = plain_a ? a->rows : a->columns, k = plain_a ? a->columns : a->rows;
  const int64_t b_rows = plain_b ? b->rows : b->columns, n = plain_b ? b->columns : b->rows;
  if (b_rows != k || c->rows != m || c->columns != n) {
    return refuse_sparse(call, fmt::format("the shapes do not match: op(A) is {} x {}, op(B) {} x {} and C {} x {}", m,
                                           k, b_rows, n, c->rows, c->columns));
  }
  const auto first = factor(call, handle->pointers, alpha, compute, "alpha");
  const auto second = factor(call, handle->pointers, beta, compute, "beta");
  if (!first || !second) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(
      handle, call, [=, a = *a, b = *b, c = *c, alpha = *first, beta = *second](const LibraryCall& library) {
        with_number(c.type, [&](auto number) {
          using Number = decltype(number);
          const auto by = number_of<Number>(alpha.read(library)), keep = number_of<Number>(beta.read(library));
          std::vector<Number> dense = load_dense<Number>(library, b, "B");
          if (op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
            for (Number& each : dense) each = conjugate(each);
          }
          if (!plain_b) dense = transposed(dense, b.rows, b.columns);
          std::vector<Number> sums(static_cast<size_t>(m * n));
          for (const SparseEntry<Number>& each : load_operand<Number>(library, a, op_a)) {
            for (int64_t j = 0; j < n; ++j) {
              sums[static_cast<size_t>(each.row + j * m)] +=
                  each.value * dense[static_cast<size_t>(each.column + j * k)];
            }
          }
          for (Number& sum : sums) sum *= by;
          if (keep != Number(0)) {
            const std::vector<Number> old = load_dense<Number>(library, c, "C");
            for (size_t i = 0; i < sums.size(); ++i) sums[i] += keep * old[i];
          }
          store_dense(library, c, sums, "C");
        });
      });
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t,
                                                  cusparseDnMatDescr_t, cusparseSparseToDenseAlg_t,
                                                  size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}

cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t, void*, Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSparseToDense", where);
  if (!all_exist(a, b)) return refuse_sparse(call, kNullDescriptor);
  if (a->rows != b->rows || a->columns != b->columns) return refuse_sparse(call, "the shapes do not match");
  return run_sparse(handle, call, [a = *a, b = *b](const LibraryCall& library) {
    with_number(b.type, [&](auto number) {
      using Number = decltype(number);
      std::vector<Number> values(static_cast<size_t>(b.rows * b.columns));
      for (const SparseEntry<Number>& each : load_entries<Number>(library, a)) {
        values[static_cast<size_t>(each.row + each.column * b.rows)] = each.value;
      }
      store_dense(library, b, values, "matB");
    });
  });
}

namespace {

/// The entries of a dense matrix that are not 0, in the order of the sparse matrix's format.
struct DenseEntries {
  std::vector<int64_t> offsets{0}, outer, inner;
  std::vector<std::complex<double>> values;
};
DenseEntries entries_of(const LibraryCall& call, const cusparseDnMatDescr& a, cusparseFormat_t format) {
  const auto dense = load_dense<std::complex<double>>(call, a, "matA");
  DenseEntries entries;
  const bool by_rows = format != CUSPARSE_FORMAT_CSC;
  for (int64_t i = 0; i < (by_rows ? a.rows : a.columns); ++i) {
    for (int64_t j = 0; j < (by_rows ? a.columns : a.rows); ++j) {
      const std::complex<double> value = dense[static_cast<size_t>(by_rows ? i + j * a.rows : j + i * a.rows)];
      if (value == 0.0) continue;
      entries.outer.push_back(i);
      entries.inner.push_back(j);
      entries.values.push_back(value);
    }
    entries.offsets.push_back(static_cast<int64_t>(entries.values.size()));
  }
  return entries;
}

}  // namespace

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t,
                                                  cusparseSpMatDescr_t, cusparseDenseToSparseAlg_t,
                                                  size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}

cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*,
                                                Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseDenseToSparse_analysis", where);
  if (!all_exist(a, b)) return refuse_sparse(call, kNullDescriptor);
  if (a->rows != b->rows || a->columns != b->columns) return refuse_sparse(call, "the shapes do not match");
  return run_sparse(handle, call, [a = *a, b](const LibraryCall& library) {
    const DenseEntries entries = entries_of(library, a, b->format);
    b->count = static_cast<int64_t>(entries.values.size());
    if (b->format != CUSPARSE_FORMAT_COO) {
      store_indices(library, b->rows_or_offsets, b->offset_type, b->base, entries.offsets, "the offsets");
    }
    simt::internal::wait_for_stream(named(library.stream));
  });
}

cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t, void*,
                                               Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseDenseToSparse_convert", where);
  if (!all_exist(a, b)) return refuse_sparse(call, kNullDescriptor);
  return run_sparse(handle, call, [a = *a, b = *b](const LibraryCall& library) {
    const DenseEntries entries = entries_of(library, a, b.format);
    if (b.format == CUSPARSE_FORMAT_COO) {
      store_indices(library, b.rows_or_offsets, b.index_type, b.base, entries.outer, "the row indices");
    } else {
      store_indices(library, b.rows_or_offsets, b.offset_type, b.base, entries.offsets, "the offsets");
    }
    store_indices(library, b.indices, b.index_type, b.base, entries.inner, "the indices");
    store(library, DeviceVector{b.values, b.type, static_cast<int64_t>(entries.values.size()), 1, "the values"},
          entries.values);
  });
}

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y, Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseAxpby", where);
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(x, y)) return refuse_sparse(call, kNullDescriptor);
  const auto first = factor(call, handle->pointers, alpha, y->type, "alpha");
  const auto second = factor(call, handle->pointers, beta, y->type, "beta");
  if (!first || !second) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(handle, call, [x = *x, y = *y, alpha = *first, beta = *second](const LibraryCall& library) {
    const std::complex<double> by = alpha.read(library), keep = beta.read(library);
    const std::vector<int64_t> indices = indices_of(library, x, y.size);
    const auto more = load<std::complex<double>>(library, values_of(x));
    auto values = load<std::complex<double>>(library, vector_of(y, "y"));
    for (auto& each : values) each *= keep;
    for (size_t i = 0; i < more.size(); ++i) values[static_cast<size_t>(indices[i])] += by * more[i];
    store(library, vector_of(y, "y"), values);
  });
}

cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x,
                                Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseGather", where);
  if (!all_exist(x, y)) return refuse_sparse(call, kNullDescriptor);
  return run_sparse(handle, call, [x = *x, y = *y](const LibraryCall& library) {
    const auto values = load<std::complex<double>>(library, vector_of(y, "y"));
    std::vector<std::complex<double>> gathered;
    for (const int64_t index : indices_of(library, x, y.size)) gathered.push_back(values[static_cast<size_t>(index)]);
    store(library, values_of(x), gathered);
  });
}

cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y,
                                 Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseScatter", where);
  if (!all_exist(x, y)) return refuse_sparse(call, kNullDescriptor);
  return run_sparse(handle, call, [x = *x, y = *y](const LibraryCall& library) {
    const std::vector<int64_t> indices = indices_of(library, x, y.size);
    const auto more = load<std::complex<double>>(library, values_of(x));
    for (size_t i = 0; i < more.size(); ++i) {
      const auto bytes = static_cast<int64_t>(bytes_of(y.type));
      const void* const at = static_cast<const char*>(y.values) + indices[i] * bytes;
      store(library, DeviceVector{at, y.type, 1, 1, "y"}, std::vector<std::complex<double>>{more[i]});
    }
  });
}

}  // namespace convlab::simt::cuda
