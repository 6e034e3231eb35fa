#pragma once

#include "convlab/simt/cuda/cusparse.h"

/// SpGEMM of cuSPARSE, C = alpha A B + beta C for matrices in CSR: cusparseSpGEMM_compute() multiplies, and
/// cusparseSpMatGetSize(C) then returns the number of its elements; after cusparseCsrSetPointers()
/// cusparseSpGEMM_copy() writes them, columns in ascending order. With beta other than 0 the values of C must be those
/// of the same elements. Each function that has a buffer returns its size if the buffer is a null pointer, and does
/// nothing else.
///
/// Not supported: transposed operands, as in cuSPARSE, and cusparseSpGEMMreuse.
namespace convlab::simt::cuda {

enum cusparseSpGEMMAlg_t {
  CUSPARSE_SPGEMM_DEFAULT = 0,
  CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1,
  CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
  CUSPARSE_SPGEMM_ALG1 = 3,
  CUSPARSE_SPGEMM_ALG2 = 4,
  CUSPARSE_SPGEMM_ALG3 = 5,
};
struct cusparseSpGEMMDescr;
using cusparseSpGEMMDescr_t = cusparseSpGEMMDescr*;

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) noexcept;
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) noexcept;
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                               cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* buffer,
                                               Where where = Where::current()) noexcept;
/// The number of multiplications, which the work estimation counts.
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t* count) noexcept;
/// Returns the size of its own buffer; with one, that of the buffer of cusparseSpGEMM_compute().
cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute, cusparseSpGEMMAlg_t algorithm,
                                               cusparseSpGEMMDescr_t descriptor, float chunk_fraction, size_t* bytes,
                                               void* buffer, size_t* compute_bytes) noexcept;
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor, size_t* bytes,
                                        void* buffer, Where where = Where::current()) noexcept;
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                     const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descriptor,
                                     Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
