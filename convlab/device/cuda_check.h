#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace convlab {

/// Throws Error(unavailable) with `what` and CUDA's message unless `status` is success. A call may report the error of
/// an earlier kernel, so `what` says where it was noticed.
void check_cuda(cudaError_t status, std::string_view what);

}  // namespace convlab
