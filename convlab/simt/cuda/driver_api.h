#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/simt/cuda/driver_attributes.h"
#include "convlab/simt/cuda/driver_errors.h"
#include "convlab/simt/cuda/driver_kernels.h"
#include "convlab/simt/cuda/driver_memory.h"
#include "convlab/simt/cuda/driver_modules_absent.h"
#include "convlab/simt/cuda/function_attributes.h"
#include "convlab/simt/cuda/runtime.h"

/// The driver API: devices, contexts, streams and events. It uses the runtime's memory, streams and errors, so programs
/// may mix both. There is one device; all contexts are it, so nothing belongs to one of them, and calls do not check
/// that there is a current context or that cuInit() was called.
///
/// Not supported: virtual memory management, arrays, texture and surface objects, graphs, graphics, linking.
namespace convlab::simt::cuda {

/// The include guard of cuda.h: helper_cuda_drvapi.h of NVIDIA's samples asks for it.
#define __cuda_cuda_h__

#define CUDAAPI
#define CUDA_CB

using CUdevice = int;
using CUdevice_v1 = int;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
struct CUctx_st;
using CUcontext = CUctx_st*;

inline constexpr unsigned CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1;
inline constexpr unsigned CU_EVENT_DEFAULT = 0, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2,
                          CU_EVENT_INTERPROCESS = 4;
inline constexpr unsigned CU_CTX_SCHED_AUTO = 0, CU_CTX_SCHED_SPIN = 1, CU_CTX_SCHED_YIELD = 2,
                          CU_CTX_SCHED_BLOCKING_SYNC = 4, CU_CTX_BLOCKING_SYNC = 4, CU_CTX_SCHED_MASK = 7,
                          CU_CTX_MAP_HOST = 8, CU_CTX_LMEM_RESIZE_TO_MAX = 16;
enum CUcomputemode {
  CU_COMPUTEMODE_DEFAULT = 0,
  CU_COMPUTEMODE_PROHIBITED = 2,
  CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};
enum CUlimit {
  CU_LIMIT_STACK_SIZE = 0,
  CU_LIMIT_PRINTF_FIFO_SIZE = 1,
  CU_LIMIT_MALLOC_HEAP_SIZE = 2,
};
struct CUexecAffinityParam;
struct CUctxCigParam;
struct CUctxCreateParams {
  CUexecAffinityParam* execAffinityParams;
  int numExecAffinityParams;
  CUctxCigParam* cigParams;
};

CUresult cuInit(unsigned flags) noexcept;
CUresult cuDriverGetVersion(int* version) noexcept;

CUresult cuDeviceGet(CUdevice* device, int number) noexcept;
CUresult cuDeviceGetCount(int* count) noexcept;
CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) noexcept;
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) noexcept;
#define cuDeviceGetUuid_v2 cuDeviceGetUuid
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) noexcept;
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) noexcept;
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) noexcept;
CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) noexcept;
CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) noexcept;
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) noexcept;

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) noexcept;
CUresult cuDevicePrimaryCtxRelease(CUdevice device) noexcept;
CUresult cuDevicePrimaryCtxReset(CUdevice device) noexcept;
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) noexcept;
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) noexcept;

/// As before CUDA 13, and as since: parameters have no effect.
CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) noexcept;
CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned flags, CUdevice device) noexcept;
#define cuCtxCreate_v4 cuCtxCreate
CUresult cuCtxDestroy(CUcontext context) noexcept;
CUresult cuCtxSetCurrent(CUcontext context) noexcept;
CUresult cuCtxGetCurrent(CUcontext* context) noexcept;
CUresult cuCtxPushCurrent(CUcontext context) noexcept;
CUresult cuCtxPopCurrent(CUcontext* context) noexcept;
CUresult cuCtxGetDevice(CUdevice* device) noexcept;
CUresult cuCtxGetFlags(unsigned* flags) noexcept;
CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) noexcept;
CUresult cuCtxSynchronize() noexcept;
CUresult cuCtxSetLimit(CUlimit limit, size_t value) noexcept;
CUresult cuCtxGetLimit(size_t* value, CUlimit limit) noexcept;
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) noexcept;
CUresult cuCtxDisablePeerAccess(CUcontext peer) noexcept;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) noexcept;
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) noexcept;
CUresult cuStreamDestroy(CUstream stream) noexcept;
CUresult cuStreamSynchronize(CUstream stream) noexcept;
CUresult cuStreamQuery(CUstream stream) noexcept;
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) noexcept;
CUresult cuEventCreate(CUevent* event, unsigned flags) noexcept;
CUresult cuEventDestroy(CUevent event) noexcept;
CUresult cuEventRecord(CUevent event, CUstream stream) noexcept;
CUresult cuEventSynchronize(CUevent event) noexcept;
CUresult cuEventQuery(CUevent event) noexcept;
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) noexcept;

inline CUresult cuProfilerStart() { return CUDA_SUCCESS; }
inline CUresult cuProfilerStop() { return CUDA_SUCCESS; }

}  // namespace convlab::simt::cuda
