#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convlab/base/process.h"
#include "convlab/kernel_file/translation.h"

namespace convlab {

/// A kernel file as a library that can be loaded.
struct CompiledFile {
  std::filesystem::path library;
  double seconds = 0;      ///< of the compiler; 0 if the cache had it
  std::string complaints;  ///< warnings of the compiler
};

/// A compiler's command. It reads `text` and `shown`, and writes `made`.
struct CompilerCommand {
  std::vector<std::string> words;  ///< the first is the compiler's path
  std::filesystem::path text, made;
  std::vector<std::filesystem::path> shown;  ///< folders of headers
  double limit_s = 0;
};
using CompilerRunner = std::function<ProcessRun(const CompilerCommand& command)>;

struct CompileOptions {
  int compute_capability = 0;  ///< of the GPU, 90 for 9.0; nvcc only
  double limit_s = 300;        ///< a compiler that takes longer is ended
  bool counted = false;        ///< simt can count what the kernels do; they are slower
  bool cubin = false;          ///< nvcc only: the kernels' machine code alone, nothing of the host's
  CompilerRunner runner = {};  ///< runs the compiler in another way than as a process of the user's
  /// Where the result lies instead of in the cache: a text that nobody trusts must not become somebody else's library.
  std::filesystem::path folder = {};
};

/// The folder that holds convlab/, with the kernels and the headers that kernel files read. Error(unavailable) if it is
/// not there.
std::filesystem::path header_root();

/// Compiles a file, unless the cache has the result for the same text, headers, compiler and options. The cache is a
/// folder: $CONVLAB_CACHE, otherwise convlab in $XDG_CACHE_HOME or in ~/.cache; where it cannot be written, a temporary
/// one. Several processes may share it.
///
/// Error(bad_input) with the compiler's own lines, numbered as in the file, if it does not compile; Error(unavailable)
/// if the compiler is not there.
CompiledFile compile_kernel_file(const KernelSource& source, Toolchain toolchain, const CompileOptions& options);

}  // namespace convlab
