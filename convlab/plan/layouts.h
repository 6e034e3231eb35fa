#pragma once

#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

/// The layouts besides plain in which a plan of this mode, math and batch keeps values between its steps, where their
/// readers take them; best first.
std::vector<Layout> inner_layouts(int64_t images, const DeviceCaps& caps, const PlanOptions& options,
                                  const std::vector<const ConvKernel*>& candidates);

/// The layout for a value that a kernel can write either way: the plan's best that all its readers can read.
Layout layout_for_readers(const PlanRequest& request, ValueId value);

/// The layout for the value that this step, complete except for it, computes: its readers', if a kernel writes that.
Layout op_output_layout(const PlanRequest& request, OpStep step, ValueId value);

}  // namespace convlab
