#pragma once

#include "convlab/simt/cuda/error_table.h"

/// The errors of the CUDA runtime API.
namespace convlab::simt::cuda {

enum cudaError {
#define CONVLAB_SIMT_ERROR(name, number, text) name = number,
  CONVLAB_SIMT_CUDA_ERRORS(CONVLAB_SIMT_ERROR)
#undef CONVLAB_SIMT_ERROR
};
using cudaError_t = cudaError;

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
