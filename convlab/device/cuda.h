#pragma once

#include <memory>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Opens GPU `index`. Touches nothing of CUDA before. Error(unavailable) with the reason: a build without CUDA, no
/// driver, a driver too old for this build's runtime, no such GPU, or a GPU that this build has no code for.
std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options);

/// The number of GPUs, 1 or more. Error(unavailable) as of open_cuda().
int count_cuda(const DeviceOptions& options);

/// One entry per usable GPU ("cuda:0", "NVIDIA H200, ..."); without any, one entry "cuda" that says why.
std::vector<DeviceListing> list_cuda();

/// True where open_cuda(0) would succeed, as far as one can tell without creating a context.
bool cuda_present();

/// GPU `index`'s compute capability, 90 for 9.0. Error(unavailable) as of open_cuda().
int cuda_compute_capability(int index);

}  // namespace convlab
