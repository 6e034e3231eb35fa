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

/// Judging untrusted kernel files: what goes in and what comes out. docs/guide/judge.md tells what is
/// defended, and how.
namespace convlab::judge {

/// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

/// What became of a submission.
///
///   passed        right on every shape, and within every limit
///   wrong         an output is wrong, or a kernel broke one of CUDA's rules
///   refused       the judge cannot tell: what the file does is more than a list of launches can say
///   not_compiled  it is no kernel file, or does not compile
///   timed_out     a stage took longer than its limit
///   forbidden     it did what no submission may: reached out of its jail, called what is not its own
enum class Verdict : uint8_t { passed, wrong, refused, not_compiled, timed_out, forbidden };
std::string_view name_of(Verdict verdict);  ///< "PASSED", "NOT_COMPILED", ...

enum class Stage : uint8_t { queued, compiling, recording, verifying, timing, done };
std::string_view name_of(Stage stage);  ///< "queued", ...

/// Where submissions run.
///
///   jails     in jails; where none can be had, nothing is judged
///   students  in jails where they can be had, otherwise as ordinary processes: for a class that trusts its students
enum class Trust : uint8_t { jails, students };
std::string_view name_of(Trust trust);  ///< "jails", "students"

/// The most that a submission may take.
struct JudgeLimits {
  double compile_s = 120, record_s = 30, verify_s = 300, timing_s = 300;
  int64_t memory_bytes = int64_t{4} << 30;   ///< of a run; of each process of a compiler
  int64_t output_bytes = int64_t{64} << 10;  ///< of what it prints, a stage
  int64_t processes = 64;                    ///< and threads, at once

  bool operator==(const JudgeLimits&) const = default;
};

/// What files are judged by.
struct Assignment {
  std::string name;                      ///< "fa19"
  std::vector<ConvProblem> layers;       ///< the network's convolutions, in order, with the n to verify and to time
  std::vector<ConvProblem> secret;       ///< more shapes to verify on; reasons never show their numbers
  std::string nonce;                     ///< of a judgement that is to be repeated; "": a new one
  bool libraries_allowed = false;        ///< cuBLAS
  std::string reference = "cuda.basic";  ///< the kernel that is timed in turns with the submission
  JudgeLimits limits;
  Trust trust = Trust::jails;

  bool operator==(const Assignment&) const = default;
};

struct StageLog {
  Stage stage{};
  double seconds = 0;
  std::string log;  ///< what the stage printed: printable, and bounded

  bool operator==(const StageLog&) const = default;
};

/// The submission's time over the reference's.
struct Ratio {
  double median = 0, low = 0, high = 0;  ///< low to high: the median's interval of 95 %
  int samples = 0;

  bool operator==(const Ratio&) const = default;
};

/// What one layer takes, in medians of the samples.
struct LayerTime {
  std::string layer;  ///< "n1000_c1h70w70_k12r5s5"
  double seconds = 0, reference_s = 0;
  double bound_s = 0;  ///< what direct convolution takes at best there, in the judgement's class of arithmetic

  bool operator==(const LayerTime&) const = default;
};

/// What the kernels of one function did for one layer, counted on simt.
struct KernelCountsSummary {
  std::string layer, kernel;  ///< "n2_c1h70w70_k12r5s5", "conv_forward<16>"
  int64_t launches = 0, flops = 0;
  int64_t global_sectors = 0, least_sectors = 0;  ///< of 32 bytes; least: if each request's bytes lay together
  int64_t shared_wavefronts = 0, bank_conflicts = 0;
  double occupancy = 0;  ///< share of a multiprocessor's threads that its blocks can fill

  bool operator==(const KernelCountsSummary&) const = default;
};

struct Judgement {
  /// From which images, filters, hidden shapes and the order of things of this judgement derive, and of no other.
  std::string nonce;
  Verdict verdict = Verdict::refused;
  Stage failed_at = Stage::done;  ///< done: it passed
  std::string reason, what_to_do;
  Math math = Math::fp32;                     ///< the class of its arithmetic, by probe, not by declaration
  std::optional<Ratio> ratio;                 ///< on devices with a clock
  std::vector<LayerTime> times;               ///< there, too; of old judgements nobody kept them
  std::vector<KernelCountsSummary> counters;  ///< on simt
  std::vector<StageLog> stages;

  bool operator==(const Judgement&) const = default;
};

/// Judges a file on "cpu", "simt" or "cuda", and calls `entered` as each stage begins. Error(unavailable) where the
/// device, a compiler or, with Trust::jails, a jail cannot be had; Error(bad_input) where the assignment makes no
/// sense. All else that can go wrong is the submission's, and a verdict.
Judgement judge_submission(const std::filesystem::path& file, const Assignment& assignment, const std::string& device,
                           const std::function<void(Stage)>& entered);

Json to_json(const Judgement& judgement);
Json to_json(const Assignment& assignment);

/// The judgement without what its student is not shown: the nonce.
Json public_json(const Judgement& judgement);

/// Error(bad_input) with `place` and the member that is missing or wrong.
Judgement judgement_from(const Json& json, const std::string& place);
Assignment assignment_from(const Json& json, const std::string& place);

}  // namespace convlab::judge
