#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convlab/kernel_file/host_command.h"

namespace convlab {

/// What a compiler is asked to make of a whole CUDA program, as nvcc's options say it.
struct ProgramSources {
  std::vector<std::filesystem::path> files;     ///< .cu and .cpp sources, and objects and archives made from others
  std::vector<std::filesystem::path> folders;   ///< -I
  std::vector<std::string> definitions;         ///< "N=8" of -D, "-N" of -U, in their order
  std::vector<std::filesystem::path> includes;  ///< -include: files that each source includes first
  std::vector<std::string> host_options;        ///< of -Xcompiler
  std::vector<std::string> link_options;        ///< -L, -l and those of -Xlinker, in order
  std::string compiler;                         ///< -ccbin: its name or path; "": the usual one
  bool all_cuda = false;                        ///< -x cu: sources of other names have CUDA code, too
  bool shared_library = false;                  ///< -shared: instead of a program
  Instrumentation seen;                         ///< of all sources
  std::map<std::string, std::string> settings;  ///< that the program has where its environment does not set them
  double limit_s = 300;                         ///< of each run of the compiler
};

/// Whether the file is CUDA source, from its name: ".cu".
bool is_cuda_source(const std::filesystem::path& file);

/// Whether the file is a source that is compiled, from its name: ".cu", ".cc", ".cpp", ".cxx", ".c".
bool is_program_source(const std::filesystem::path& file);

/// Compiles one source for simt and returns the object in the cache, which also has results of earlier runs. Throws
/// FindingError(bad_input) with the compiler's errors, and Error(unavailable) if there is no compiler.
std::filesystem::path compile_program_source(const std::filesystem::path& file, const ProgramSources& program);

/// Returns the headers that a source includes, directly or indirectly, from its folder and those of -I.
std::vector<std::filesystem::path> program_headers(const std::filesystem::path& file, const ProgramSources& program);

/// Compiles all sources, several at a time, links them, and returns the program in the cache. It needs the shared
/// library convlab-cuda of this installation. Errors as above.
std::filesystem::path build_program(const ProgramSources& program);

}  // namespace convlab
