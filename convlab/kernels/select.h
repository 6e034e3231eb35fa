#pragma once

#include <string>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns why the kernel does not support the step: a format or a fused activation that it does not know, or its own
/// reason.
Refusal refusal_of(const Kernel& kernel, const Step& step, const DeviceCaps& caps);

// Of steps other than convolutions, for which plan/choose.h selects kernels.

/// Returns the kernel that the planner uses: the first in the order of comes_before() that supports the step, or
/// nullptr.
const Kernel* find_kernel(const Step& step, const DeviceCaps& caps, Math math = Math::fp32);

/// Like find_kernel(), but throws Error(unavailable) with the reason if there is none.
const Kernel& choose_kernel(const Step& step, const DeviceCaps& caps, Math math = Math::fp32);

/// Returns why no kernel of the device supports the step: the reason from the first kernel for this operator, or "" if
/// there is none.
std::string why_unsupported(const Step& step, const DeviceCaps& caps, Math math = Math::fp32);

}  // namespace convlab
