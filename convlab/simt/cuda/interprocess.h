#pragma once

#include "convlab/simt/cuda/streams.h"

/// Sharing memory and events with other processes: simt's device belongs to one process, so these are compile errors.
namespace convlab::simt::cuda {

inline constexpr unsigned cudaIpcMemLazyEnablePeerAccess = 1;
struct cudaIpcMemHandle_t {
  char reserved[64];
};
struct cudaIpcEventHandle_t {
  char reserved[64];
};

#define CONVLAB_SIMT_REFUSED(why) __attribute__((error("simt does not support this: " why)))
#define CONVLAB_SIMT_IPC CONVLAB_SIMT_REFUSED("no other process can share its device's memory and events")

CONVLAB_SIMT_IPC cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) noexcept;
CONVLAB_SIMT_IPC cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags) noexcept;
CONVLAB_SIMT_IPC cudaError_t cudaIpcCloseMemHandle(void* memory) noexcept;
CONVLAB_SIMT_IPC cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) noexcept;
CONVLAB_SIMT_IPC cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) noexcept;

#undef CONVLAB_SIMT_IPC
#undef CONVLAB_SIMT_REFUSED

}  // namespace convlab::simt::cuda
