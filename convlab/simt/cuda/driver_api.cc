// Implements devices, contexts, streams and events of the driver API by those of the runtime.

#include "convlab/simt/cuda/driver_api.h"

#include <cstring>
#include <new>
#include <vector>

#include "convlab/simt/cuda/device_calls.h"
#include "convlab/simt/cuda/device_properties.h"

namespace convlab::simt::cuda {

/// All contexts are the one device.
struct CUctx_st {
  unsigned flags = 0;
};

namespace {

CUctx_st primary_context;
thread_local std::vector<CUcontext> current_contexts;  // the last one is current

CUresult result_of(cudaError_t error) { return static_cast<CUresult>(error); }

/// Calls use(properties) for the device.
template <class Use>
CUresult with_properties(CUdevice device, const Use& use) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) use(properties);
  return result_of(error);
}

CUresult device_result(CUdevice device) { return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

}  // namespace

CUresult cuInit(unsigned flags) noexcept { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }
CUresult cuDriverGetVersion(int* version) noexcept { return result_of(cudaDriverGetVersion(version)); }

CUresult cuDeviceGet(CUdevice* device, int number) noexcept {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = number;
  return device_result(number);
}
CUresult cuDeviceGetCount(int* count) noexcept { return result_of(cudaGetDeviceCount(count)); }
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) noexcept {
  if (name == nullptr || bytes < 1) return CUDA_ERROR_INVALID_VALUE;
  return with_properties(device, [&](const cudaDeviceProp& properties) {
    std::strncpy(name, properties.name, static_cast<size_t>(bytes) - 1);
    name[bytes - 1] = '\0';
  });
}
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) noexcept {
  return with_properties(device, [&](const cudaDeviceProp& properties) { *uuid = properties.uuid; });
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) noexcept {
  return with_properties(device, [&](const cudaDeviceProp& properties) { *bytes = properties.totalGlobalMem; });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) noexcept {
  const bool is_of_virtual_memory = attribute >= CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED &&
                                    attribute <= CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED;
  const bool is_absent = is_of_virtual_memory || attribute == CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH;
  if (is_absent && value != nullptr) {
    *value = 0;
    return device_result(device);
  }
  return result_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) noexcept {
  return with_properties(device, [&](const cudaDeviceProp& properties) {
    *major = properties.major;
    *minor = properties.minor;
  });
}
CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) noexcept {
  return result_of(cudaDeviceGetPCIBusId(id, bytes, device));
}
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) noexcept {
  return result_of(cudaDeviceGetByPCIBusId(device, id));
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) noexcept {
  return result_of(cudaDeviceCanAccessPeer(can, device, peer));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) noexcept {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = &primary_context;
  return device_result(device);
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) noexcept { return device_result(device); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) noexcept {
  return device == 0 ? result_of(cudaDeviceReset()) : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) noexcept {
  primary_context.flags = flags;
  return device_result(device);
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) noexcept {
  *flags = primary_context.flags;
  *active = 1;
  return device_result(device);
}

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) noexcept {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  *context = new (std::nothrow) CUctx_st{flags};
  if (*context == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  current_contexts.push_back(*context);
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) noexcept {
  return cuCtxCreate(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) noexcept {
  if (context == nullptr || context == &primary_context) return CUDA_ERROR_INVALID_CONTEXT;
  std::erase(current_contexts, context);
  delete context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) noexcept {
  if (!current_contexts.empty()) current_contexts.pop_back();
  if (context != nullptr) current_contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) noexcept {
  *context = current_contexts.empty() ? nullptr : current_contexts.back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) noexcept {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  current_contexts.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) noexcept {
  if (current_contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = current_contexts.back();
  current_contexts.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) noexcept {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetFlags(unsigned* flags) noexcept {
  *flags = current_contexts.empty() ? primary_context.flags : current_contexts.back()->flags;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) noexcept {
  *version = 3020;  // since CUDA 3.2
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() noexcept { return result_of(cudaDeviceSynchronize()); }
CUresult cuCtxSetLimit(CUlimit limit, size_t value) noexcept {
  return result_of(cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
}
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) noexcept {
  return result_of(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) noexcept { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; }
CUresult cuCtxDisablePeerAccess(CUcontext) noexcept { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; }

CUresult cuStreamCreate(CUstream* stream, unsigned flags) noexcept {
  return result_of(cudaStreamCreateWithFlags(stream, flags));
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) noexcept {
  return result_of(cudaStreamCreateWithPriority(stream, flags, priority));
}
CUresult cuStreamDestroy(CUstream stream) noexcept { return result_of(cudaStreamDestroy(stream)); }
CUresult cuStreamSynchronize(CUstream stream) noexcept { return result_of(cudaStreamSynchronize(stream)); }
CUresult cuStreamQuery(CUstream stream) noexcept { return result_of(cudaStreamQuery(stream)); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) noexcept {
  return result_of(cudaStreamWaitEvent(stream, event, flags));
}
CUresult cuEventCreate(CUevent* event, unsigned flags) noexcept {
  return result_of(cudaEventCreateWithFlags(event, flags));
}
CUresult cuEventDestroy(CUevent event) noexcept { return result_of(cudaEventDestroy(event)); }
CUresult cuEventRecord(CUevent event, CUstream stream) noexcept { return result_of(cudaEventRecord(event, stream)); }
CUresult cuEventSynchronize(CUevent event) noexcept { return result_of(cudaEventSynchronize(event)); }
CUresult cuEventQuery(CUevent event) noexcept { return result_of(cudaEventQuery(event)); }
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) noexcept {
  return result_of(cudaEventElapsedTime(milliseconds, begin, end));
}

}  // namespace convlab::simt::cuda
