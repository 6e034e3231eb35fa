#pragma once

#include <string>
#include <vector>

#include "convlab/kernels/conv_step.h"
#include "convlab/plan/fuse.h"
#include "convlab/plan/request.h"

namespace convlab {

/// A convolution with formats, and the kernels that can compute exactly this.
struct ConvDraft {
  ConvStep step;
  std::vector<const Kernel*> kernels;  ///< preferred ones first; empty: none
};

/// Returns the convolution with all that is fused with it, from an input in step.input_format to the plan's format of
/// channels, or to nchw for images of one pixel.
ConvDraft conv_to_channels(const PlanRequest& request, const std::vector<const Kernel*>& kernels, ConvStep step);

/// Returns the convolution, with as much of its epilogue as the first kernel that supports it can fuse, and with output
/// in the format for its readers if that kernel can write it. The input has this format; if it is uint8 pixels, a
/// kernel that does not read them gets a float32 copy. If there is no kernel, `refusals` is set to all reasons.
ConvDraft conv_for_readers(const PlanRequest& request, const std::vector<const Kernel*>& kernels, const Fusion& fusion,
                           Format x_format, std::string& refusals);

}  // namespace convlab
