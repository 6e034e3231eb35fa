#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/simt/cuda/complex_numbers.h"
#include "convlab/simt/cuda/data_types.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/where.h"

/// The generic API of cuSPARSE: sparse matrices as CSR, CSC and COO, their products with dense vectors and matrices,
/// conversions to and from dense matrices, and sparse vectors; of the older API, CSR to CSC and counts of nonzeros.
/// Arrays and indices are checked as convlab/simt/cuda/library_call.h says. Algorithms have no effect, and no buffer is
/// needed. Triangular solves are in cusparse_triangles.h, products of sparse matrices in
/// cusparse_sparse_products.h, incomplete factorizations in cusparse_factors.h.
///
/// Not supported: batches, blocked formats, the rest of the legacy API.
namespace convlab::simt::cuda {

/// The macro of cuSPARSE's functions: helper_cuda.h of NVIDIA's samples asks for it.
#define CUSPARSEAPI
#define CUSPARSE_VERSION 12600

enum cusparseStatus_t {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ARCH_MISMATCH = 4,
  CUSPARSE_STATUS_MAPPING_ERROR = 5,
  CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7,
  CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSPARSE_STATUS_ZERO_PIVOT = 9,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11,
};
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE };
enum cusparseOperation_t {
  CUSPARSE_OPERATION_NON_TRANSPOSE,
  CUSPARSE_OPERATION_TRANSPOSE,
  CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
};
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };
enum cusparseFormat_t { CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC = 2, CUSPARSE_FORMAT_COO = 3 };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseMatrixType_t {
  CUSPARSE_MATRIX_TYPE_GENERAL,
  CUSPARSE_MATRIX_TYPE_SYMMETRIC,
  CUSPARSE_MATRIX_TYPE_HERMITIAN,
  CUSPARSE_MATRIX_TYPE_TRIANGULAR
};
enum cusparseFillMode_t { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER };
enum cusparseDiagType_t { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT };
enum cusparseSpMatAttribute_t { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE };
enum cusparseSpMVAlg_t {
  CUSPARSE_SPMV_ALG_DEFAULT = 0,
  CUSPARSE_SPMV_COO_ALG1 = 1,
  CUSPARSE_SPMV_CSR_ALG1 = 2,
  CUSPARSE_SPMV_CSR_ALG2 = 3,
  CUSPARSE_SPMV_COO_ALG2 = 4,
};
enum cusparseSpMMAlg_t {
  CUSPARSE_SPMM_ALG_DEFAULT = 0,
  CUSPARSE_SPMM_COO_ALG1 = 1,
  CUSPARSE_SPMM_COO_ALG2 = 2,
  CUSPARSE_SPMM_COO_ALG3 = 3,
  CUSPARSE_SPMM_CSR_ALG1 = 4,
  CUSPARSE_SPMM_COO_ALG4 = 5,
  CUSPARSE_SPMM_CSR_ALG2 = 6,
  CUSPARSE_SPMM_CSR_ALG3 = 12,
};
enum cusparseDirection_t { CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN };
enum cusparseAction_t { CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC };
enum cusparseCsr2CscAlg_t { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 };
enum cusparseSparseToDenseAlg_t { CUSPARSE_SPARSETODENSE_ALG_DEFAULT };
enum cusparseDenseToSparseAlg_t { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT };

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointers = CUSPARSE_POINTER_MODE_HOST;
};
using cusparseHandle_t = cusparseContext*;

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};
using cusparseMatDescr_t = cusparseMatDescr*;

/// CSR and CSC have offsets of rows or columns, and indices; COO has an index of row and column for each value.
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, columns, count;
  const void *rows_or_offsets, *indices, *values;
  cusparseIndexType_t offset_type, index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};
using cusparseSpMatDescr_t = cusparseSpMatDescr*;
using cusparseConstSpMatDescr_t = const cusparseSpMatDescr*;

struct cusparseSpVecDescr {
  int64_t size, count;
  const void *indices, *values;
  cusparseIndexType_t index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
};
using cusparseSpVecDescr_t = cusparseSpVecDescr*;
using cusparseConstSpVecDescr_t = const cusparseSpVecDescr*;

struct cusparseDnVecDescr {
  int64_t size;
  const void* values;
  cudaDataType type;
};
using cusparseDnVecDescr_t = cusparseDnVecDescr*;
using cusparseConstDnVecDescr_t = const cusparseDnVecDescr*;

