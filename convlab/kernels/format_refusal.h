#pragma once

#include <optional>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns the step with all inputs that are not constant and its output in these formats. Raw pixels are nchw, and so
/// are images of one pixel instead of nhwc (see Order), except in convolutions: their kernels say what is missing.
Step in_formats(Step step, Format input, Format output);

/// Returns the step in the first formats that the kernel supports: nchw; the kernel's own format for inputs and output,
/// for the output, for the inputs; uint8 for images that are scaled. nullopt: refuse_in_all_formats() has the reason.
std::optional<Step> in_supported_formats(const Kernel& kernel, const Step& plain, const DeviceCaps& caps);

/// Returns why the kernel does not support the step, whatever the formats of its inputs and output; nullopt if it does
/// in some of the formats that the kernel knows.
Refusal refuse_in_all_formats(const Kernel& kernel, const Step& step, const DeviceCaps& caps);

}  // namespace convlab
