// Returns attributes of the simulated device from its properties.

#include "convlab/simt/cuda/device_attributes.h"

#include <algorithm>
#include <iterator>

#include "convlab/simt/cuda/device_properties.h"

namespace convlab::simt::cuda {
namespace {

struct Attribute {
  cudaDeviceAttr name;
  int (*value)(const cudaDeviceProp&);
};

constexpr Attribute kAttributes[] = {
#define CONVLAB_SIMT_ATTRIBUTE(name, member)                                                   \
  {                                                                                            \
    name, [](const cudaDeviceProp& properties) { return static_cast<int>(properties.member); } \
  }
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxBlockDimX, maxThreadsDim[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxBlockDimY, maxThreadsDim[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxBlockDimZ, maxThreadsDim[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxGridDimX, maxGridSize[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxGridDimY, maxGridSize[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxGridDimZ, maxGridSize[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrTotalConstantMemory, totalConstMem),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrWarpSize, warpSize),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxPitch, memPitch),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxRegistersPerBlock, regsPerBlock),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrClockRate, clockRate),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrTextureAlignment, textureAlignment),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGpuOverlap, deviceOverlap),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMultiProcessorCount, multiProcessorCount),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrKernelExecTimeout, kernelExecTimeoutEnabled),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrIntegrated, integrated),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrCanMapHostMemory, canMapHostMemory),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrComputeMode, computeMode),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture1DWidth, maxTexture1D),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DWidth, maxTexture2D[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DHeight, maxTexture2D[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture3DWidth, maxTexture3D[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture3DHeight, maxTexture3D[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture3DDepth, maxTexture3D[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DLayeredWidth, maxTexture2DLayered[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DLayeredHeight, maxTexture2DLayered[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DLayeredLayers, maxTexture2DLayered[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrSurfaceAlignment, surfaceAlignment),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrConcurrentKernels, concurrentKernels),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrEccEnabled, ECCEnabled),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrPciBusId, pciBusID),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrPciDeviceId, pciDeviceID),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrTccDriver, tccDriver),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMemoryClockRate, memoryClockRate),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGlobalMemoryBusWidth, memoryBusWidth),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrL2CacheSize, l2CacheSize),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrAsyncEngineCount, asyncEngineCount),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrUnifiedAddressing, unifiedAddressing),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture1DLayeredWidth, maxTexture1DLayered[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture1DLayeredLayers, maxTexture1DLayered[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DGatherWidth, maxTexture2DGather[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DGatherHeight, maxTexture2DGather[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture3DWidthAlt, maxTexture3DAlt[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture3DHeightAlt, maxTexture3DAlt[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture3DDepthAlt, maxTexture3DAlt[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrPciDomainId, pciDomainID),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrTexturePitchAlignment, texturePitchAlignment),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTextureCubemapWidth, maxTextureCubemap),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface1DWidth, maxSurface1D),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface2DWidth, maxSurface2D[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface2DHeight, maxSurface2D[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface3DWidth, maxSurface3D[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface3DHeight, maxSurface3D[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface3DDepth, maxSurface3D[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface1DLayeredWidth, maxSurface1DLayered[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface1DLayeredLayers, maxSurface1DLayered[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface2DLayeredWidth, maxSurface2DLayered[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface2DLayeredHeight, maxSurface2DLayered[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurface2DLayeredLayers, maxSurface2DLayered[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurfaceCubemapWidth, maxSurfaceCubemap),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture1DLinearWidth, maxTexture1DLinear),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DLinearWidth, maxTexture2DLinear[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DLinearHeight, maxTexture2DLinear[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DLinearPitch, maxTexture2DLinear[2]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DMipmappedWidth, maxTexture2DMipmap[0]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture2DMipmappedHeight, maxTexture2DMipmap[1]),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrComputeCapabilityMajor, major),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrComputeCapabilityMinor, minor),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxTexture1DMipmappedWidth, maxTexture1DMipmap),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrStreamPrioritiesSupported, streamPrioritiesSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGlobalL1CacheSupported, globalL1CacheSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrLocalL1CacheSupported, localL1CacheSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrManagedMemory, managedMemory),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrIsMultiGpuBoard, isMultiGpuBoard),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMultiGpuBoardGroupID, multiGpuBoardGroupID),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrHostNativeAtomicSupported, hostNativeAtomicSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrSingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrPageableMemoryAccess, pageableMemoryAccess),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrConcurrentManagedAccess, concurrentManagedAccess),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrComputePreemptionSupported, computePreemptionSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrCanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrCooperativeLaunch, cooperativeLaunch),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrHostRegisterSupported, hostRegisterSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrPageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrDirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxPersistingL2CacheSize, persistingL2CacheMaxSize),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMaxAccessPolicyWindowSize, accessPolicyMaxWindowSize),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrReservedSharedMemoryPerBlock, reservedSharedMemPerBlock),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrSparseCudaArraySupported, sparseCudaArraySupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrHostRegisterReadOnlySupported, hostRegisterReadOnlySupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrTimelineSemaphoreInteropSupported, timelineSemaphoreInteropSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMemoryPoolsSupported, memoryPoolsSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGPUDirectRDMASupported, gpuDirectRDMASupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGPUDirectRDMAFlushWritesOptions, gpuDirectRDMAFlushWritesOptions),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGPUDirectRDMAWritesOrdering, gpuDirectRDMAWritesOrdering),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrClusterLaunch, clusterLaunch),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrDeferredMappingCudaArraySupported, deferredMappingCudaArraySupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrIpcEventSupport, ipcEventSupported),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrNumaConfig, deviceNumaConfig),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrNumaId, deviceNumaId),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrMpsEnabled, mpsEnabled),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrHostNumaId, hostNumaId),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGpuPciDeviceId, gpuPciDeviceID),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrGpuPciSubsystemId, gpuPciSubsystemID),
    CONVLAB_SIMT_ATTRIBUTE(cudaDevAttrHostNumaMultinodeIpcSupported, hostNumaMultinodeIpcSupported),
#undef CONVLAB_SIMT_ATTRIBUTE
};

/// Features of GPUs and drivers without a member of cudaDeviceProp. simt has none of them.
constexpr cudaDeviceAttr kAbsent[] = {
    cudaDevAttrCanFlushRemoteWrites,     cudaDevAttrD3D12CigSupported,
    cudaDevAttrVulkanCigSupported,       cudaDevAttrHostNumaMemoryPoolsSupported,
    cudaDevAttrHostMemoryPoolsSupported, cudaDevAttrOnlyPartialHostNativeAtomicSupported,
};

}  // namespace

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) noexcept {
  if (value == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  if (attribute == cudaDevAttrMemSyncDomainCount) {
    *value = 1;
    return cudaSuccess;
  }
  if (std::ranges::find(kAbsent, attribute) != std::end(kAbsent)) {
    *value = 0;
    return cudaSuccess;
  }
  const auto found = std::ranges::find(kAttributes, attribute, &Attribute::name);
  if (found == std::end(kAttributes)) return runtime::set_last_error(cudaErrorInvalidValue);
  *value = found->value(properties);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int, int) noexcept {
  if (value == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  return runtime::set_last_error(cudaErrorInvalidDevice);
}

}  // namespace convlab::simt::cuda
