#pragma once

#include <vector>

#include "convlab/device/device.h"
#include "convlab/tensor/format.h"

namespace convlab {

/// Downloads an array of this shape and format from device memory as nchw float32. Waits for the stream. Throws
/// Error(wrong_result) if padding that must be zero is not.
std::vector<float> download_plain(Stream& stream, const void* array, const Shape& shape, Format format);

}  // namespace convlab
