#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convlab/kernel_file/translation.h"

namespace convlab {

/// Returns the folder that contains convlab/, with the kernels and the headers that kernel files include. Throws
/// Error(unavailable) if it is missing.
std::filesystem::path header_root();

/// Returns the path of a toolchain program such as "nvcc" or "objdump". Searches PATH, $CUDA_HOME/bin and
/// /usr/local/cuda/bin. Returns "" if the program is not found.
std::string found_tool(const std::string& name);

/// Returns the folder next to a portable binary with the third-party headers that convlab's headers include; "" if
/// there is none.
std::filesystem::path portable_headers();

/// A C++ compiler, g++ or clang++.
struct HostCompiler {
  std::string path;
  bool is_clang = false;
};

/// Returns the C++ compiler of this name or path; "": the one that compiled this program, or g++. Throws
/// Error(unavailable) if there is none.
HostCompiler host_compiler(const std::string& name = {});

/// Returns the compiler's command with include folders and language options. `own`: for a file of convlab's own kind.
std::vector<std::string> host_command(bool own, Toolchain toolchain, const std::filesystem::path& root,
                                      const HostCompiler& compiler = host_compiler());

/// What simt is to see of a kernel file's code.
struct Instrumentation {
  bool accesses = true;   ///< loads and stores
  bool bounds = true;     ///< indices of arrays whose sizes the compiler knows
  bool alignment = true;  ///< misaligned pointers
  bool counted = false;   ///< basic blocks, for its operation counters
};

/// Returns the compiler's flags that instrument a kernel file for simt.
std::vector<std::string> simt_flags(bool own, Instrumentation seen = {},
                                    const HostCompiler& compiler = host_compiler());

/// Returns the linker's flags by which the calls of instrumented code reach simt. In kernels, calls of malloc() and the
/// like use the device heap: see convlab/simt/device_heap.h and hooks.cc. On the host, simt records array sizes: see
/// convlab/simt/host_arrays.h.
std::vector<std::string> simt_link_flags();

/// Returns the header that simt's kernel files include first.
std::filesystem::path first_header(const std::filesystem::path& root);

}  // namespace convlab
