// Does what the calls of cuBLAS have in common.

#include "convlab/simt/cuda/cublas_call.h"

#include <utility>

#include "convlab/simt/cuda/copy_checks.h"
#include "convlab/simt/in_flight.h"

namespace convlab::simt::cuda::runtime {
namespace {

LibraryCall library_call(const BlasCall& call) {
  return {&blas_codes(), call.name, call.handle == nullptr ? nullptr : call.handle->stream, call.where};
}

constexpr std::string_view kPointerModeHelp =
    "pass a host pointer, or call cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) first";

bool is_on_device(const void* pointer) {
  const Side side = side_of(pointer, 1);
  return side == Side::device || side == Side::variable;
}

}  // namespace

const StatusCodes& blas_codes() {
  static const StatusCodes codes{
      .invalid = CUBLAS_STATUS_INVALID_VALUE,
      .unsupported = CUBLAS_STATUS_NOT_SUPPORTED,
      .failed = CUBLAS_STATUS_EXECUTION_FAILED,
      .name = [](int status) { return cublasGetStatusName(static_cast<cublasStatus_t>(status)); }};
  return codes;
}

std::complex<double> BlasFactor::read(const LibraryCall& call) const {
  if (device == nullptr) return value;
  call.reads(device, bytes_of(type), 1, name);
  call.needs_values(device, bytes_of(type), name);
  return element<std::complex<double>>(device, type, 0);
}

cublasStatus_t run_blas(const BlasCall& call, std::function<void(const LibraryCall&)> work) noexcept {
  if (call.handle == nullptr) return refuse_blas(call, CUBLAS_STATUS_NOT_INITIALIZED, "the handle is a null pointer");
  return static_cast<cublasStatus_t>(library_call(call).run(std::move(work)));
}

cublasStatus_t refuse_blas(const BlasCall& call, cublasStatus_t status, std::string why) noexcept {
  return static_cast<cublasStatus_t>(library_call(call).fail({status, std::move(why)}));
}

std::optional<BlasFactor> factor(const BlasCall& call, const void* pointer, cudaDataType type, const char* name) {
  const bool wants_device = call.handle->pointers == CUBLAS_POINTER_MODE_DEVICE;
  if (pointer == nullptr) {
    refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, std::string(name) + " is a null pointer");
    return std::nullopt;
  }
  if (wants_device) return BlasFactor{.device = pointer, .type = type, .name = name};
  if (is_on_device(pointer)) {
    library_call(call).on_wrong_side(name, kPointerModeHelp);
    return std::nullopt;
  }
  return BlasFactor{.value = element<std::complex<double>>(pointer, type, 0)};
}

void set_result(const LibraryCall& call, cublasPointerMode_t pointers, void* result, cudaDataType type,
                std::complex<double> value) {
  const std::vector<std::complex<double>> values{value};
  if (pointers == CUBLAS_POINTER_MODE_DEVICE) return store(call, DeviceVector{result, type, 1, 1, "result"}, values);
  if (is_on_device(result)) {
    throw call.on_wrong_side("the result", kPointerModeHelp);
  }
  set_element(result, type, 0, value);
  simt::internal::wait_for_stream(named(call.stream));
}

void set_result(const LibraryCall& call, cublasPointerMode_t pointers, int* result, int value) {
  set_result(call, pointers, static_cast<void*>(result), CUDA_R_32I, value);
}

}  // namespace convlab::simt::cuda::runtime