struct cusparseDnMatDescr {
  int64_t rows, columns, leading;
  const void* values;
  cudaDataType type;
  cusparseOrder_t order;
};
using cusparseDnMatDescr_t = cusparseDnMatDescr*;
using cusparseConstDnMatDescr_t = const cusparseDnMatDescr*;

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) noexcept;
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) noexcept;
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) noexcept;
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) noexcept;
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) noexcept;
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) noexcept;
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) noexcept;
const char* cusparseGetErrorName(cusparseStatus_t status) noexcept;
const char* cusparseGetErrorString(cusparseStatus_t status) noexcept;

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* description) noexcept;
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t description) noexcept;
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t description, cusparseMatrixType_t type) noexcept;
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t description, cusparseIndexBase_t base) noexcept;
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t description, cusparseFillMode_t fill) noexcept;
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t description, cusparseDiagType_t diagonal) noexcept;
cusparseMatrixType_t cusparseGetMatType(cusparseMatDescr_t description) noexcept;
cusparseIndexBase_t cusparseGetMatIndexBase(cusparseMatDescr_t description) noexcept;

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t count,
                                   void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) noexcept;
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t count,
                                   void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) noexcept;
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t count,
                                   void* row_indices, void* column_indices, void* values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                   cudaDataType type) noexcept;
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) noexcept;
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,
                                        void* values) noexcept;
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix, void* offsets, void* indices,
                                        void* values) noexcept;
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* row_indices, void* column_indices,
                                        void* values) noexcept;
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows, int64_t* columns,
                                      int64_t* count) noexcept;
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) noexcept;
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                           void* value, size_t bytes) noexcept;
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute, void* value,
                                           size_t bytes) noexcept;

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* vector, int64_t size, int64_t count, void* indices,
                                     void* values, cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                     cudaDataType type) noexcept;
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) noexcept;
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size, void* values,
                                     cudaDataType type) noexcept;
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) noexcept;
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) noexcept;
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t leading,
                                     void* values, cudaDataType type, cusparseOrder_t order) noexcept;
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) noexcept;

/// y = alpha op(A) x + beta y.
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         size_t* bytes) noexcept;
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         void* buffer) noexcept;
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void* beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm, void* buffer,
                              Where where = Where::current()) noexcept;
/// C = alpha op(A) op(B) + beta C.
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, size_t* bytes) noexcept;
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void* buffer, Where where = Where::current()) noexcept;

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t algorithm,
                                                  size_t* bytes) noexcept;
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t algorithm, void* buffer,
                                       Where where = Where::current()) noexcept;
/// Analysis sets the number of values, and the offsets of CSR and CSC; conversion sets indices and values.
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                  size_t* bytes) noexcept;
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                void* buffer, Where where = Where::current()) noexcept;
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                               void* buffer, Where where = Where::current()) noexcept;

/// Converts CSR to CSC, which is the transposed matrix in CSR. CUSPARSE_ACTION_SYMBOLIC leaves out the values.
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int rows, int columns, int count,
                                               const void* values, const int* offsets, const int* indices,
                                               void* csc_values, int* csc_offsets, int* csc_indices, cudaDataType type,
                                               cusparseAction_t action, cusparseIndexBase_t base,
                                               cusparseCsr2CscAlg_t algorithm, size_t* bytes) noexcept;
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns, int count, const void* values,
                                    const int* offsets, const int* indices, void* csc_values, int* csc_offsets,
                                    int* csc_indices, cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t algorithm, void* buffer,
                                    Where where = Where::current()) noexcept;

/// Count the elements of each row or column of a dense matrix that are not 0, and all of them: the total is on the host
/// or the device, as the pointer mode says.
#define CONVLAB_SIMT_NONZEROS(name, T)                                                                    \
  cusparseStatus_t name(cusparseHandle_t handle, cusparseDirection_t direction, int rows, int columns,    \
                        cusparseMatDescr_t description, const T* a, int leading, int* counts, int* total, \
                        Where where = Where::current()) noexcept;
CONVLAB_SIMT_NONZEROS(cusparseSnnz, float)
CONVLAB_SIMT_NONZEROS(cusparseDnnz, double)
CONVLAB_SIMT_NONZEROS(cusparseCnnz, cuComplex)
CONVLAB_SIMT_NONZEROS(cusparseZnnz, cuDoubleComplex)
#undef CONVLAB_SIMT_NONZEROS

/// y = alpha x + beta y; x = y at x's indices; y at x's indices = x.
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha, cusparseConstSpVecDescr_t x,
                               const void* beta, cusparseDnVecDescr_t y, Where where = Where::current()) noexcept;
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x,
                                Where where = Where::current()) noexcept;
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y,
                                 Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
