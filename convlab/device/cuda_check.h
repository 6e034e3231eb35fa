#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace convlab {

/// Error(unavailable) with `what` and CUDA's own words unless `status` is success. A later call may report an earlier
/// kernel's error, so `what` says where it was noticed.
void check_cuda(cudaError_t status, std::string_view what);

}  // namespace convlab
