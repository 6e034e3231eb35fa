#pragma once

#include "convlab/simt/cuda/cusparse.h"

/// The incomplete factorizations of cuSPARSE's legacy API, which keep the pattern of a square matrix in CSR: csrilu02
/// replaces A with L and U, whose diagonals are ones and U's, and csric02 the lower triangle with L of L L^H. Both need
/// the analysis first. As in cuSPARSE, the type of the matrix must be CUSPARSE_MATRIX_TYPE_GENERAL and the address of
/// the buffer a multiple of 128. The policy has no effect.
///
/// Not supported: the block forms, bsrilu02 and bsric02.
namespace convlab::simt::cuda {

enum cusparseSolvePolicy_t { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 };
struct csrilu02Info;
using csrilu02Info_t = csrilu02Info*;
struct csric02Info;
using csric02Info_t = csric02Info*;

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info) noexcept;
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info) noexcept;
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t* info) noexcept;
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info) noexcept;

/// Wait for the stream, and return CUSPARSE_STATUS_ZERO_PIVOT if an element of the diagonal is missing, or was 0 in the
/// factorization; for csric02, also if A is not positive definite. `position` is its row, with the matrix's base; else
/// -1. It is on the host or the device, as the pointer mode says.
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int* position,
                                             Where where = Where::current()) noexcept;
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int* position,
                                            Where where = Where::current()) noexcept;

#define CONVLAB_SIMT_FACTORIZATION(name, Info, T)                                                                      \
  cusparseStatus_t name##_bufferSize(cusparseHandle_t handle, int rows, int count, cusparseMatDescr_t a, T* values,    \
                                     const int* offsets, const int* indices, Info info, int* bytes) noexcept;          \
  cusparseStatus_t name##_bufferSizeExt(cusparseHandle_t handle, int rows, int count, cusparseMatDescr_t a, T* values, \
                                        const int* offsets, const int* indices, Info info, size_t* bytes) noexcept;    \
  cusparseStatus_t name##_analysis(cusparseHandle_t handle, int rows, int count, cusparseMatDescr_t a,                 \
                                   const T* values, const int* offsets, const int* indices, Info info,                 \
                                   cusparseSolvePolicy_t policy, void* buffer,                                         \
                                   Where where = Where::current()) noexcept;                                           \
  cusparseStatus_t name(cusparseHandle_t handle, int rows, int count, cusparseMatDescr_t a, T* values,                 \
                        const int* offsets, const int* indices, Info info, cusparseSolvePolicy_t policy, void* buffer, \
                        Where where = Where::current()) noexcept;
CONVLAB_SIMT_FACTORIZATION(cusparseScsrilu02, csrilu02Info_t, float)
CONVLAB_SIMT_FACTORIZATION(cusparseDcsrilu02, csrilu02Info_t, double)
CONVLAB_SIMT_FACTORIZATION(cusparseCcsrilu02, csrilu02Info_t, cuComplex)
CONVLAB_SIMT_FACTORIZATION(cusparseZcsrilu02, csrilu02Info_t, cuDoubleComplex)
CONVLAB_SIMT_FACTORIZATION(cusparseScsric02, csric02Info_t, float)
CONVLAB_SIMT_FACTORIZATION(cusparseDcsric02, csric02Info_t, double)
CONVLAB_SIMT_FACTORIZATION(cusparseCcsric02, csric02Info_t, cuComplex)
CONVLAB_SIMT_FACTORIZATION(cusparseZcsric02, csric02Info_t, cuDoubleComplex)
#undef CONVLAB_SIMT_FACTORIZATION

/// If enabled, csrilu02 replaces elements of U's diagonal whose magnitude is at most `tolerance` with `value`. Both are
/// on the host or the device, as the pointer mode says, and are read at once.
#define CONVLAB_SIMT_BOOST(name, T)                                                                                \
  cusparseStatus_t name(cusparseHandle_t handle, csrilu02Info_t info, int is_enabled, double* tolerance, T* value, \
                        Where where = Where::current()) noexcept;
CONVLAB_SIMT_BOOST(cusparseScsrilu02_numericBoost, float)
CONVLAB_SIMT_BOOST(cusparseDcsrilu02_numericBoost, double)
CONVLAB_SIMT_BOOST(cusparseCcsrilu02_numericBoost, cuComplex)
CONVLAB_SIMT_BOOST(cusparseZcsrilu02_numericBoost, cuDoubleComplex)
#undef CONVLAB_SIMT_BOOST

}  // namespace convlab::simt::cuda
