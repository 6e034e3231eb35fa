#pragma once

#include <map>
#include <string>
#include <vector>

#include "convlab/kernel_file/source.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab::app {

/// Compiles the kernel with nvcc to find out how many registers per thread its functions need on a GPU of this compute
/// capability, and stores that in their counts. If nvcc is missing or cannot compile the file, prints a note, once, and
/// the numbers stay unknown. `kernel`: the name of one of this program's kernels, or a file.
void add_registers(const std::string& kernel, int compute_capability, std::vector<KernelCounts>& functions);

/// Returns a note on kernels without __launch_bounds__() that a file launches with this many threads per block, if a
/// GPU may reject the launch because their registers do not fit. The registers are nvcc's for compute capability 9.0;
/// without nvcc, they are unknown, and any such kernel gets the note. Returns "" if there is nothing to report.
std::string register_note(const KernelSource& source, const std::map<std::string, int>& threads);

}  // namespace convlab::app
