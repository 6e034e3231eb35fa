#pragma once

#include "convlab/simt/cuda/cusparse.h"

/// Triangular solves of cuSPARSE: op(A) y = alpha x, and op(A) C = alpha op(B) for dense matrices. A is in CSR or COO,
/// its indices in any order. Its attributes say which triangle to use, by default the lower one, and whether the
/// diagonal is all ones, by default not; entries outside the triangle are ignored. y may be x, and C may be B.
///
/// As in cuSPARSE, the analysis keeps the values of A, and each solve uses those, or the ones of the last call of
/// updateMatrix. The buffer of the analysis must exist until the last solve: each one checks it and A's arrays.
/// A zero on the diagonal divides: no call reports it.
namespace convlab::simt::cuda {

enum cusparseSpSVAlg_t { CUSPARSE_SPSV_ALG_DEFAULT = 0 };
enum cusparseSpSVUpdate_t { CUSPARSE_SPSV_UPDATE_GENERAL = 0, CUSPARSE_SPSV_UPDATE_DIAGONAL = 1 };
struct cusparseSpSVDescr;
using cusparseSpSVDescr_t = cusparseSpSVDescr*;

enum cusparseSpSMAlg_t { CUSPARSE_SPSM_ALG_DEFAULT = 0 };
enum cusparseSpSMUpdate_t { CUSPARSE_SPSM_UPDATE_GENERAL = 0, CUSPARSE_SPSM_UPDATE_DIAGONAL = 1 };
struct cusparseSpSMDescr;
using cusparseSpSMDescr_t = cusparseSpSMDescr*;

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descriptor) noexcept;
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) noexcept;
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                         cusparseSpSVDescr_t descriptor, size_t* bytes) noexcept;
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                       cusparseSpSVDescr_t descriptor, void* buffer,
                                       Where where = Where::current()) noexcept;
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t descriptor,
                                    Where where = Where::current()) noexcept;
/// Replaces all values of A, in the order of its indices, or its diagonal, one value per row.
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descriptor, void* values,
                                           cusparseSpSVUpdate_t part, Where where = Where::current()) noexcept;

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descriptor) noexcept;
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor) noexcept;
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t algorithm,
                                         cusparseSpSMDescr_t descriptor, size_t* bytes) noexcept;
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                       const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                       cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t algorithm,
                                       cusparseSpSMDescr_t descriptor, void* buffer,
                                       Where where = Where::current()) noexcept;
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                    const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t algorithm,
                                    cusparseSpSMDescr_t descriptor, Where where = Where::current()) noexcept;
/// As cusparseSpSV_updateMatrix().
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t descriptor, void* values,
                                           cusparseSpSMUpdate_t part, Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
