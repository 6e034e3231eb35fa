#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "convlab/simt/checks.h"
#include "convlab/simt/settings.h"

namespace convlab::simt {

/// How findings are printed.
enum class FindingsFormat { text, gcc, json, sarif, github };

/// How a whole CUDA program is run, from the environment: `convlab cuda run` sets these variables, and a program that
/// `convlab cuda build` made reads them, too.
struct ProgramSettings {
  FindingsFormat format = FindingsFormat::text;  ///< CONVLAB_FORMAT=text|gcc|json|sarif|github: of findings on stderr
  std::string json;                              ///< CONVLAB_JSON=FILE: also writes the results there; "": nowhere
  int findings_exit = 1;          ///< CONVLAB_FINDINGS_EXIT=N: exit status if it was 0 and something was found
  std::string color = "auto";     ///< CONVLAB_COLOR=auto|always|never
  bool all = false;               ///< CONVLAB_ALL=1: all findings with all details
  std::string as;                 ///< CONVLAB_AS=NAME: the device whose properties the program reads; "": simt's own
  Checks checks = Checks::all();  ///< CONVLAB_CHECK=all|none|LIST: see parse_checks()
  Schedule schedule;              ///< CONVLAB_SCHEDULE=in-order|reverse|random:SEED
  size_t max_memory = SIZE_MAX;   ///< CONVLAB_MAX_MEMORY=BYTES, or 512M, 2G: of the device
  bool counters = false;          ///< CONVLAB_COUNTERS=1: kernels that are compiled for it are counted, not checked
  double timeout_s = 0;           ///< CONVLAB_TIMEOUT=SECONDS: then the program is ended; 0: never
  int threads = 0;                ///< CONVLAB_THREADS=N: host threads that execute blocks; 0: all
};

/// Returns the settings of this process. Throws Error(bad_input) with the variable's name if a value is not allowed.
ProgramSettings program_settings();

}  // namespace convlab::simt
