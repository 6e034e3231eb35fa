#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "convlab/simt/cuda/cublas_call.h"
#include "convlab/simt/cuda/cusparse.h"
#include "convlab/simt/cuda/library_call.h"

/// What all functions of cuSPARSE do.
namespace convlab::simt::cuda::runtime {

inline const StatusCodes kSparseCodes{
    .invalid = CUSPARSE_STATUS_INVALID_VALUE,
    .unsupported = CUSPARSE_STATUS_NOT_SUPPORTED,
    .failed = CUSPARSE_STATUS_EXECUTION_FAILED,
    .name = [](int status) { return cusparseGetErrorName(static_cast<cusparseStatus_t>(status)); }};

/// `name` is a literal.
inline LibraryCall sparse_call(cusparseHandle_t handle, const char* name, const Where& where) {
  return {&kSparseCodes, name, handle == nullptr ? nullptr : handle->stream, where};
}

/// Keep the failed call and return its status.
inline cusparseStatus_t refuse_sparse(const LibraryCall& call, std::string why) {
  return static_cast<cusparseStatus_t>(call.fail(call.invalid(std::move(why))));
}

inline cusparseStatus_t unsupported_sparse(const LibraryCall& call, std::string why) {
  return static_cast<cusparseStatus_t>(call.fail(call.unsupported(std::move(why))));
}

inline cusparseStatus_t run_sparse(cusparseHandle_t handle, const LibraryCall& call,
                                   std::function<void(const LibraryCall&)> work) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  return static_cast<cusparseStatus_t>(call.run(std::move(work)));
}

inline constexpr const char* kNullDescriptor = "a descriptor is a null pointer";

template <class... Descriptors>
bool all_exist(const Descriptors*... descriptors) {
  return (... && (descriptors != nullptr));
}

/// Returns alpha or beta; nullopt, with a finding, if it is in device memory and should be on the host.
std::optional<BlasFactor> factor(const LibraryCall& call, cusparsePointerMode_t mode, const void* pointer,
                                 cudaDataType type, const char* name);

/// Answers a question for the size of a buffer.
inline cusparseStatus_t no_sparse_buffer(cusparseHandle_t handle, size_t* bytes) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *bytes = 8;  // programs allocate it, and an empty allocation has no address
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace convlab::simt::cuda::runtime
