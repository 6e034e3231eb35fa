#pragma once

#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// Returns the casts to void* of kernels that the tokens pass to cudaLaunchKernel() and cudaLaunchCooperativeKernel().
/// Without them these functions know the types of the kernel's parameters, which simt needs to call it.
std::vector<std::string_view> kernel_casts(const std::vector<Token>& tokens);

}  // namespace convlab
