#pragma once

#include <memory>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Opens GPU `index`. Nothing initializes CUDA before this call. Throws Error(unavailable) with the reason: a build
/// without CUDA, no driver, a driver too old for this build's runtime, no such GPU, or a GPU for which this build has
/// no code.
std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options);

/// Returns the number of GPUs, at least 1. Throws Error(unavailable) as open_cuda().
int count_cuda(const DeviceOptions& options);

/// Returns one entry per usable GPU ("cuda:0", "NVIDIA H200, ..."); if there is none, one entry "cuda" with the reason.
std::vector<DeviceListing> list_cuda();

/// Whether open_cuda(0) would succeed, as far as can be determined without creating a context.
bool cuda_present();

/// Returns the compute capability of GPU `index`, 90 for 9.0. Throws Error(unavailable) as open_cuda().
int cuda_compute_capability(int index);

}  // namespace convlab
