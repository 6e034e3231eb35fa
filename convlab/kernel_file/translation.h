#pragma once

#include <span>
#include <string>

#include "convlab/kernel_file/sides.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// What compiles a kernel file: nvcc for GPUs, or the host's C++ compiler, with simt in CUDA's place where the file has
/// CUDA kernels.
enum class Toolchain : uint8_t { nvcc, simt, cpu };

/// The file's text for a compiler, line for line: a message about line 31 is one about line 31 of the file. Headers of
/// the course are replaced by convlab's, wherever the file looks for them. For simt `kernel<<<grid, block>>>(x)`
/// becomes a call, `extern __shared__` arrays become pointers, `__constant__` arrays of more than 64 KiB are errors,
/// and the device's variables have sections of their own; all but the last also in headers beside the file, whose text
/// is then taken in. `marks`: see SideCheck.
std::string translated(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks = {});

/// All of what the compiler gets: the translated text, between what it takes for granted and the functions by which
/// convlab calls it (convlab/kernel_file/entry.h). convlab's own kind needs none of that: it registers itself.
std::string compilation_unit(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks = {});

}  // namespace convlab
