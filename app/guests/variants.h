#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/guests/file_trial.h"
#include "convlab/kernel_file/instruction_counts.h"
#include "convlab/kernel_file/source.h"
#include "convlab/kernels/step.h"
#include "convlab/measure/bench.h"

namespace convlab::app {

/// One of several kernels that are compared, and its results.
struct Variant {
  std::string label;                          ///< "all but WITH_TILE"; a kernel's name, or a file, as the user typed it
  std::optional<KernelSource> source = {};    ///< only for a file
  std::vector<std::string> definitions = {};  ///< macro definitions for the file: "WITH_TILE=1"

  FileOutcome outcome = FileOutcome::passed;                 ///< a variant that did not pass is not measured
  std::string reason = {};                                   ///< why it did not pass
  std::vector<double> ms = {};                               ///< one hot launch per round, by the device's clock
  std::vector<std::pair<std::string, int64_t>> counts = {};  ///< simt: counts of one launch, in the order of kCounts
  std::vector<std::string> launched = {};                    ///< simt: the launched kernels, "convolve<5>"
  std::optional<MachineCode> code = {};                      ///< on simt, of `launched` alone

  bool measured() const { return outcome == FileOutcome::passed; }
};

/// The counts of a launch on simt. A request is one memory instruction of one warp, to any memory space.
inline constexpr const char* kCounts[] = {"requests", "global sectors", "shared wavefronts", "constant wavefronts",
                                          "atomics",  "flops"};

struct VariantsOptions {
  Step step;  ///< a convolution if a variant is a file
  std::string device = "auto";
  int64_t threads = 0;
  Effort effort;              ///< for all rounds together
  bool code = true;           ///< also get the machine code
  double limit_seconds = 60;  ///< without progress, while a file is verified
};

/// Where and when variants were measured.
struct VariantsMeasured {
  std::string device;                  ///< "cuda:0", "simt": never "auto"
  std::string description;             ///< of the device
  std::optional<double> waited_share;  ///< as in a Record
  std::string members = "{}";          ///< JSON: machine, build, state, waited_share and when, as in a Record
  std::string code_of;      ///< origin of the machine code: "nvcc for compute capability 9.0"; "" without code
  std::string no_code_why;  ///< why the requested machine code is missing
};

/// Compiles and verifies all variants, and measures them in interleaved rounds; on simt, whose times are not GPU times,
/// counts what they do. A variant that does not compile, is not supported or is wrong gets its outcome and reason, and
/// the others go on. Throws Error(unavailable) if the device or the compiler is missing.
VariantsMeasured measure_variants(const VariantsOptions& options, std::vector<Variant>& variants);

}  // namespace convlab::app
