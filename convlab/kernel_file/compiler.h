#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/process.h"
#include "convlab/diagnostics/finding.h"
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

/// What a compiler makes of a file. `machine_code` and `registers` are of nvcc alone, `warnings` are not.
enum class CompilerOutput {
  library,       ///< to be loaded
  machine_code,  ///< the GPU's alone, nothing of the host's
  registers,     ///< the text of what the GPU's assembler says of each kernel
  warnings,      ///< the text of what the compiler says of variables without a value and functions without a return
};

struct CompileOptions {
  int compute_capability = 0;  ///< of the GPU, 90 for 9.0; nvcc only
  double limit_s = 300;        ///< a compiler that takes longer is ended
  bool counted = false;        ///< simt can count what the kernels do; they are slower
  CompilerOutput output = CompilerOutput::library;
  std::vector<std::string> definitions = {};  ///< of macros: "WITH_TILE=1"
  CompilerRunner runner = {};                 ///< runs the compiler in another way than as a process of the user's
  /// Where the result lies instead of in the cache: an untrusted text must not become the library of another user.
  std::filesystem::path folder = {};
};

/// The folder that holds convlab/, with the kernels and the headers that kernel files read. Error(unavailable) if it is
/// not there.
std::filesystem::path header_root();

/// The path of a program that compiles or reads code, "nvcc", "objdump": in PATH, otherwise in CUDA's toolkit,
/// $CUDA_HOME or /usr/local/cuda. "" if it is not there.
std::string found_tool(const std::string& name);

/// Compiles a file, unless the cache has the result for the same text, headers, compiler and options. The cache is a
/// folder: $CONVLAB_CACHE, otherwise convlab in $XDG_CACHE_HOME or in ~/.cache; where it cannot be written, a temporary
/// one. Several processes may share it.
///
/// FindingError(bad_input) with the compiler's own lines, numbered as in the file, and with each of its errors as a
/// finding, if it does not compile; Error(unavailable) if the compiler is not installed.
CompiledFile compile_kernel_file(const KernelSource& source, Toolchain toolchain, const CompileOptions& options);

/// The host compiler's warnings about the file's own lines: variables without a value, functions without a return. At
/// most a few: "'sum' may be used uninitialized [-Wmaybe-uninitialized]". None if it cannot say.
std::vector<Finding> warnings_of(const KernelSource& source);

/// How many registers of a GPU of this compute capability a thread of each of a file's kernels takes, as ptxas says, by
/// the kernels' names without namespaces: "convolve<5>". Error as of compile_kernel_file().
std::map<std::string, int> registers_of(const KernelSource& source, int compute_capability);

/// The same of ptxas' own words: what `nvcc -Xptxas -v` prints.
std::map<std::string, int> registers_in(std::string_view words_of_ptxas);

}  // namespace convlab
