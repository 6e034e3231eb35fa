// Launches kernels for the driver API.

#include "convlab/simt/cuda/driver_kernels.h"

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/launch_calls.h"
#include "convlab/simt/cuda/resident_blocks.h"

namespace convlab::simt::cuda {
namespace {

CUresult result_of(cudaError_t error) { return static_cast<CUresult>(error); }
const void* kernel_of(CUfunction function) { return reinterpret_cast<const void*>(function); }

}  // namespace

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function, Where where) noexcept {
  cudaFuncAttributes all;
  if (const cudaError_t error = runtime::function_attributes(&all, kernel_of(function), where); error != cudaSuccess) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = all.maxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(all.sharedSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(all.constSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(all.localSizeBytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = all.numRegs;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = all.ptxVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = all.binaryVersion;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = all.preferredShmemCarveout;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value, Where where) noexcept {
  return result_of(
      runtime::set_function_attribute(kernel_of(function), static_cast<cudaFuncAttribute>(attribute), value, where));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t dynamic_bytes) noexcept {
  return result_of(runtime::resident_blocks(blocks, kernel_of(function), threads, dynamic_bytes));
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize bytes_of,
                                          size_t dynamic_bytes, int limit) noexcept {
  const auto bytes = [=](int threads) { return bytes_of == nullptr ? dynamic_bytes : bytes_of(threads); };
  return result_of(runtime::best_block(grid, block, kernel_of(function), bytes, limit));
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cudaStream_t stream,
                        void** arguments, void** extra, Where where) noexcept {
  if (function == nullptr) {
    failed(cudaErrorInvalidResourceHandle, "cuLaunchKernel", where, "the function is a null pointer");
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (extra != nullptr && extra[0] != CU_LAUNCH_PARAM_END) {
    failed(cudaErrorNotSupported, "cuLaunchKernel", where,
           "simt does not support arguments in a buffer: pass an array of pointers to them");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const LaunchShape shape{.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .shared_bytes = shared_bytes,
                          .where = where};
  return result_of(runtime::launch_erased(kernel_of(function), shape, arguments, stream, "cuLaunchKernel"));
}

}  // namespace convlab::simt::cuda
