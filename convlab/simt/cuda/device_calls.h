#pragma once

#include <cstddef>

#include "convlab/simt/cuda/device_attributes.h"
#include "convlab/simt/cuda/device_properties.h"
#include "convlab/simt/cuda/streams.h"
#include "convlab/simt/where.h"

/// CUDA_VERSION and CUDART_VERSION are those of CUDA 13.0. Functions whose parameters changed with CUDA 12 or 13 have
/// both forms.
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

/// Choosing and asking devices. There is one, number 0.
namespace convlab::simt::cuda {

inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                          cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceScheduleMask = 7,
                          cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16, cudaDeviceSyncMemops = 0x80,
                          cudaDeviceMask = 0xff, cudaInitDeviceFlagsAreValid = 1, cudaPeerAccessDefault = 0;
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

cudaError_t cudaDeviceReset() noexcept;
cudaError_t cudaSetDevice(int device, Where where = Where::current()) noexcept;
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) noexcept;
cudaError_t cudaSetValidDevices(int* devices, int count) noexcept;
cudaError_t cudaGetDevice(int* device) noexcept;
cudaError_t cudaGetDeviceCount(int* count) noexcept;

/// The flags say how a host thread waits. They have no effect here, and cudaGetDeviceFlags() returns them.
cudaError_t cudaSetDeviceFlags(unsigned flags) noexcept;
cudaError_t cudaGetDeviceFlags(unsigned* flags) noexcept;

/// Both versions are CUDART_VERSION.
cudaError_t cudaDriverGetVersion(int* version) noexcept;
cudaError_t cudaRuntimeGetVersion(int* version) noexcept;

/// The device is at 0000:01:00.0.
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) noexcept;
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) noexcept;

/// There is no second device: no device can access a peer.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) noexcept;
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags, Where where = Where::current()) noexcept;
cudaError_t cudaDeviceDisablePeerAccess(int peer, Where where = Where::current()) noexcept;

/// Only cudaLimitMallocHeapSize has an effect, see device_heap.h. Stacks of threads grow as needed.
enum cudaLimit {
  cudaLimitStackSize = 0,
  cudaLimitPrintfFifoSize = 1,
  cudaLimitMallocHeapSize = 2,
  cudaLimitDevRuntimeSyncDepth = 3,
  cudaLimitDevRuntimePendingLaunchCount = 4,
  cudaLimitMaxL2FetchGranularity = 5,
  cudaLimitPersistingL2CacheSize = 6,
};
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) noexcept;
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) noexcept;
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

/// Preferences for the division of L1 and shared memory. They have no effect, and the last one set is returned.
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference) noexcept;
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) noexcept;
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
/// Banks have 4 bytes on all devices since compute capability 5.0.
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* banks) {
  *banks = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // namespace convlab::simt::cuda
