#pragma once

#include <span>
#include <string_view>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns the names of the kernels that the planner may choose among several for a step, the preferred ones first.
std::span<const std::string_view> preferred_kernels();

/// Returns whether the planner prefers `a` to `b` if both support a step: the kernel that preferred_kernels() lists
/// first. Kernels that it does not list come last: the highest rung first, then by name.
bool comes_before(const KernelInfo& a, const KernelInfo& b);

}  // namespace convlab
