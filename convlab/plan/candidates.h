#pragma once

#include <string_view>
#include <vector>

#include "convlab/conv/problem.h"
#include "convlab/plan/request.h"

namespace convlab {

// The kernels that may compute the steps of a plan: those of the device that are precise enough and that this machine
// can run, except libraries, which must be requested by name. Preferred ones are first: see comes_before().

/// Returns the kernels for convolutions: only options.kernel if it is set. Throws Error(bad_input) if that does not
/// exist or is less precise than options.math.
std::vector<const Kernel*> conv_candidates(const DeviceCaps& caps, const PlanOptions& options);

/// Returns the kernels for all other operators.
std::vector<const Kernel*> other_candidates(const DeviceCaps& caps, const PlanOptions& options);

/// Returns the kernels for the plan's convolution number `place`: all candidates, or the one that options.choices
/// selects. Throws Error(bad_input) if that choice is for another problem, or its kernel is not a candidate.
std::vector<const Kernel*> conv_kernels_for(const PlanRequest& request, const ConvProblem& problem,
                                            std::string_view name, size_t place);

/// Returns the kernel of this name, or nullptr if it is not one of these.
const Kernel* find_named(const std::vector<const Kernel*>& kernels, std::string_view name);

/// Returns why a convolution kernel's format does not fit the plan or the input's format, or nullopt if it does.
Refusal why_not_for_format(const PlanRequest& request, const Kernel& kernel, Format x_format);

/// Returns those that support a step other than a convolution.
std::vector<const Kernel*> supporting(const PlanRequest& request, const Step& step);

/// Whether any of them does.
bool is_supported(const PlanRequest& request, const Step& step);

}  // namespace convlab
