#pragma once

#include <vector>

#include "convlab/device/device.h"
#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Converts plain (nchw) images to this layout; fp32 unless the layout is plain.
Tensor in_layout(const Tensor& images, Layout layout);

/// Downloads a step's output in this layout from device memory as plain (nchw) fp32 of that shape. Waits for the
/// stream. Throws Error(wrong_result) if an element that belongs to no channel (padding) is not zero.
std::vector<float> download_plain(Stream& stream, const void* outputs, const Shape& shape, Layout layout);

}  // namespace convlab
