// Factors matrices incompletely for cuSPARSE.

#include "convlab/simt/cuda/cusparse_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "convlab/simt/cuda/cusparse_call.h"
#include "convlab/simt/cuda/incomplete_factors.h"
#include "convlab/simt/cuda/sparse_entries.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda {
namespace runtime {
namespace {

struct SparseAnalysis {
  bool is_analyzed = false;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  SparsePivots pivots;
};

}  // namespace
}  // namespace runtime

struct csrilu02Info {
  static constexpr bool kIsCholesky = false;
  std::shared_ptr<runtime::SparseAnalysis> analysis = std::make_shared<runtime::SparseAnalysis>();
};
struct csric02Info {
  static constexpr bool kIsCholesky = true;
  std::shared_ptr<runtime::SparseAnalysis> analysis = std::make_shared<runtime::SparseAnalysis>();
};

namespace {

using namespace runtime;

template <class Info>
cusparseStatus_t create(Info** info) {
  if (info == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *info = new Info;
  return CUSPARSE_STATUS_SUCCESS;
}

/// A matrix in CSR.
struct LegacyMatrix {
  int rows, count;
  const cusparseMatDescr* description;
  const void* values;
  cudaDataType type;
  const int *offsets, *indices;
};

/// Returns the status of arguments that cuSPARSE does not accept; else success.
cusparseStatus_t refuse(cusparseHandle_t handle, const LibraryCall& call, const LegacyMatrix& a, const void* info,
                        const void* buffer) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (a.description == nullptr || info == nullptr) return refuse_sparse(call, kNullDescriptor);
  if (a.rows < 0 || a.count < 0) {
    return refuse_sparse(call, fmt::format("sizes must be at least 0; got {} and {}", a.rows, a.count));
  }
  if (a.description->type != CUSPARSE_MATRIX_TYPE_GENERAL) {
    return static_cast<cusparseStatus_t>(
        call.fail({CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "the type must be CUSPARSE_MATRIX_TYPE_GENERAL"}));
  }
  if (reinterpret_cast<uintptr_t>(buffer) % 128 == 0) return CUSPARSE_STATUS_SUCCESS;
  return refuse_sparse(call, "the address of the buffer must be a multiple of 128");
}

SparsePattern load_pattern(const LibraryCall& call, const LegacyMatrix& a, cusparseIndexBase_t base) {
  constexpr auto kIndex = CUSPARSE_INDEX_32I;
  const auto offsets =
      load_indices(call, a.offsets, kIndex, base, int64_t{a.rows} + 1, int64_t{a.count} + 1, "csrSortedRowPtrA");
  return {offsets, load_indices(call, a.indices, kIndex, base, a.count, a.rows, "csrSortedColIndA")};
}

template <class Info>
cusparseStatus_t analyze(cusparseHandle_t handle, const LibraryCall& call, const LegacyMatrix& a, const Info* info,
                         const void* buffer) {
  const cusparseStatus_t refused = refuse(handle, call, a, info, buffer);
  if (refused != CUSPARSE_STATUS_SUCCESS) return refused;
  return run_sparse(
      handle, call, [a, base = a.description->base, analysis = info->analysis, buffer](const LibraryCall& library) {
        library.writes(buffer, 1, 1, "pBuffer");
        const SparsePattern pattern = load_pattern(library, a, base);
        const auto missing = std::ranges::find(pattern.diagonal, -1);
        analysis->pivots.structural = missing == pattern.diagonal.end() ? -1 : missing - pattern.diagonal.begin();
        analysis->pivots.numeric = -1;
        analysis->base = base;
        analysis->is_analyzed = true;
      });
}

template <class Info>
cusparseStatus_t factor_matrix(cusparseHandle_t handle, const LibraryCall& call, const LegacyMatrix& a,
                               const Info* info, const void* buffer) {
  const cusparseStatus_t refused = refuse(handle, call, a, info, buffer);
  if (refused != CUSPARSE_STATUS_SUCCESS) return refused;
  return run_sparse(handle, call,
                    [a, base = a.description->base, analysis = info->analysis, buffer](const LibraryCall& library) {
                      if (!analysis->is_analyzed)
                        throw library.invalid("info has no analysis: call the analysis function first");
                      library.writes(buffer, 1, 1, "pBuffer");
                      const SparsePattern pattern = load_pattern(library, a, base);
                      analysis->pivots.numeric = -1;
                      with_number(a.type, [&](auto number) {
                        using Number = decltype(number);
                        const DeviceVector stored{a.values, a.type, a.count, 1, "csrSortedValA_valM"};
                        std::vector<Number> values = load<Number>(library, stored);
                        if constexpr (Info::kIsCholesky) {
                          factor_cholesky(pattern, values, analysis->pivots);
                        } else {
                          factor_lu(pattern, values, analysis->pivots);
                        }
                        store(library, stored, values);
                      });
                    });
}

template <class Info>
cusparseStatus_t zero_pivot(cusparseHandle_t handle, const LibraryCall& call, const Info* info, int* position) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (info == nullptr || position == nullptr) return refuse_sparse(call, "an argument is a null pointer");
  const bool on_device = handle->pointers == CUSPARSE_POINTER_MODE_DEVICE;
  const auto found = std::make_shared<bool>(false);
  const cusparseStatus_t status = run_sparse(handle, call, [=, analysis = info->analysis](const LibraryCall& library) {
    const auto [structural, numeric] = std::pair(analysis->pivots.structural, analysis->pivots.numeric);
    const int64_t first = structural < 0 ? numeric : numeric < 0 ? structural : std::min(structural, numeric);
    *found = first >= 0;
    const int64_t row = first < 0 ? -1 : first + analysis->base;
    if (on_device) {
      store_indices(library, position, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, {row}, "position");
    } else {
      *position = static_cast<int>(row);
    }
    simt::internal::wait_for_stream(named(library.stream));
  });
  return status == CUSPARSE_STATUS_SUCCESS && *found ? CUSPARSE_STATUS_ZERO_PIVOT : status;
}

