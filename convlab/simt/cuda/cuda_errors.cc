// Names CUDA's errors and keeps the last one.

#include "convlab/simt/cuda/cuda_errors.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace convlab::simt::cuda {
namespace {

struct ErrorText {
  int number;
  const char *name, *text;
};

constexpr ErrorText kErrors[] = {
#define CONVLAB_SIMT_ERROR(name, number, text) {number, #name, text},
    CONVLAB_SIMT_CUDA_ERRORS(CONVLAB_SIMT_ERROR)
#undef CONVLAB_SIMT_ERROR
};

constexpr ErrorText kUnrecognized{0, "unrecognized error code", "unrecognized error code"};

const ErrorText& text_of(cudaError_t error) {
  const auto found = std::ranges::find(kErrors, static_cast<int>(error), &ErrorText::number);
  return found == std::end(kErrors) ? kUnrecognized : *found;
}

std::atomic<cudaError_t> last_error{cudaSuccess}, broken_by{cudaSuccess};

}  // namespace

const char* cudaGetErrorName(cudaError_t error) noexcept { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) noexcept { return text_of(error).text; }

cudaError_t cudaGetLastError() noexcept { return last_error.exchange(broken_by); }
cudaError_t cudaPeekAtLastError() noexcept { return last_error; }

cudaError_t runtime::set_last_error(cudaError_t error) noexcept {
  last_error = error;
  return error;
}

void runtime::break_device(cudaError_t error) noexcept { last_error = broken_by = error; }
void runtime::repair_device() noexcept { last_error = broken_by = cudaSuccess; }
cudaError_t runtime::device_error() noexcept { return broken_by; }

}  // namespace convlab::simt::cuda
