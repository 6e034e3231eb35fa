// Calls cuBLAS for replayed launch lists.

#include "convlab/judge/gpu_products.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <tuple>

#include "convlab/base/error.h"

namespace convlab::judge {
namespace {

template <class Function>
Function* find(void* library, const char* name) {
  void* function = dlsym(library, name);
  if (function == nullptr) throw unavailable("libcublas.so.{} has no function {}", CUBLAS_VER_MAJOR, name);
  return reinterpret_cast<Function*>(function);
}

void* open_library() {
  void* library = dlopen(fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw unavailable("{}; install cuBLAS for CUDA {}", dlerror(), CUBLAS_VER_MAJOR);
  return library;
}

/// cublasGemmStridedBatchedEx, which cuBLAS's header overloads.
using Compute = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                               const void*, cudaDataType, int, long long, const void*, cudaDataType, int, long long,
                               const void*, void*, cudaDataType, int, long long, int, cublasComputeType_t,
                               cublasGemmAlgo_t);

cudaDataType_t type_of(const simt::ProductMatrix& matrix) { return matrix.half ? CUDA_R_16F : CUDA_R_32F; }
cublasOperation_t operation_of(const simt::ProductMatrix& matrix) {
  return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

GpuProducts& GpuProducts::get() {
  static GpuProducts products;
  return products;
}

GpuProducts::GpuProducts() : library_(open_library()) {
  cublasHandle_t handle = nullptr;
  const cublasStatus_t status = find<decltype(cublasCreate_v2)>(library_, "cublasCreate_v2")(&handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    throw unavailable("cannot create a cuBLAS handle: status {}", static_cast<int>(status));
  handle_ = handle;
}

std::string GpuProducts::multiply(const simt::Product& product, cudaStream_t stream) const {
  static auto* const choose = find<decltype(cublasSetStream_v2)>(library_, "cublasSetStream_v2");
  static auto* const compute = find<Compute>(library_, "cublasGemmStridedBatchedEx");
  auto* const handle = static_cast<cublasHandle_t>(handle_);
  const auto& [a, b, c] = std::tie(product.a, product.b, product.c);
  cublasStatus_t status = choose(handle, stream);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = compute(handle, operation_of(a), operation_of(b), product.m, product.n, product.k, &product.alpha, a.data,
                     type_of(a), a.leading, a.stride, b.data, type_of(b), b.leading, b.stride, &product.beta,
                     const_cast<void*>(c.data), type_of(c), c.leading, c.stride, product.count, CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT);
  }
  return status == CUBLAS_STATUS_SUCCESS
             ? ""
             : fmt::format("cuBLAS matrix product failed: status {}", static_cast<int>(status));
}

}  // namespace convlab::judge
