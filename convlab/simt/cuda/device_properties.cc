// Returns the properties of the simulated device.

#include "convlab/simt/cuda/device_properties.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "convlab/base/limits.h"
#include "convlab/simt/cuda/device_models.h"
#include "convlab/simt/kernel_call.h"

namespace convlab::simt::cuda {
namespace {

constexpr int kKib = 1024;

/// Limits of textures and surfaces: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". They
/// are the same from 7.0 to 9.0.
void set_texture_limits(cudaDeviceProp& p) {
  constexpr int k1D = 131072, kLinear = 1 << 28, kX = 131072, kY = 65536, kLayers = 2048, k3D = 16384, kCube = 32768;
  constexpr int kLayered = 32768, kCubeLayers = 2046, kLinearWidth = 131072, kLinearHeight = 65000, kGather = 32768;
  p.maxTexture1D = k1D;
  p.maxTexture1DMipmap = kLayered;
  p.maxTexture1DLinear = kLinear;
  const auto set = [](auto& limits, std::initializer_list<int> values) {
    std::ranges::copy(values, std::begin(limits));
  };
  set(p.maxTexture2D, {kX, kY});
  set(p.maxTexture2DMipmap, {kLayered, kLayered});
  set(p.maxTexture2DLinear, {kLinearWidth, kLinearHeight, 2097120});
  set(p.maxTexture2DGather, {kGather, kGather});
  set(p.maxTexture3D, {k3D, k3D, k3D});
  set(p.maxTexture3DAlt, {k3D / 2, k3D / 2, 2 * k3D});
  p.maxTextureCubemap = kCube;
  set(p.maxTexture1DLayered, {kLayered, kLayers});
  set(p.maxTexture2DLayered, {kLayered, kLayered, kLayers});
  set(p.maxTextureCubemapLayered, {kCube, kCubeLayers});
  p.maxSurface1D = kLayered;
  set(p.maxSurface2D, {kX, kY});
  set(p.maxSurface3D, {k3D, k3D, k3D});
  set(p.maxSurface1DLayered, {kLayered, kLayers});
  set(p.maxSurface2DLayered, {kLayered, kLayered, kLayers});
  p.maxSurfaceCubemap = kCube;
  set(p.maxSurfaceCubemapLayered, {kCube, kCubeLayers});
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
}

/// What simt itself can do, whichever device it plays.
void set_features(cudaDeviceProp& p) {
  p.concurrentKernels = p.unifiedAddressing = p.canMapHostMemory = p.managedMemory = p.deviceOverlap = 1;
  p.asyncEngineCount = p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.concurrentManagedAccess = p.computePreemptionSupported = p.cooperativeLaunch = p.hostRegisterSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.memoryPoolsSupported = 1;
}

void set_launch_limits(cudaDeviceProp& p, const DeviceModel& model) {
  p.warpSize = kWarpSize;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.maxThreadsPerBlock = static_cast<int>(kMaxBlockThreads);
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = static_cast<int>(kMaxBlockXY);
  p.maxThreadsDim[2] = static_cast<int>(kMaxBlockZ);
  p.maxGridSize[0] = static_cast<int>(kMaxGridX);
  p.maxGridSize[1] = p.maxGridSize[2] = static_cast<int>(kMaxGridYZ);
  p.maxThreadsPerMultiProcessor = model.threads;
  p.maxBlocksPerMultiProcessor = model.blocks;
  p.sharedMemPerBlock = kUsualSharedBytes;
  p.sharedMemPerBlockOptin = static_cast<size_t>(model.block_shared_kib) * kKib;
  p.sharedMemPerMultiprocessor = static_cast<size_t>(model.shared_kib) * kKib;
  p.reservedSharedMemPerBlock = model.shared_kib > model.block_shared_kib ? kKib : 0;
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) noexcept {
  if (properties == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  if (device != 0) return runtime::set_last_error(cudaErrorInvalidDevice);
  const DeviceModel& model = played_device();
  cudaDeviceProp& p = *properties;
  p = {};
  std::string_view(model.name).copy(p.name, sizeof(p.name) - 1);  // the rest is zero
  std::memcpy(p.uuid.bytes, "convlab's simt 0", sizeof(p.uuid.bytes));
  p.totalGlobalMem = device_memory_bytes();
  p.totalConstMem = 65536;
  p.memPitch = 2147483647;
  p.major = model.major;
  p.minor = model.minor;
  p.multiProcessorCount = model.multiprocessors;
  p.clockRate = model.clock_mhz * 1000;
  p.memoryClockRate = model.memory_clock_mhz * 1000;
  p.memoryBusWidth = model.memory_bits;
  p.l2CacheSize = model.l2_kib * kKib;
  if (model.major >= 8) {
    p.persistingL2CacheMaxSize = p.l2CacheSize / 8 * 5;
    p.accessPolicyMaxWindowSize = 134217728;
  }
  p.singleToDoublePrecisionPerfRatio = model.single_to_double;
  p.gpuPciDeviceID = static_cast<unsigned>(model.pci_device);
  p.pciBusID = 1;
  p.deviceNumaId = p.hostNumaId = -1;
  set_launch_limits(p, model);
  set_texture_limits(p);
  set_features(p);
  return cudaSuccess;
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) noexcept {
  if (device == nullptr || properties == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
