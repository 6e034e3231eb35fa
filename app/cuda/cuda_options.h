#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convlab/kernel_file/program_compiler.h"

namespace convlab::app {

/// What `convlab cuda build` and convlab-nvcc make: the default, or what nvcc's options -c, -lib, -dlink and -M ask
/// for. A device link has nothing to do here, and makes an empty object.
enum class Product { program, object, archive, device_link, dependencies };

/// nvcc's options for Makefile rules: -MD, -MF, -MT and -MP.
struct DependencyOptions {
  bool beside = false;         ///< -MD: written while compiling
  std::filesystem::path file;  ///< "": the object's name, with .d
  std::string target;          ///< "": the object's name
  bool phony = false;          ///< a rule without prerequisites for each header
};

/// What the words after `convlab cuda run` or `build` ask for: nvcc's options and convlab's own.
struct CudaOptions {
  ProgramSources sources;
  Product product = Product::program;
  DependencyOptions dependencies;
  std::filesystem::path output;                    ///< -o; "" if it is not given
  std::filesystem::path folder;                    ///< -odir: of outputs without -o
  std::vector<std::string> arguments;              ///< of the program: what follows "--"
  std::map<std::string, std::string> environment;  ///< settings of the run: see simt/program/program_settings.h
  std::vector<std::string> schedules;              ///< of the runs; empty: one run in order
  bool help = false, version = false;
};

/// Parses the words. nvcc's options for GPUs, such as -arch, have no effect. Throws Error(bad_input) for unknown
/// options, and for those that ask for GPU code.
CudaOptions parse_cuda_options(const std::vector<std::string>& words);

/// The text of `convlab cuda --help`.
std::string cuda_help();

}  // namespace convlab::app
