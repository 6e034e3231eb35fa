// Keeps the choice, flags and limits of the simulated device.

#include "convlab/simt/cuda/device_calls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/device_heap.h"

namespace convlab::simt::cuda {
namespace {

constexpr std::string_view kBusId = "0000:01:00.0";
constexpr const char* kOneDevice = "simt has one device, number 0";

/// In the order of cudaLimit: CUDA's defaults.
constexpr std::array<size_t, 7> kUsualLimits{1024, 1 << 20, 8 << 20, 0, 2048, 64, 0};

/// cudaLimitDevRuntimeSyncDepth is gone since CUDA 12.
bool is_supported(cudaLimit limit) {
  return static_cast<size_t>(limit) < kUsualLimits.size() && limit != cudaLimitDevRuntimeSyncDepth;
}

struct State {
  std::array<std::atomic<size_t>, kUsualLimits.size()> limits{};  // 0: the usual one
  std::atomic<unsigned> flags = cudaDeviceScheduleAuto;
  std::atomic<cudaFuncCache> cache = cudaFuncCachePreferNone;
};
State& state() {
  static State& one = *new State;  // never destroyed: static objects may still ask at exit
  return one;
}

cudaError_t answer(int* to, int value) {
  if (to == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  *to = value;
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaDeviceReset() noexcept {
  runtime::repair_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device, Where where) noexcept {
  return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice, "cudaSetDevice", where, kOneDevice);
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) noexcept {
  return device == 0 ? cudaSuccess : runtime::set_last_error(cudaErrorInvalidDevice);
}
cudaError_t cudaSetValidDevices(int* devices, int count) noexcept {
  const bool valid = count == 0 || (count == 1 && devices != nullptr && devices[0] == 0);
  return valid ? cudaSuccess : runtime::set_last_error(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int* device) noexcept { return answer(device, 0); }
cudaError_t cudaGetDeviceCount(int* count) noexcept { return answer(count, 1); }

cudaError_t cudaSetDeviceFlags(unsigned flags) noexcept {
  if ((flags & ~cudaDeviceMask) != 0) return runtime::set_last_error(cudaErrorInvalidValue);
  state().flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) noexcept {
  if (flags == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  *flags = state().flags | cudaDeviceMapHost;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) noexcept { return answer(version, CUDA_VERSION); }
cudaError_t cudaRuntimeGetVersion(int* version) noexcept { return answer(version, CUDART_VERSION); }

cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) noexcept {
  if (device != 0) return runtime::set_last_error(cudaErrorInvalidDevice);
  if (id == nullptr || bytes <= 0) return runtime::set_last_error(cudaErrorInvalidValue);
  const size_t copied = std::min(kBusId.size(), static_cast<size_t>(bytes) - 1);
  std::memcpy(id, kBusId.data(), copied);
  id[copied] = '\0';
  return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) noexcept {
  if (id == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  const std::string_view text = id;
  const bool known = text == kBusId || text == kBusId.substr(0, 10) || text == kBusId.substr(5);
  return known ? answer(device, 0) : runtime::set_last_error(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) noexcept {
  if (device != 0 || peer != 0) return runtime::set_last_error(cudaErrorInvalidDevice);
  return answer(can, 0);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned, Where where) noexcept {
  return failed(cudaErrorInvalidDevice, "cudaDeviceEnablePeerAccess", where, kOneDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int, Where where) noexcept {
  return failed(cudaErrorPeerAccessNotEnabled, "cudaDeviceDisablePeerAccess", where, kOneDevice);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) noexcept {
  const auto index = static_cast<size_t>(limit);
  if (!is_supported(limit)) return runtime::set_last_error(cudaErrorUnsupportedLimit);
  if (limit == cudaLimitMallocHeapSize) set_device_heap_bytes(value);
  state().limits[index] = value;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) noexcept {
  const auto index = static_cast<size_t>(limit);
  if (value == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  if (!is_supported(limit)) return runtime::set_last_error(cudaErrorUnsupportedLimit);
  const size_t set = state().limits[index];
  *value = set != 0 ? set : kUsualLimits[index];
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference) noexcept {
  state().cache = preference;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) noexcept {
  if (preference == nullptr) return runtime::set_last_error(cudaErrorInvalidValue);
  *preference = state().cache;
  return cudaSuccess;
}

}  // namespace convlab::simt::cuda
