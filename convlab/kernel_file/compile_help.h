#pragma once

#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// Sets the help of the compiler's errors, where their remedy is known. Returns help for the whole output, `complaint`:
/// that of the first error, or of what the compiler reports without a line; "" if none is known.
std::string help_for(const KernelSource& source, const std::string& complaint, std::vector<Finding>& errors);

/// Sets the help of a compiler's warning about a variable without a value, and the variable as its subject.
void add_help(Finding& warning);

}  // namespace convlab
