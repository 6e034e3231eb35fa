#pragma once

/// The errors of the driver API. Most numbers are those of the runtime's errors.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_DRIVER_ERRORS(X)                                                                              \
  X(CUDA_SUCCESS, 0, "no error")                                                                                   \
  X(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                                                               \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                                  \
  X(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error")                                                         \
  X(CUDA_ERROR_DEINITIALIZED, 4, "driver shutting down")                                                           \
  X(CUDA_ERROR_PROFILER_DISABLED, 5, "profiler disabled while using external profiling tool")                      \
  X(CUDA_ERROR_STUB_LIBRARY, 34, "CUDA driver is a stub library")                                                  \
  X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46, "CUDA-capable device(s) is/are busy or unavailable")                        \
  X(CUDA_ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                                               \
  X(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                                      \
  X(CUDA_ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                                               \
  X(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid device context")                                                     \
  X(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, 202, "context already current")                                            \
  X(CUDA_ERROR_MAP_FAILED, 205, "mapping of buffer object failed")                                                 \
  X(CUDA_ERROR_UNMAP_FAILED, 206, "unmapping of buffer object failed")                                             \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")                 \
  X(CUDA_ERROR_ALREADY_ACQUIRED, 210, "resource already acquired")                                                 \
  X(CUDA_ERROR_NOT_MAPPED, 211, "resource not mapped")                                                             \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered")                                      \
  X(CUDA_ERROR_UNSUPPORTED_LIMIT, 215, "limit is not supported on this architecture")                              \
  X(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, 216, "exclusive-thread device already in use by a different thread")        \
  X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217, "peer access is not supported between these two devices")             \
  X(CUDA_ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed")                                                   \
  X(CUDA_ERROR_INVALID_SOURCE, 300, "device kernel image is invalid")                                              \
  X(CUDA_ERROR_FILE_NOT_FOUND, 301, "file not found")                                                              \
  X(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, "shared object symbol not found")                              \
  X(CUDA_ERROR_OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS")                      \
  X(CUDA_ERROR_INVALID_HANDLE, 400, "invalid resource handle")                                                     \
  X(CUDA_ERROR_ILLEGAL_STATE, 401, "the operation cannot be performed in the present state")                       \
  X(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found")                                                           \
  X(CUDA_ERROR_NOT_READY, 600, "device not ready")                                                                 \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                                   \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                            \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                                     \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled")                                 \
  X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled")                                   \
  X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708, "cannot set while device is active in this process")                   \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed")                                                  \
  X(CUDA_ERROR_ASSERT, 710, "device-side assert triggered")                                                        \
  X(CUDA_ERROR_TOO_MANY_PEERS, 711, "peer mapping resources exhausted")                                            \
  X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped") \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region")       \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")                                 \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                                      \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, "operation not supported on global/shared address space")               \
  X(CUDA_ERROR_INVALID_PC, 718, "invalid program counter")                                                         \
  X(CUDA_ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                                                   \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch")                         \
  X(CUDA_ERROR_NOT_PERMITTED, 800, "operation not permitted")                                                      \
  X(CUDA_ERROR_NOT_SUPPORTED, 801, "operation not supported")                                                      \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")                \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "operation failed due to a previous error during capture")         \
  X(CUDA_ERROR_UNKNOWN, 999, "unknown error")

enum CUresult {
#define CONVLAB_SIMT_DRIVER_ERROR(name, number, text) name = number,
  CONVLAB_SIMT_DRIVER_ERRORS(CONVLAB_SIMT_DRIVER_ERROR)
#undef CONVLAB_SIMT_DRIVER_ERROR
};
using cudaError_enum = CUresult;

/// An unknown error has no name: returns CUDA_ERROR_INVALID_VALUE, and the text is null.
CUresult cuGetErrorName(CUresult error, const char** name) noexcept;
CUresult cuGetErrorString(CUresult error, const char** text) noexcept;

}  // namespace convlab::simt::cuda
