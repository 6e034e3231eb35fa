#pragma once

#include <cstddef>

#include "convlab/simt/cuda/driver_errors.h"
#include "convlab/simt/cuda/function_attributes.h"

/// Kernels of the driver API: cuLaunchKernel launches what cudaGetFuncBySymbol() returns.
namespace convlab::simt::cuda {

using CUfunction = cudaFunction_t;

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

/// The kernel needs the same dynamic memory for all block sizes, or what the function returns for a size.
using CUoccupancyB2DSize = size_t (*)(int threads);
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize bytes_of,
                                          size_t dynamic_bytes, int limit) noexcept;

/// Arguments in one buffer, with CU_LAUNCH_PARAM_BUFFER_POINTER, are not supported.
#define CU_LAUNCH_PARAM_END (reinterpret_cast<void*>(0))
#define CU_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(1))
#define CU_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(2))
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cudaStream_t stream,
                        void** arguments, void** extra, Where where = Where::current()) noexcept;

}  // namespace convlab::simt::cuda
