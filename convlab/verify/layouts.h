#pragma once

#include <vector>

#include "convlab/device/device.h"
#include "convlab/tensor/layout.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Plain images as a step of this layout takes them; float32 unless the layout is plain.
Tensor in_layout(const Tensor& images, Layout layout);

/// What a step of this layout left in the device's memory, as plain float32 images of that shape. Waits for the stream.
/// Error(wrong_result) where an element that belongs to no channel is not zero.
std::vector<float> download_plain(Stream& stream, const void* outputs, const Shape& shape, Layout layout);

}  // namespace convlab
