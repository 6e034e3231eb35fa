#pragma once

/// The errors of the CUDA runtime API.
namespace convlab::simt::cuda {

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorAssert = 710,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorUnknown = 999,
};
using cudaError = cudaError_t;

const char* cudaGetErrorString(cudaError_t error) noexcept;
const char* cudaGetErrorName(cudaError_t error) noexcept;
cudaError_t cudaGetLastError() noexcept;
cudaError_t cudaPeekAtLastError() noexcept;

namespace runtime {

/// Sets what cudaGetLastError() returns, and returns it.
cudaError_t set_last_error(cudaError_t error) noexcept;

/// From now on all calls that use the device return this error, and nothing is launched, as after a kernel that a GPU
/// has ended: until cudaDeviceReset().
void break_device(cudaError_t error) noexcept;
void repair_device() noexcept;

/// Returns the error that broke the device, or cudaSuccess.
cudaError_t device_error() noexcept;

}  // namespace runtime
}  // namespace convlab::simt::cuda
