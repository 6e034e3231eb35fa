#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "convlab/kernel_file/sides.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// The compiler for a kernel file: nvcc for GPUs, the host's C++ compiler with simt in place of CUDA for files with
/// CUDA kernels, or the host's C++ compiler alone.
enum class Toolchain : uint8_t { nvcc, simt, cpu };

/// Returns the file's text translated for a compiler. Line numbers are preserved, so a message about line 31 refers to
/// line 31 of the file. The course's headers are replaced by convlab's. For simt, `kernel<<<grid, block>>>(x)` becomes
/// a call, asm statements with PTX become calls, `extern __shared__` arrays become pointers, `__constant__` arrays
/// larger than 64 KiB are errors, and device variables get their own sections. All but the sections also apply to
/// headers next to the file, whose text is then inlined. `marks`: see SideCheck.
std::string translated(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks = {});

/// Returns the complete compiler input: the translated text, preceded by the headers and declarations that it expects,
/// and followed by the functions through which convlab calls it (convlab/kernel_file/entry.h). Files of convlab's own
/// kind register themselves and need neither. `over_field`: see CompileOptions.
std::string compilation_unit(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks = {},
                             bool over_field = false);

/// Returns the compiler input for a source file of a whole CUDA program on simt: its translated text, preceded by what
/// nvcc includes and then `first`, lines of definitions and includes. Headers in the file's folder or in `folders`
/// (those of -I) that need translation are inlined; their device variables get sections, too.
std::string program_unit(const KernelSource& source, std::span<const std::filesystem::path> folders,
                         std::string_view first);

}  // namespace convlab
