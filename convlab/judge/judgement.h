#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/conv/problem.h"
#include "convlab/kernels/kernel.h"

/// Judges untrusted kernel files: the input and output types. docs/guide/judge.md describes the defenses.
namespace convlab::judge {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// The result of a submission.
///
///   passed        correct on every shape, and within every limit
///   wrong         an output is wrong, or a kernel violated one of CUDA's rules
///   refused       the judge cannot decide: the file does more than a list of launches can express
///   not_compiled  it is not a kernel file, or does not compile
///   timed_out     a stage exceeded its time limit
///   forbidden     it did something that no submission may do, such as escaping its jail or calling forbidden libraries
enum class Verdict : uint8_t { passed, wrong, refused, not_compiled, timed_out, forbidden };
std::string_view name_of(Verdict verdict);  ///< "PASSED", "NOT_COMPILED", ...

enum class Stage : uint8_t { queued, compiling, recording, verifying, timing, done };
std::string_view name_of(Stage stage);  ///< "queued", ...

/// Where submissions run.
///
///   jails     in jails; without jails nothing is judged
///   students  in jails if available, otherwise as ordinary processes: for classes that trust their students
enum class Trust : uint8_t { jails, students };
std::string_view name_of(Trust trust);  ///< "jails", "students"

/// Resource limits of a submission.
struct JudgeLimits {
  double compile_s = 120, record_s = 30, verify_s = 300, timing_s = 300;
  int64_t memory_bytes = int64_t{4} << 30;   ///< address space of a run, and of each compiler process
  int64_t output_bytes = int64_t{64} << 10;  ///< of printed output, per stage
  int64_t processes = 64;                    ///< including threads, at the same time

  bool operator==(const JudgeLimits&) const = default;
};

/// What files are judged on.
struct Assignment {
  std::string name;                 ///< "fa19"
  std::vector<ConvProblem> layers;  ///< the network's convolutions, in order, with the batch size to verify and to time
  std::vector<ConvProblem> secret;  ///< more shapes to verify on; reasons never reveal them
  std::string nonce;                ///< to repeat a judgment; "": a new one
  bool libraries_allowed = false;   ///< whether cuBLAS is allowed
  std::string reference = "cuda.basic";  ///< the kernel that is timed, interleaved with the submission
  JudgeLimits limits;
  Trust trust = Trust::jails;

  bool operator==(const Assignment&) const = default;
};

struct StageLog {
  Stage stage{};
  double seconds = 0;
  std::string log;  ///< output of the stage: printable and truncated

  bool operator==(const StageLog&) const = default;
};

/// The submission's time divided by the reference's.
struct Ratio {
  double median = 0, low = 0, high = 0;  ///< low to high: 95 % confidence interval of the median
  int samples = 0;

  bool operator==(const Ratio&) const = default;
};

/// The time of one layer; medians of the samples.
struct LayerTime {
  std::string layer;  ///< "n1000_c1h70w70_k12r5s5"
  double seconds = 0, reference_s = 0;
  double bound_s = 0;  ///< the roofline bound of direct convolution, in the judgment's arithmetic class

  bool operator==(const LayerTime&) const = default;
};

/// Counts of the kernels of one function on one layer, measured on simt.
struct KernelCountsSummary {
  std::string layer, kernel;  ///< "n2_c1h70w70_k12r5s5", "conv_forward<16>"
  int64_t launches = 0, flops = 0;
  int64_t global_sectors = 0, least_sectors = 0;  ///< 32-byte sectors; least: if each request were fully coalesced
  int64_t shared_wavefronts = 0, bank_conflicts = 0;
  double occupancy = 0;  ///< fraction of a multiprocessor's threads that resident blocks can occupy

  bool operator==(const KernelCountsSummary&) const = default;
};

struct Judgement {
  /// The key from which this judgment derives its images, filters, hidden shapes and order of runs.
  std::string nonce;
  Verdict verdict = Verdict::refused;
  Stage failed_at = Stage::done;  ///< done: it passed
  std::string reason, what_to_do;
  Math math = Math::fp32;                     ///< arithmetic class, detected by probes, not declared
  std::optional<Ratio> ratio;                 ///< on devices that measure time
  std::vector<LayerTime> times;               ///< on devices that measure time; empty in old judgments
  std::vector<KernelCountsSummary> counters;  ///< on simt
  std::vector<StageLog> stages;

  bool operator==(const Judgement&) const = default;
};

/// Judges a file on "cpu", "simt" or "cuda", and calls `entered` at the start of each stage. Throws Error(unavailable)
/// if the device, a compiler or, with Trust::jails, a jail is missing, and Error(bad_input) if the assignment is
/// invalid. All other errors are the submission's and become a verdict.
Judgement judge_submission(const std::filesystem::path& file, const Assignment& assignment, const std::string& device,
                           const std::function<void(Stage)>& entered);

Json to_json(const Judgement& judgement);
Json to_json(const Assignment& assignment);

/// Returns the judgment without the nonce, which students must not see.
Json public_json(const Judgement& judgement);

/// Throw Error(bad_input) with `place` and the missing or invalid member.
Judgement judgement_from(const Json& json, const std::string& place);
Assignment assignment_from(const Json& json, const std::string& place);

}  // namespace convlab::judge
