// Returns the properties of the simulated device.

#include "convlab/simt/cuda/device_properties.h"

#include <cstring>

#include "convlab/base/limits.h"
#include "convlab/simt/kernel_call.h"

namespace convlab::simt::cuda {

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) noexcept {
  if (device != 0) return cudaErrorInvalidDevice;
  constexpr int kRegisters = 65536, kBlocks = 32, kThreads = 2048;
  *properties = {};
  std::strcpy(properties->name, "convlab's simt");
  properties->totalGlobalMem = static_cast<size_t>(usable_memory_bytes());
  properties->sharedMemPerBlock = kUsualSharedBytes;
  properties->sharedMemPerBlockOptin = properties->sharedMemPerMultiprocessor = kMaxSharedBytes;
  properties->regsPerBlock = properties->regsPerMultiprocessor = kRegisters;
  properties->warpSize = kWarpSize;
  properties->maxThreadsPerBlock = static_cast<int>(kMaxBlockThreads);
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = static_cast<int>(kMaxBlockXY);
  properties->maxThreadsDim[2] = static_cast<int>(kMaxBlockZ);
  properties->maxGridSize[0] = static_cast<int>(kMaxGridX);
  properties->maxGridSize[1] = properties->maxGridSize[2] = static_cast<int>(kMaxGridYZ);
  properties->totalConstMem = 65536;
  properties->major = 8;
  properties->multiProcessorCount = 2;
  properties->concurrentKernels = properties->unifiedAddressing = properties->canMapHostMemory = 1;
  properties->cooperativeLaunch = properties->managedMemory = properties->deviceOverlap = properties->asyncEngineCount =
      1;
  properties->maxThreadsPerMultiProcessor = kThreads;
  properties->maxBlocksPerMultiProcessor = kBlocks;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) noexcept {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) return error;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      break;
    case cudaDevAttrWarpSize:
      *value = properties.warpSize;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      break;
  }
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* bytes) noexcept {
  *free_bytes = *bytes = static_cast<size_t>(usable_memory_bytes());
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
