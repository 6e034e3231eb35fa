#pragma once

#include <cstddef>

#include "convlab/simt/cuda/driver_errors.h"
#include "convlab/simt/cuda/driver_memory.h"
#include "convlab/simt/cuda/function_attributes.h"

/// Modules and kernels of the driver API. simt runs kernels that the host compiler has compiled with the program, so it
/// cannot load PTX, cubins or fatbins: cuModuleLoad and its variants return CUDA_ERROR_NO_BINARY_FOR_GPU, with a
/// finding. cuLaunchKernel launches what cudaGetFuncBySymbol() returns.
namespace convlab::simt::cuda {

struct CUmod_st;
using CUmodule = CUmod_st*;
using CUfunction = cudaFunction_t;
struct CUlinkState_st;
using CUlinkState = CUlinkState_st*;

/// Options of the compiler of PTX.
enum CUjit_option {
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_THREADS_PER_BLOCK = 1,
  CU_JIT_WALL_TIME = 2,
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7,
  CU_JIT_TARGET_FROM_CUCONTEXT = 8,
  CU_JIT_TARGET = 9,
  CU_JIT_FALLBACK_STRATEGY = 10,
  CU_JIT_GENERATE_DEBUG_INFO = 11,
  CU_JIT_LOG_VERBOSE = 12,
  CU_JIT_GENERATE_LINE_INFO = 13,
  CU_JIT_CACHE_MODE = 14,
};
enum CUjitInputType {
  CU_JIT_INPUT_CUBIN = 0,
  CU_JIT_INPUT_PTX = 1,
  CU_JIT_INPUT_FATBINARY = 2,
  CU_JIT_INPUT_OBJECT = 3,
  CU_JIT_INPUT_LIBRARY = 4,
};

CUresult cuModuleLoad(CUmodule* module, const char* file, Where where = Where::current()) noexcept;
CUresult cuModuleLoadData(CUmodule* module, const void* image, Where where = Where::current()) noexcept;
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values,
                            Where where = Where::current()) noexcept;
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image, Where where = Where::current()) noexcept;
CUresult cuModuleUnload(CUmodule module) noexcept;
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name,
                             Where where = Where::current()) noexcept;
CUresult cuModuleGetGlobal(CUdeviceptr* memory, size_t* bytes, CUmodule module, const char* name,
                           Where where = Where::current()) noexcept;

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state,
                      Where where = Where::current()) noexcept;
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name,
                       unsigned count, CUjit_option* options, void** values) noexcept;
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* file, unsigned count, CUjit_option* options,
                       void** values) noexcept;
CUresult cuLinkComplete(CUlinkState state, void** cubin, size_t* bytes) noexcept;
CUresult cuLinkDestroy(CUlinkState state) noexcept;

enum CUfunction_attribute {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function,
                            Where where = Where::current()) noexcept;
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value,
                            Where where = Where::current()) noexcept;
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     size_t dynamic_bytes) noexcept;

/// Arguments in one buffer, with CU_LAUNCH_PARAM_BUFFER_POINTER, are not supported.
#define CU_LAUNCH_PARAM_END (reinterpret_cast<void*>(0))
#define CU_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(1))
#define CU_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(2))
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cudaStream_t stream,
                        void** arguments, void** extra, Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
