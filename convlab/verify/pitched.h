#pragma once

#include <cstdint>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/step.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

// Arrays that are part of a larger, concatenated one: rows of their elements (images in nchw8c, pixels in nhwc) with
// gaps, where the other parts are. See Operand::pitch.

/// Returns the step with each input and output that may be part of a larger array in one with 8 more channels.
Step with_pitches(Step step);

/// Returns the bytes of the operand's array or, with a pitch, of the larger one.
size_t bytes_of(const Operand& operand);

/// Returns the larger array of a packed one, with NaN in the gaps. Without a pitch, returns `packed`.
Tensor with_gaps(Tensor packed, const Operand& operand);

/// Downloads an operand as download_plain() does. Throws Error(wrong_result) if something wrote to its gaps, which held
/// uninitialized markers.
std::vector<float> download_operand(Stream& stream, const void* array, const Operand& operand);

}  // namespace convlab
