#pragma once

#include <cstddef>

#include "convlab/simt/cuda/cuda_errors.h"
#include "convlab/simt/cuda/device_calls.h"
#include "convlab/simt/where.h"

/// Attributes of kernels.
namespace convlab::simt::cuda {

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};

/// simt makes no code for GPUs: numRegs is kAssumedRegisters, localSizeBytes and constSizeBytes are 0, and ptxVersion
/// and binaryVersion are the device's compute capability.
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
  int preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
};

namespace runtime {

/// With 32 registers per thread, registers do not limit how many blocks are resident.
inline constexpr int kAssumedRegisters = 32;

cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* kernel, const Where& where) noexcept;
cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value,
                                   const Where& where) noexcept;
cudaError_t function_name(const char** name, const void* kernel) noexcept;

}  // namespace runtime

template <class Function>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function* kernel, Where where = Where::current()) {
  return runtime::function_attributes(attributes, reinterpret_cast<const void*>(kernel), where);
}
template <class Function>
cudaError_t cudaFuncSetAttribute(Function* kernel, cudaFuncAttribute attribute, int value,
                                 Where where = Where::current()) {
  return runtime::set_function_attribute(reinterpret_cast<const void*>(kernel), attribute, value, where);
}
template <class Function>
cudaError_t cudaFuncGetName(const char** name, Function* kernel) {
  return runtime::function_name(name, reinterpret_cast<const void*>(kernel));
}
/// A handle of a kernel, which cuLaunchKernel() of the driver API launches.
struct CUfunc_st;
using cudaFunction_t = CUfunc_st*;
template <class Function>
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, Function* kernel) {
  *handle = reinterpret_cast<cudaFunction_t>(const_cast<void*>(reinterpret_cast<const void*>(kernel)));
  return cudaSuccess;
}

template <class Function>
cudaError_t cudaFuncSetCacheConfig(Function*, cudaFuncCache) {
  return cudaSuccess;
}
template <class Function>
cudaError_t cudaFuncSetSharedMemConfig(Function*, cudaSharedMemConfig) {
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
