#pragma once

#include <string>
#include <vector>

#include "convlab/device/simt.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/verify/oracle.h"

namespace convlab {

enum class Outcome { passed, failed, skipped };

std::string_view name_of(Outcome outcome);

struct CaseResult {
  Outcome outcome = Outcome::failed;
  std::string reason;                  ///< failed: the first finding's message; skipped: why; passed: ""
  double relative_l2 = 0;              ///< for real numbers; 0 unless passed
  std::vector<Finding> findings = {};  ///< failed: what is wrong, causes first; passed: warnings
};

/// Verifies one kernel on one step, element by element, with the memory and streams of `device` (of the kernel's own
/// kind). Each array is between guards, outputs and scratch are marked uninitialized before the launch, and inputs must
/// be unchanged after it:
///
///   refusal   an unsupported step is skipped, with the kernel's reason
///   integers  exact (within the tolerance if sums are transformed), for two layers that share everything but their
///             filters: prepare A, prepare B, launch A, launch B, launch A
///   reals     within the derived tolerance of its class; a second launch has the same bits unless order-dependent
///   one NaN   a NaN pixel spreads to the outputs that read it and no further (see Sum)
///
/// Errors of the kernel itself, such as a launch failure, fail the case with their message. A case whose arrays do not
/// fit into device memory is skipped. Throws Error(bad_input) if the host has too little memory.
CaseResult verify_kernel(const Kernel& kernel, const ConvStep& step, Device& device, Oracle& oracle);

/// Checks a kernel before it is timed: verify_kernel() on at most two images of the step. A library is trusted; timing
/// checks outputs at the problem's own size.
CaseResult verify_few(const Kernel& kernel, const ConvStep& step, Device& device, Oracle& oracle);

}  // namespace convlab
