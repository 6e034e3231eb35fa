#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/conv/problem.h"

namespace convlab::app {

struct VerifyFilesOptions {
  std::vector<std::string> files;
  std::string device;                 ///< "" for the one that suits the file
  std::string semester;               ///< "" for the one that the file tells
  std::vector<ConvProblem> problems;  ///< in place of the semester's layers
  int64_t images = 0;                 ///< 0: 10 on simt, otherwise 1000
  int64_t threads = 0;
  double stuck_after_seconds = 3, limit_seconds = 60;
  bool strict = false;          ///< see TrialOptions
  bool all = false;             ///< all shapes, however many different findings there are, and all of these
  bool verbose = false;         ///< each case of many
  std::string format = "text";  ///< text, gcc, json, sarif or github
  std::string color = "auto";   ///< see text_style()
};

/// Judges each file in a process of its own, and goes on with the next whatever a file does. Prints what is wrong, and
/// then throws ExitStatus: of wrong_result if a file failed, of bad_input if one is not a kernel file or does not
/// compile, of unavailable if a device or compiler is missing, in this order.
void verify_files(const VerifyFilesOptions& options, Output& output);

}  // namespace convlab::app
