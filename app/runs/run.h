#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/runs/classify.h"

namespace convlab::app {

/// What `run` and `profile` have in common.
struct RunOptions {
  ClassifyOptions classify;
  int64_t repeat = 1;
};

void add_run_options(CLI::App& parser, RunOptions& options);

/// `run mine.cu`: where the model's name is a kernel file's, that is the kernel, and the model its semester's, or fa19.
/// Error if --kernel names another one.
void take_file_as_kernel(RunOptions& options);

/// The words of the command for these options: "convlab", "run", "fa19", and then what differs from the defaults.
std::vector<std::string> run_command(const RunOptions& options);

}  // namespace convlab::app
