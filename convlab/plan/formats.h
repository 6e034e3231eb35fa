#pragma once

#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/plan/request.h"

namespace convlab {

/// Returns the layouts other than nchw in which a plan of this mode, math and batch keeps values between its steps if
/// their consumers support it; best first.
std::vector<Format> inner_formats(int64_t images, const DeviceCaps& caps, const PlanOptions& options,
                                  const std::vector<const Kernel*>& candidates);

/// Returns the layout for a value that a kernel can write either way: the plan's best layout that all consumers can
/// read.
Format format_for_readers(const PlanRequest& request, ValueId value);

/// Returns the layout for the output of this step, which is complete otherwise: the layout of its consumers if a kernel
/// can write it.
Format op_output_format(const PlanRequest& request, Step step, ValueId value);

}  // namespace convlab
