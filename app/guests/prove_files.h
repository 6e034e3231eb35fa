#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/conv/problem.h"

namespace convlab::app {

/// The options of `convlab verify FILE... --prove`.
struct ProveOptions {
  std::vector<std::string> files;
  std::string semester;               ///< "": that of the file
  std::vector<ConvProblem> problems;  ///< instead of the semester's layers
  int64_t images = 0;                 ///< batch size of the layers; 0: 1
  double limit_seconds = 60;
};

/// Proves in child processes, on simt, that each file computes its convolutions for every input (see
/// convlab/verify/file_proof.h), and prints the result for each problem. Throws ExitStatus: wrong_result if a file is
/// refuted, otherwise bad_input if one cannot be proved.
void prove_files(const ProveOptions& options, Output& output);

}  // namespace convlab::app
