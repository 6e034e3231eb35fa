// Multiplies sparse matrices for cuSPARSE.

#include "convlab/simt/cuda/cusparse_sparse_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "convlab/simt/cuda/cusparse_call.h"
#include "convlab/simt/cuda/sparse_entries.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {
namespace runtime {
namespace {

/// alpha A B in CSR.
struct SparseProduct {
  bool is_estimated = false, is_computed = false;
  int64_t multiplications = 0;
  std::vector<int64_t> offsets, columns;
  std::vector<std::complex<double>> values;
};

}  // namespace
}  // namespace runtime

struct cusparseSpGEMMDescr {
  std::shared_ptr<runtime::SparseProduct> product = std::make_shared<runtime::SparseProduct>();
};

namespace {

using namespace runtime;

/// The entries of a matrix by rows: those of row i are from begins[i] to begins[i + 1].
template <class Number>
struct Rows {
  std::vector<size_t> begins;
  std::vector<SparseEntry<Number>> entries;

  Rows(const LibraryCall& call, const cusparseSpMatDescr& matrix)
      : begins(static_cast<size_t>(matrix.rows) + 1), entries(load_entries<Number>(call, matrix)) {
    for (const auto& each : entries) ++begins[static_cast<size_t>(each.row) + 1];
    for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  }
};

template <class Number>
void multiply(const LibraryCall& call, const cusparseSpMatDescr& a, const cusparseSpMatDescr& b, Number alpha,
              SparseProduct& product) {
  const Rows<Number> left(call, a), right(call, b);
  product.offsets.assign(1, 0);
  product.columns.clear();
  product.values.clear();
  std::vector<Number> sums(static_cast<size_t>(b.columns));
  std::vector<bool> is_present(static_cast<size_t>(b.columns));
  std::vector<int64_t> present;
  for (size_t row = 0; row < static_cast<size_t>(a.rows); ++row) {
    for (size_t i = left.begins[row]; i < left.begins[row + 1]; ++i) {
      const auto inner = static_cast<size_t>(left.entries[i].column);
      for (size_t j = right.begins[inner]; j < right.begins[inner + 1]; ++j) {
        const auto column = static_cast<size_t>(right.entries[j].column);
        if (!is_present[column]) present.push_back(right.entries[j].column);
        is_present[column] = true;
        sums[column] += left.entries[i].value * right.entries[j].value;
      }
    }
    std::ranges::sort(present);
    for (const int64_t each : present) {
      const auto column = static_cast<size_t>(each);
      product.columns.push_back(each);
      product.values.push_back(alpha * sums[column]);
      sums[column] = Number(0);
      is_present[column] = false;
    }
    present.clear();
    product.offsets.push_back(static_cast<int64_t>(product.columns.size()));
  }
  product.is_computed = true;
}

int64_t count_multiplications(const LibraryCall& call, const cusparseSpMatDescr& a, const cusparseSpMatDescr& b) {
  const auto begins =
      load_indices(call, b.rows_or_offsets, b.offset_type, b.base, b.rows + 1, b.count + 1, "the offsets");
  int64_t count = 0;
  for (const int64_t each : load_indices(call, a.indices, a.index_type, a.base, a.count, a.columns, "the indices")) {
    const auto row = static_cast<size_t>(each);
    count += begins[row + 1] - begins[row];
  }
  return count;
}

/// Returns the status of a call with null pointers or matrices that cannot be multiplied; else success.
cusparseStatus_t refuse(cusparseHandle_t handle, const LibraryCall& call, cusparseOperation_t op_a,
                        cusparseOperation_t op_b, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                        cusparseConstSpMatDescr_t c, const cusparseSpGEMMDescr* descriptor) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!all_exist(a, b, c, descriptor)) return refuse_sparse(call, kNullDescriptor);
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE) {
    return unsupported_sparse(call, "A and B cannot be transposed");
  }
  for (cusparseConstSpMatDescr_t each : {a, b, c}) {
    if (each->format != CUSPARSE_FORMAT_CSR) return unsupported_sparse(call, "A, B and C must be in CSR");
  }
  if (a->columns == b->rows && c->rows == a->rows && c->columns == b->columns) return CUSPARSE_STATUS_SUCCESS;
  return refuse_sparse(call, fmt::format("the shapes do not match: A is {} x {}, B {} x {} and C {} x {}", a->rows,
                                         a->columns, b->rows, b->columns, c->rows, c->columns));
}

}  // namespace

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) noexcept {
  if (descriptor == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descriptor = new (std::nothrow) cusparseSpGEMMDescr;
  return *descriptor != nullptr ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) noexcept {
  delete descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void*, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void*, cusparseSpMatDescr_t c,
                                               cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor,
                                               size_t* bytes, void* buffer, Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpGEMM_workEstimation", where);
  const cusparseStatus_t refused = refuse(handle, call, op_a, op_b, a, b, c, descriptor);
  if (refused != CUSPARSE_STATUS_SUCCESS) return refused;
  if (buffer == nullptr) return no_sparse_buffer(handle, bytes);
  return run_sparse(handle, call, [a = *a, b = *b, product = descriptor->product, buffer](const LibraryCall& library) {
    library.writes(buffer, 1, 1, "externalBuffer1");
    product->multiplications = count_multiplications(library, a, b);
    product->is_estimated = true;
    simt::internal::wait_for_stream(named(library.stream));
  });
}

cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t* count) noexcept {
  if (descriptor == nullptr || count == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *count = descriptor->product->multiplications;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t, cusparseOperation_t,
                                               const void*, cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t,
                                               const void*, cusparseSpMatDescr_t, cudaDataType, cusparseSpGEMMAlg_t,
                                               cusparseSpGEMMDescr_t, float, size_t* bytes, void* buffer,
                                               size_t* compute_bytes) noexcept {
  return no_sparse_buffer(handle, buffer == nullptr ? bytes : compute_bytes);
}

cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void*, cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t,
                                        cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer,
                                        Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpGEMM_compute", where);
  const cusparseStatus_t refused = refuse(handle, call, op_a, op_b, a, b, c, descriptor);
  if (refused != CUSPARSE_STATUS_SUCCESS) return refused;
  if (buffer == nullptr) return no_sparse_buffer(handle, bytes);
  const auto first = factor(call, handle->pointers, alpha, compute, "alpha");
  if (!first) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(
      handle, call,
      [a = *a, b = *b, c, alpha = *first, product = descriptor->product, buffer](const LibraryCall& library) {
        if (!product->is_estimated) throw library.invalid("call cusparseSpGEMM_workEstimation first");
        library.writes(buffer, 1, 1, "externalBuffer2");
        with_number(c->type, [&](auto number) {
          using Number = decltype(number);
          multiply<Number>(library, a, b, number_of<Number>(alpha.read(library)), *product);
        });
        c->count = static_cast<int64_t>(product->columns.size());
        simt::internal::wait_for_stream(named(library.stream));
      });
}

cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                     const void*, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor, Where where) noexcept {
  const LibraryCall call = sparse_call(handle, "cusparseSpGEMM_copy", where);
  const cusparseStatus_t refused = refuse(handle, call, op_a, op_b, a, b, c, descriptor);
  if (refused != CUSPARSE_STATUS_SUCCESS) return refused;
  const auto second = factor(call, handle->pointers, beta, compute, "beta");
  if (!second) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(handle, call, [c = *c, beta = *second, product = descriptor->product](const LibraryCall& library) {
    if (!product->is_computed) throw library.invalid("call cusparseSpGEMM_compute first");
    const auto count = static_cast<int64_t>(product->values.size());
    const DeviceVector stored{c.values, c.type, count, 1, "the values of C"};
    std::vector<std::complex<double>> values = product->values;
    if (const std::complex<double> keep = beta.read(library); keep != 0.0) {
      const auto old = load<std::complex<double>>(library, stored);
      for (size_t i = 0; i < values.size(); ++i) values[i] += keep * old[i];
    }
    store_indices(library, c.rows_or_offsets, c.offset_type, c.base, product->offsets, "the offsets of C");
    store_indices(library, c.indices, c.index_type, c.base, product->columns, "the column indices of C");
    store(library, stored, values);
  });
}

}  // namespace convlab::simt::cuda
