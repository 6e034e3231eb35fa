#pragma once

#include <vector>

#include "convlab/base/process.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// Throws the findings as the error of a file that does not compile.
[[noreturn]] void throw_findings(const KernelSource& source, std::vector<Finding> findings);

/// Throws the error of a failed compilation: its findings and what the compiler printed, with help if it is known.
[[noreturn]] void throw_compile_error(const KernelSource& source, const CompilerCommand& command,
                                      const ProcessRun& run);

}  // namespace convlab
