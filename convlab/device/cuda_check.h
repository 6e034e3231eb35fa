#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace convlab {

/// Error(unavailable) that names `what` and CUDA's own words unless `status` is success. An error of an earlier kernel
/// may surface at a later call, so `what` says where it was noticed.
void check_cuda(cudaError_t status, std::string_view what);

}  // namespace convlab
