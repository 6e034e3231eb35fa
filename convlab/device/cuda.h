#pragma once

#include <memory>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Opens GPU `index`. Nothing of CUDA is touched before. Error(unavailable) with the reason: a build without CUDA, no
/// driver, one too old for this build's runtime, no such GPU, or a GPU that this build has no code for.
std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options);

/// The number of GPUs, 1 or more. Error(unavailable) as of open_cuda().
int count_cuda(const DeviceOptions& options);

/// One entry a usable GPU ("cuda:0", "NVIDIA H200, ..."); where there is none, one entry "cuda" that says why.
std::vector<DeviceListing> list_cuda();

/// True where open_cuda(0) would succeed, as far as that can be told without creating a context.
bool cuda_present();

}  // namespace convlab