cusparseStatus_t boost(cusparseHandle_t handle, const LibraryCall& call, const csrilu02Info* info, bool is_enabled,
                       const double* tolerance, const void* value, cudaDataType type) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (info == nullptr) return refuse_sparse(call, kNullDescriptor);
  info->analysis->pivots.is_boosted = is_enabled;
  if (!is_enabled) return CUSPARSE_STATUS_SUCCESS;
  const auto limit = factor(call, handle->pointers, tolerance, CUDA_R_64F, "tol");
  const auto replacement = factor(call, handle->pointers, value, type, "boost_val");
  if (!limit || !replacement) return CUSPARSE_STATUS_EXECUTION_FAILED;
  return run_sparse(handle, call,
                    [analysis = info->analysis, limit = *limit, by = *replacement](const LibraryCall& library) {
                      analysis->pivots.tolerance = limit.read(library).real();
                      analysis->pivots.boost = by.read(library);
                    });
}

}  // namespace

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info) noexcept { return create(info); }
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t* info) noexcept { return create(info); }
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info) noexcept {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info) noexcept {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int* position,
                                             Where where) noexcept {
  return zero_pivot(handle, sparse_call(handle, "cusparseXcsrilu02_zeroPivot", where), info, position);
}
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int* position,
                                            Where where) noexcept {
  return zero_pivot(handle, sparse_call(handle, "cusparseXcsric02_zeroPivot", where), info, position);
}

#define CONVLAB_SIMT_FACTORIZATION(name, Info, T, type)                                                         \
  cusparseStatus_t name##_bufferSize(cusparseHandle_t handle, int, int, cusparseMatDescr_t, T*, const int*,     \
                                     const int*, Info, int* bytes) noexcept {                                   \
    size_t needed = 0;                                                                                          \
    const cusparseStatus_t status = no_sparse_buffer(handle, bytes == nullptr ? nullptr : &needed);             \
    if (status == CUSPARSE_STATUS_SUCCESS) *bytes = static_cast<int>(needed);                                   \
    return status;                                                                                              \
  }                                                                                                             \
  cusparseStatus_t name##_bufferSizeExt(cusparseHandle_t handle, int, int, cusparseMatDescr_t, T*, const int*,  \
                                        const int*, Info, size_t* bytes) noexcept {                             \
    return no_sparse_buffer(handle, bytes);                                                                     \
  }                                                                                                             \
  cusparseStatus_t name##_analysis(cusparseHandle_t handle, int rows, int count, cusparseMatDescr_t a,          \
                                   const T* values, const int* offsets, const int* indices, Info info,          \
                                   cusparseSolvePolicy_t, void* buffer, Where where) noexcept {                 \
    return analyze(handle, sparse_call(handle, #name "_analysis", where),                                       \
                   LegacyMatrix{rows, count, a, values, type, offsets, indices}, info, buffer);                 \
  }                                                                                                             \
  cusparseStatus_t name(cusparseHandle_t handle, int rows, int count, cusparseMatDescr_t a, T* values,          \
                        const int* offsets, const int* indices, Info info, cusparseSolvePolicy_t, void* buffer, \
                        Where where) noexcept {                                                                 \
    return factor_matrix(handle, sparse_call(handle, #name, where),                                             \
                         LegacyMatrix{rows, count, a, values, type, offsets, indices}, info, buffer);           \
  }
CONVLAB_SIMT_FACTORIZATION(cusparseScsrilu02, csrilu02Info_t, float, CUDA_R_32F)
CONVLAB_SIMT_FACTORIZATION(cusparseDcsrilu02, csrilu02Info_t, double, CUDA_R_64F)
CONVLAB_SIMT_FACTORIZATION(cusparseCcsrilu02, csrilu02Info_t, cuComplex, CUDA_C_32F)
CONVLAB_SIMT_FACTORIZATION(cusparseZcsrilu02, csrilu02Info_t, cuDoubleComplex, CUDA_C_64F)
CONVLAB_SIMT_FACTORIZATION(cusparseScsric02, csric02Info_t, float, CUDA_R_32F)
CONVLAB_SIMT_FACTORIZATION(cusparseDcsric02, csric02Info_t, double, CUDA_R_64F)
CONVLAB_SIMT_FACTORIZATION(cusparseCcsric02, csric02Info_t, cuComplex, CUDA_C_32F)
CONVLAB_SIMT_FACTORIZATION(cusparseZcsric02, csric02Info_t, cuDoubleComplex, CUDA_C_64F)
#undef CONVLAB_SIMT_FACTORIZATION

#define CONVLAB_SIMT_BOOST(name, T, type)                                                                          \
  cusparseStatus_t name(cusparseHandle_t handle, csrilu02Info_t info, int is_enabled, double* tolerance, T* value, \
                        Where where) noexcept {                                                                    \
    return boost(handle, sparse_call(handle, #name, where), info, is_enabled != 0, tolerance, value, type);        \
  }
CONVLAB_SIMT_BOOST(cusparseScsrilu02_numericBoost, float, CUDA_R_32F)
CONVLAB_SIMT_BOOST(cusparseDcsrilu02_numericBoost, double, CUDA_R_64F)
CONVLAB_SIMT_BOOST(cusparseCcsrilu02_numericBoost, cuComplex, CUDA_C_32F)
CONVLAB_SIMT_BOOST(cusparseZcsrilu02_numericBoost, cuDoubleComplex, CUDA_C_64F)
#undef CONVLAB_SIMT_BOOST

}  // namespace convlab::simt::cuda
