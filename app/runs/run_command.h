#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/runs/classification.h"

namespace convlab::app {

/// The options that `run` and `profile` share.
struct RunOptions {
  std::string model;  ///< MODEL as typed; "" if it is left out
  ClassifyOptions classify;
  int64_t repeat = 1;
};

void add_run_options(CLI::App& parser, RunOptions& options);

/// Sets the model and, for `run mine.cu`, the kernel from what the user typed: see default_model(). Throws
/// Error(bad_input) if there are two kernels.
void choose_model(RunOptions& options);

/// Returns the words of the command for these options: "convlab", "run", "fa19", and then what differs from the
/// defaults.
std::vector<std::string> run_command(const RunOptions& options);

}  // namespace convlab::app
