#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "convlab/simt/product.h"

namespace convlab::judge {

/// cuBLAS on the current GPU, for submissions that may call it. One of a process; the first caller makes its handle.
/// Error(unavailable) where the library is not there, which comes with the CUDA toolkit.
class GpuProducts {
 public:
  static GpuProducts& get();

  /// Gives a product, its matrices in the GPU's memory, to a stream. A text says what cuBLAS refused; "": nothing.
  std::string multiply(const simt::Product& product, cudaStream_t stream) const;

 private:
  GpuProducts();

  void* library_;
  void* handle_ = nullptr;
};

}  // namespace convlab::judge
