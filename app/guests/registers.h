#pragma once

#include <map>
#include <string>
#include <vector>

#include "convlab/kernel_file/source.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab::app {

/// Asks nvcc how many registers the kernel's functions take on a GPU of this compute capability, and keeps that in
/// their counts. Where there is no nvcc, or it cannot compile the file, a note says so, once, and they stay unknown.
/// `kernel`: the name of one of this program's, or a file.
void add_registers(const std::string& kernel, int compute_capability, std::vector<KernelCounts>& functions);

/// A note on kernels that a file launches with so many threads a block, if a GPU may refuse the launch since their
/// registers do not fit: measured where there is nvcc, for compute capability 9.0; otherwise of those without
/// __launch_bounds__(). "" if there is nothing to say.
std::string register_note(const KernelSource& source, const std::map<std::string, int>& threads);

}  // namespace convlab::app
