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

/// A kernel file compiled into a loadable library.
struct CompiledFile {
  std::filesystem::path library;
  double seconds = 0;      ///< compile time; 0 on a cache hit
  std::string complaints;  ///< compiler warnings
};

/// A compiler command line. The compiler reads `text` and the folders in `shown`, and writes `made`.
struct CompilerCommand {
  std::vector<std::string> words;  ///< argv; the first word is the compiler's path
  std::filesystem::path text, made;
  std::vector<std::filesystem::path> shown;  ///< header folders
  double limit_s = 0;
};
using CompilerRunner = std::function<ProcessRun(const CompilerCommand& command)>;

/// Runs the compiler as a plain child process of the user.
ProcessRun run_plainly(const CompilerCommand& command);

/// Writes the unit to the command's text file, runs the compiler and removes the text. `counted`: the unit is compiled
/// with loops unrolled (see unrolled.h), from its preprocessed text.
ProcessRun run_compiler(CompilerCommand command, const std::string& unit, bool counted, const CompilerRunner& runner);

/// What the compiler produces. `machine_code` and `registers` need nvcc; `warnings` needs the host compiler.
enum class CompilerOutput {
  library,       ///< a loadable shared library
  machine_code,  ///< a cubin: GPU code without host code
  registers,     ///< the output of ptxas -v: registers per kernel
  warnings,      ///< the host compiler's warnings about uninitialized variables and missing returns
};

struct CompileOptions {
  int compute_capability = 0;  ///< of the GPU: 90 for 9.0; nvcc only
  double limit_s = 300;        ///< timeout: the compiler is killed after this many seconds
  bool counted = false;        ///< instrument for simt's operation counters; kernels run slower
  bool over_field = false;     ///< for simt: compute modulo a prime, see convlab/verify/file_proof.h
  CompilerOutput output = CompilerOutput::library;
  std::vector<std::string> definitions = {};  ///< macro definitions: "WITH_TILE=1"
  CompilerRunner runner = {};                 ///< runs the compiler; by default as a plain child process of the user
  /// Output folder used instead of the cache, so that untrusted source never ends up in a cache that other users load
  /// from.
  std::filesystem::path folder = {};
};

/// Compiles a file, unless the cache already has the result for the same text, headers, compiler and options. The cache
/// folder is $CONVLAB_CACHE, otherwise convlab in $XDG_CACHE_HOME or in ~/.cache, or a temporary folder if that is not
/// writable. Several processes may share it.
///
/// If the file does not compile, throws FindingError(bad_input) with the compiler's output, whose line numbers match
/// the file, and with each compiler error as a finding. Throws Error(unavailable) if the compiler is not installed.
CompiledFile compile_kernel_file(const KernelSource& source, Toolchain toolchain, const CompileOptions& options);

/// Returns the host compiler's warnings about the file's own lines: uninitialized variables and missing returns.
/// Returns at most five, such as "'sum' may be used uninitialized [-Wmaybe-uninitialized]", and none if the compiler
/// fails.
std::vector<Finding> warnings_of(const KernelSource& source);

/// Returns registers per thread for each kernel of the file, as ptxas reports them for a GPU of this compute
/// capability. Keys are kernel names without namespaces: "convolve<5>". Throws like compile_kernel_file().
std::map<std::string, int> registers_of(const KernelSource& source, int compute_capability);

/// Parses registers_of() out of the output of `nvcc -Xptxas -v`.
std::map<std::string, int> registers_in(std::string_view words_of_ptxas);

}  // namespace convlab
