// Launches kernels for the driver API, and refuses modules.

#include "convlab/simt/cuda/driver_modules.h"

#include <string>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/launch_calls.h"
#include "convlab/simt/cuda/resident_blocks.h"
#include "convlab/simt/failed_call.h"

namespace convlab::simt::cuda {
namespace {

CUresult result_of(cudaError_t error) { return static_cast<CUresult>(error); }
const void* kernel_of(CUfunction function) { return reinterpret_cast<const void*>(function); }

CUresult refuse(CUresult result, const char* call, const char* why, const Where& where) {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  keep_failed_call({.call = call,
                    .place = place_of(where),
                    .code = result,
                    .error = std::string(name) + ": " + text,
                    .why = why,
                    .help =
                        "compile the kernel with the program and launch it with <<<...>>>, or get its CUfunction from "
                        "cudaGetFuncBySymbol"});
  return result;
}

CUresult refuse_image(const char* call, const Where& where) {
  return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, call,
                "simt cannot load PTX, cubins or fatbins: it has no GPU to run them", where);
}

constexpr const char* kNoModule = "there is no module: simt has loaded none";

}  // namespace

CUresult cuModuleLoad(CUmodule*, const char*, Where where) noexcept { return refuse_image("cuModuleLoad", where); }
CUresult cuModuleLoadData(CUmodule*, const void*, Where where) noexcept {
  return refuse_image("cuModuleLoadData", where);
}
CUresult cuModuleLoadDataEx(CUmodule*, const void*, unsigned, CUjit_option*, void**, Where where) noexcept {
  return refuse_image("cuModuleLoadDataEx", where);
}
CUresult cuModuleLoadFatBinary(CUmodule*, const void*, Where where) noexcept {
  return refuse_image("cuModuleLoadFatBinary", where);
}
CUresult cuModuleUnload(CUmodule) noexcept { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*, Where where) noexcept {
  return refuse(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetFunction", kNoModule, where);
}
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule, const char*, Where where) noexcept {
  return refuse(CUDA_ERROR_INVALID_HANDLE, "cuModuleGetGlobal", kNoModule, where);
}

CUresult cuLinkCreate(unsigned, CUjit_option*, void**, CUlinkState*, Where where) noexcept {
  return refuse_image("cuLinkCreate", where);
}
CUresult cuLinkAddData(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned, CUjit_option*,
                       void**) noexcept {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuLinkAddFile(CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*, void**) noexcept {
  return CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuLinkComplete(CUlinkState, void**, size_t*) noexcept { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuLinkDestroy(CUlinkState) noexcept { return CUDA_ERROR_INVALID_HANDLE; }

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

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cudaStream_t stream,
                        void** arguments, void** extra, Where where) noexcept {
  if (function == nullptr) {
    return refuse(CUDA_ERROR_INVALID_HANDLE, "cuLaunchKernel", "the function is a null pointer", where);
  }
  if (extra != nullptr && extra[0] != CU_LAUNCH_PARAM_END) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuLaunchKernel",
                  "simt does not support arguments in a buffer: pass an array of pointers to them", where);
  }
  const LaunchShape shape{.grid = {grid_x, grid_y, grid_z},
                          .block = {block_x, block_y, block_z},
                          .shared_bytes = shared_bytes,
                          .where = where};
  return result_of(runtime::launch_erased(kernel_of(function), shape, arguments, stream, "cuLaunchKernel"));
}

}  // namespace convlab::simt::cuda
