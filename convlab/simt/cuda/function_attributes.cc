// Returns and sets attributes of kernels.

#include "convlab/simt/cuda/function_attributes.h"

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/device_models.h"
#include "convlab/simt/cuda/kernel_symbols.h"
#include "convlab/simt/cuda/runtime.h"
#include "convlab/simt/kernel_call.h"

namespace convlab::simt::cuda {
namespace {

constexpr const char* kNotKernel = "the function is not a kernel";

}  // namespace

namespace runtime {

cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* kernel, const Where& where) noexcept {
  if (attributes == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (!is_kernel(kernel)) {
    return failed(cudaErrorInvalidDeviceFunction, "cudaFuncGetAttributes", where, kNotKernel);
  }
  const DeviceModel& model = played_device();
  *attributes = {};
  attributes->sharedSizeBytes = static_shared_of(kernel);
  attributes->maxThreadsPerBlock = static_cast<int>(kMaxBlockThreads);
  attributes->numRegs = kAssumedRegisters;
  attributes->ptxVersion = attributes->binaryVersion = 10 * model.major + model.minor;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_limit_of(kernel));
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return cudaSuccess;
}

cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value,
                                   const Where& where) noexcept {
  if (!is_kernel(kernel)) return failed(cudaErrorInvalidDeviceFunction, "cudaFuncSetAttribute", where, kNotKernel);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return raise_dynamic_limit(kernel, value, where);
}

cudaError_t function_name(const char** name, const void* kernel) noexcept {
  const simt::internal::Symbol* const symbol = symbol_of(kernel);
  if (name == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (symbol == nullptr) return set_last_error(cudaErrorInvalidDeviceFunction);
  *name = symbol->mangled.c_str();
  return cudaSuccess;
}

}  // namespace runtime
}  // namespace convlab::simt::cuda
