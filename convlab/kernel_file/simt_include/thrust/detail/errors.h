#pragma once

#include <new>
#include <string>
#include <system_error>

#include "convlab/simt/cuda/cuda_on_host.h"

/// What algorithms and containers throw when CUDA fails.
namespace thrust {

using error_code = std::error_code;
using error_condition = std::error_condition;
using error_category = std::error_category;
namespace errc = std;

namespace detail {

class CudaCategory : public std::error_category {
 public:
  const char* name() const noexcept override { return "cuda"; }
  std::string message(int error) const override {
    const auto code = static_cast<cudaError_t>(error);
    return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
  }
};

}  // namespace detail

inline const std::error_category& cuda_category() {
  static const detail::CudaCategory category;
  return category;
}

class system_error : public std::system_error {
 public:
  using std::system_error::system_error;
};

namespace system {
using thrust::cuda_category;
using thrust::error_category;
using thrust::error_code;
using thrust::error_condition;
using thrust::system_error;
namespace detail {
/// Memory ran out.
class bad_alloc : public std::bad_alloc {
 public:
  explicit bad_alloc(const std::string& what) : what_("std::bad_alloc: " + what) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};
}  // namespace detail
}  // namespace system

namespace detail {

inline void throw_on_error(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw system_error(static_cast<int>(error), cuda_category(), what);
}

}  // namespace detail
}  // namespace thrust
