// Solves triangular systems for cuSPARSE.

#include "convlab/simt/cuda/cusparse_triangles.h"

#include <fmt/format.h>

#include <memory>

#include "convlab/simt/cuda/cusparse_call.h"
#include "convlab/simt/cuda/dense_products.h"
#include "convlab/simt/cuda/sparse_triangle.h"

namespace convlab::simt::cuda {

/// Graphs that captured a solve keep its triangle.
struct cusparseSpSVDescr {
  std::shared_ptr<runtime::SparseTriangle> triangle = std::make_shared<runtime::SparseTriangle>();
};
struct cusparseSpSMDescr {
  std::shared_ptr<runtime::SparseTriangle> triangle = std::make_shared<runtime::SparseTriangle>();
};

namespace {

using namespace runtime;

template <class Descriptor>
cusparseStatus_t create(Descriptor** descriptor) {
  if (descriptor == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new Descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

/// Returns the status of a matrix that no call solves with; else success.
cusparseStatus_t refuse_matrix(const LibraryCall& call, const cusparseSpMatDescr& a) {
  if (a.format == CUSPARSE_FORMAT_CSC) return unsupported_sparse(call, "A must be in CSR or COO");
  if (a.rows == a.columns) return CUSPARSE_STATUS_SUCCESS;
  return refuse_sparse(call, fmt::format("A must be square; it is {} x {}", a.rows, a.columns));
}

template <class Descriptor>
cusparseStatus_t analyze(cusparseHandle_t handle, const LibraryCall& call, cusparseOperation_t op,
                         cusparseConstSpMatDescr_t a, const Descriptor* descriptor, const void* buffer) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(a, descriptor)) return refuse_sparse(call, kNullDescriptor);
  if (const cusparseStatus_t status = refuse_matrix(call, *a); status != CUSPARSE_STATUS_SUCCESS) return status;
  return run_sparse(handle, call, [a = *a, op, triangle = descriptor->triangle, buffer](const LibraryCall& library) {
    triangle->analyze(library, a, op, buffer);
  });
}

template <class Descriptor>
cusparseStatus_t update(cusparseHandle_t handle, const LibraryCall& call, const Descriptor* descriptor,
                        const void* values, bool is_diagonal) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (descriptor == nullptr) return refuse_sparse(call, kNullDescriptor);
  return run_sparse(handle, call, [triangle = descriptor->triangle, values, is_diagonal](const LibraryCall& library) {
    if (is_diagonal) return triangle->replace_diagonal(library, values);
    triangle->replace_values(library, values);
  });
}

}  // namespace

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descriptor) noexcept { return create(descriptor); }
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) noexcept {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
                                         cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t, size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op, const void*,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
                                       cudaDataType, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor, void* buffer,
                                       Where where) noexcept {
  return analyze(handle, sparse_call(handle, "cusparseSpSV_analysis", where), op, a, descriptor, buffer);
}

cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t, cusparseSpSVDescr_t descriptor,
                                    Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpSV_solve", where);
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(a, x, y, descriptor)) return refuse_sparse(call, kNullDescriptor);
  if (const cusparseStatus_t status = refuse_matrix(call, *a); status != CUSPARSE_STATUS_SUCCESS) return status;
  if (x->size != a->rows || y->size != a->rows) {
    return refuse_sparse(
        call, fmt::format("A is {} x {}, but x has {} elements and y {}", a->rows, a->columns, x->size, y->size));
  }
  const auto first = factor(call, handle->pointers, alpha, compute, "alpha");
  if (!first) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(
      handle, call,
      [op, a = *a, x = *x, y = *y, alpha = *first, triangle = descriptor->triangle](const LibraryCall& library) {
        triangle->check(library, a, op);
        with_number(y.type, [&](auto number) {
          using Number = decltype(number);
          const auto by = number_of<Number>(alpha.read(library));
          std::vector<Number> values = load<Number>(library, vector_of(x, "x"));
          for (Number& each : values) each *= by;
          triangle->solve(values);
          store(library, vector_of(y, "y"), values);
        });
      });
}

cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descriptor, void* values,
                                           cusparseSpSVUpdate_t part, Where where) noexcept {
  return update(handle, sparse_call(handle, "cusparseSpSV_updateMatrix", where), descriptor, values,
                part == CUSPARSE_SPSV_UPDATE_DIAGONAL);
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descriptor) noexcept { return create(descriptor); }
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor) noexcept {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t, const void*,
                                         cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,
                                         cudaDataType, cusparseSpSMAlg_t, cusparseSpSMDescr_t, size_t* bytes) noexcept {
  return no_sparse_buffer(handle, bytes);
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t,
                                       const void*, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t,
                                       cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                       cusparseSpSMDescr_t descriptor, void* buffer, Where where) noexcept {
  return analyze(handle, sparse_call(handle, "cusparseSpSM_analysis", where), op_a, a, descriptor, buffer);
}

cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                    const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t,
                                    cusparseSpSMDescr_t descriptor, Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpSM_solve", where);
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(a, b, c, descriptor)) return refuse_sparse(call, kNullDescriptor);
  if (const cusparseStatus_t status = refuse_matrix(call, *a); status != CUSPARSE_STATUS_SUCCESS) return status;
  const bool plain = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const int64_t b_rows = plain ? b->rows : b->columns, b_columns = plain ? b->columns : b->rows;
  if (b_rows != a->rows || c->rows != a->rows || c->columns != b_columns) {
    return refuse_sparse(call, fmt::format("the shapes do not match: A is {} x {}, op(B) {} x {} and C {} x {}",
                                           a->rows, a->columns, b_rows, b_columns, c->rows, c->columns));
  }
  const auto first = factor(call, handle->pointers, alpha, compute, "alpha");
  if (!first) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(
      handle, call,
      [=, a = *a, b = *b, c = *c, alpha = *first, triangle = descriptor->triangle](const LibraryCall& library) {
        triangle->check(library, a, op_a);
        with_number(c.type, [&](auto number) {
          using Number = decltype(number);
          const auto by = number_of<Number>(alpha.read(library));
          std::vector<Number> values = load_dense<Number>(library, b, "B");
          for (Number& each : values) {
            each = by * (op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conjugate(each) : each);
          }
          if (!plain) values = transposed(values, b.rows, b.columns);
          triangle->solve(values);
          store_dense(library, c, values, "C");
        });
      });
}

cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t descriptor, void* values,
                                           cusparseSpSMUpdate_t part, Where where) noexcept {
  return update(handle, sparse_call(handle, "cusparseSpSM_updateMatrix", where), descriptor, values,
                part == CUSPARSE_SPSM_UPDATE_DIAGONAL);
}

}  // namespace convlab::simt::cuda
