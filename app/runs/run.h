#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/runs/classify.h"

namespace convlab::app {

/// The options that `run` and `profile` share.
struct RunOptions {
  ClassifyOptions classify;
  int64_t repeat = 1;
};

void add_run_options(CLI::App& parser, RunOptions& options);

/// Implements `run mine.cu`: if the model's name is a kernel file, uses the file as the kernel, and the model of its
/// semester, or fa19. Throws Error(bad_input) if --kernel is given, too.
void take_file_as_kernel(RunOptions& options);

/// Returns the words of the command for these options: "convlab", "run", "fa19", and then what differs from the
/// defaults.
std::vector<std::string> run_command(const RunOptions& options);

}  // namespace convlab::app
