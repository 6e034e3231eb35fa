#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "convlab/simt/product.h"

namespace convlab::judge {

/// cuBLAS on the current GPU, for submissions that may call it. One instance per process; the first call of get()
/// creates the handle. Throws Error(unavailable) if the library, part of the CUDA toolkit, is missing.
class GpuProducts {
 public:
  static GpuProducts& get();

  /// Enqueues a product of matrices in GPU memory on a stream. Returns cuBLAS's error, or "" on success.
  std::string multiply(const simt::Product& product, cudaStream_t stream) const;

 private:
  GpuProducts();

  void* library_;
  void* handle_ = nullptr;
};

}  // namespace convlab::judge
