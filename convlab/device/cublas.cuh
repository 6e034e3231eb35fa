#pragma once

#include <string>

#include "convlab/device/cuda_compat.h"
#ifdef __CUDACC__
#include <cublas_v2.h>
#include <dlfcn.h>
#else
#include "convlab/simt/cuda/cublas.h"
#endif

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// A cuBLAS handle. The library comes with the CUDA toolkit and not with the driver, and the program must run without
/// it, so it is loaded when the first handle is created, and stays loaded. In simt, the host's matrix products replace
/// it.
class Cublas {
 public:
  Cublas() { check(create_(&handle_), "creating a handle"); }
  ~Cublas() { destroy_(handle_); }
  Cublas(const Cublas&) = delete;

  /// Calls cublasSgemmStridedBatched on a stream, with all of its arguments after the handle.
  template <class... Arguments>
  void sgemm_strided_batched(void* stream, Arguments... arguments) {
    check(set_stream_(handle_, static_cast<cudaStream_t>(stream)), "setting the stream");
    check(multiply_(handle_, arguments...), "multiplying matrices");
  }

#ifdef __CUDACC__
  /// Returns the dynamic loader's reason why the library is not available; "" if it is.
  static std::string why_absent() {
    return library() == nullptr ? fmt::format("{}; install cuBLAS of CUDA {}", dlerror(), CUBLAS_VER_MAJOR) : "";
  }

 private:
  static void* library() {
    return dlopen(fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR).c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  template <class Function>
  static Function* find(const char* name) {
    if (const std::string why = why_absent(); !why.empty()) throw unavailable("{}", why);
    void* function = dlsym(library(), name);
    if (function == nullptr) throw unavailable("libcublas.so.{}: symbol {} not found", CUBLAS_VER_MAJOR, name);
    return reinterpret_cast<Function*>(function);
  }

  decltype(cublasCreate_v2)* create_ = find<decltype(cublasCreate_v2)>("cublasCreate_v2");
  decltype(cublasDestroy_v2)* destroy_ = find<decltype(cublasDestroy_v2)>("cublasDestroy_v2");
  decltype(cublasSetStream_v2)* set_stream_ = find<decltype(cublasSetStream_v2)>("cublasSetStream_v2");
  decltype(cublasSgemmStridedBatched)* multiply_ =
      find<decltype(cublasSgemmStridedBatched)>("cublasSgemmStridedBatched");
#else
  static std::string why_absent() { return ""; }

 private:
  static constexpr auto create_ = cublasCreate;
  static constexpr auto destroy_ = cublasDestroy;
  static constexpr auto set_stream_ = cublasSetStream;
  static constexpr auto multiply_ = [](auto... arguments) { return cublasSgemmStridedBatched(arguments...); };
#endif

  static void check(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) {
      throw unavailable("cuBLAS error while {}: status {}", what, static_cast<int>(status));
    }
  }

  cublasHandle_t handle_ = nullptr;
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
