#pragma once

#include <string>
#include <vector>

#include "convlab/warps/kernel_counts.h"

namespace convlab::app {

/// Asks nvcc how many registers the kernel's functions take on a GPU of this compute capability, and keeps that in
/// their counts. Where there is no nvcc, or it cannot compile the file, a note says so, once, and they stay unknown.
/// `kernel`: the name of one of this program's, or a file.
void add_registers(const std::string& kernel, int compute_capability, std::vector<KernelCounts>& functions);

}  // namespace convlab::app
