#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convlab/kernel_file/program_compiler.h"

namespace convlab::app {

/// What the words after `convlab cuda run` or `build` ask for: nvcc's options and convlab's own.
struct CudaOptions {
  ProgramSources sources;
  std::filesystem::path output;                    ///< -o; "" if it is not given
  std::vector<std::string> arguments;              ///< of the program: what follows "--"
  std::map<std::string, std::string> environment;  ///< settings of the run: see simt/program/program_settings.h
  bool help = false;
};

/// Parses the words. nvcc's options for GPUs, such as -arch, have no effect. Throws Error(bad_input) for unknown
/// options, and for those that ask for GPU code.
CudaOptions parse_cuda_options(const std::vector<std::string>& words);

/// The text of `convlab cuda --help`.
std::string cuda_help();

}  // namespace convlab::app
