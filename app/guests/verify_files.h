#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/conv/problem.h"

namespace convlab::app {

/// The options of `convlab verify FILE...`.
struct VerifyFilesOptions {
  std::vector<std::string> files;
  std::string device;                 ///< "": see device_for()
  std::string semester;               ///< "": that of the file
  std::vector<ConvProblem> problems;  ///< instead of the semester's layers
  int64_t images = 0;                 ///< 0: 10 on simt, otherwise 1000
  int64_t threads = 0;
  double stuck_after_seconds = 3, limit_seconds = 60;
  bool strict = false;          ///< see TrialOptions
  bool all = false;             ///< run all shapes and print all findings, however many there are
  bool verbose = false;         ///< print each case, even if there are many
  std::string format = "text";  ///< text, gcc, json, sarif or github
  std::string color = "auto";   ///< see text_style()
};

/// Verifies each file in child processes, and goes on with the next file whatever one does. Prints what is wrong, and
/// then throws ExitStatus: wrong_result if a file failed; otherwise unavailable if a device or compiler is missing;
/// otherwise bad_input if a file is not a kernel file or does not compile.
void verify_files(const VerifyFilesOptions& options, Output& output);

}  // namespace convlab::app
