#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/file_trial.h"
#include "convlab/conv/problem.h"
#include "convlab/kernel_file/machine_code.h"
#include "convlab/kernel_file/source.h"
#include "convlab/measure/bench.h"

namespace convlab::app {

/// One of several kernels that are compared, and what came of it.
struct Variant {
  std::string label;                          ///< "all but WITH_TILE"; a kernel's name, or a file, as the user typed it
  std::optional<KernelSource> source = {};    ///< of a file
  std::vector<std::string> definitions = {};  ///< of the file's macros: "WITH_TILE=1"

  FileOutcome outcome = FileOutcome::passed;                 ///< what did not pass was not measured
  std::string reason = {};                                   ///< why it did not
  std::vector<double> ms = {};                               ///< of a hot launch, by the device's clock, for each round
  std::vector<std::pair<std::string, int64_t>> counts = {};  ///< on simt, of a launch, in the order of kCounts
  std::vector<std::string> launched = {};                    ///< on simt: the kernels, "convolve<5>"
  std::optional<MachineCode> code = {};                      ///< on simt of those alone

  bool measured() const { return outcome == FileOutcome::passed; }
};

/// What simt counts of a launch. A request is one instruction of one warp, of any memory.
inline constexpr const char* kCounts[] = {"requests", "global sectors", "shared wavefronts", "constant wavefronts",
                                          "atomics",  "flops"};

struct VariantsOptions {
  ConvProblem problem;
  std::string device = "auto";
  int64_t threads = 0;
  Effort effort;              ///< of all rounds together
  bool code = true;           ///< asks for machine code
  double limit_seconds = 60;  ///< without progress, while a file is verified
};

/// Where and when variants were measured.
struct VariantsMeasured {
  std::string device;                  ///< "cuda:0", "simt": the one that `auto` meant
  std::string description;             ///< of the device
  std::optional<double> waited_share;  ///< as a Record's
  std::string members = "{}";          ///< JSON: machine, build, state, waited_share and when, as a Record has them
  std::string code_of;                 ///< whose machine code it is: "nvcc's for compute capability 9.0"; "" without
  std::string no_code_why;             ///< why there is none although it was asked for
};

/// Compiles, verifies and measures all variants, in turns: on simt, which has no clock, it counts what they do. Each
/// that does not compile, refuses or is wrong says so, and the others go on. Error(unavailable) where device or
/// compiler is not there.
VariantsMeasured measure_variants(const VariantsOptions& options, std::vector<Variant>& variants);

}  // namespace convlab::app
