#pragma once

#include <cstddef>

#include "convlab/simt/cuda/driver_errors.h"
#include "convlab/simt/cuda/driver_kernels.h"
#include "convlab/simt/cuda/driver_memory.h"
#include "convlab/simt/where.h"

/// Modules of the driver API. simt runs kernels that the host compiler has compiled with the program, so it cannot load
/// PTX, cubins or fatbins: cuModuleLoad and its variants return CUDA_ERROR_NO_BINARY_FOR_GPU, with a finding.
namespace convlab::simt::cuda {

struct CUmod_st;
using CUmodule = CUmod_st*;
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

/// What simt does not support at all is an error when it is compiled.
#define CONVLAB_SIMT_ABSENT(function) \
  template <class... Arguments>       \
  [[gnu::error("simt does not support " #function " of the driver API")]] CUresult function(Arguments...);

CONVLAB_SIMT_ABSENT(cuMemAddressReserve)
CONVLAB_SIMT_ABSENT(cuMemAddressFree)
CONVLAB_SIMT_ABSENT(cuMemCreate)
CONVLAB_SIMT_ABSENT(cuMemRelease)
CONVLAB_SIMT_ABSENT(cuMemMap)
CONVLAB_SIMT_ABSENT(cuMemUnmap)
CONVLAB_SIMT_ABSENT(cuMemSetAccess)
CONVLAB_SIMT_ABSENT(cuMemGetAllocationGranularity)
CONVLAB_SIMT_ABSENT(cuMemExportToShareableHandle)
CONVLAB_SIMT_ABSENT(cuMemImportFromShareableHandle)
CONVLAB_SIMT_ABSENT(cuArrayCreate)
CONVLAB_SIMT_ABSENT(cuArray3DCreate)
CONVLAB_SIMT_ABSENT(cuArrayDestroy)
CONVLAB_SIMT_ABSENT(cuTexObjectCreate)
CONVLAB_SIMT_ABSENT(cuTexObjectDestroy)
CONVLAB_SIMT_ABSENT(cuSurfObjectCreate)
CONVLAB_SIMT_ABSENT(cuSurfObjectDestroy)
CONVLAB_SIMT_ABSENT(cuMemcpy2D)
CONVLAB_SIMT_ABSENT(cuMemcpy3D)

#undef CONVLAB_SIMT_ABSENT

}  // namespace convlab::simt::cuda
