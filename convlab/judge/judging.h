#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convlab/base/clock.h"
#include "convlab/base/entropy.h"
#include "convlab/base/limits.h"
#include "convlab/device/thread_pool.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/judge/check.h"
#include "convlab/judge/cpu_run.h"
#include "convlab/judge/jail.h"
#include "convlab/judge/judgement.h"
#include "convlab/judge/launch_list.h"
#include "convlab/judge/ratio_sampling.h"
#include "convlab/judge/work_folder.h"
#include "convlab/kernel_file/compiler.h"

namespace convlab::judge {

/// Ends a judgment before all stages are done.
struct Ended {
  Verdict verdict;
  std::string reason, what_to_do;
};

/// One problem that the submission must compute.
struct Task {
  ConvProblem problem;
  bool secret = false;
  bool counted = false;  ///< run for its counters, not for the verdict
  bool timed = false;    ///< on a GPU: with the full batch size, which is too large to verify

  // Set by recording:
  std::filesystem::path list;    ///< a file, because lists may be large
  KernelCountsSummary products;  ///< of cuBLAS; simt cannot count inside a library, but the flops follow from the sizes
  std::optional<Finding> cause;  ///< why an output must be wrong: a call that failed, or one that the list lacks
};

/// One judgment: its stages and the data they pass on. Compiling and recording are in judge.cc; verifying and timing
/// are in one file per device type.
class Judging {
 public:
  Judging(const std::filesystem::path& file, const Assignment& assignment, const std::string& device, bool in_jail,
          const std::function<void(Stage)>& entered);

  /// Returns a judgment whatever the submission does. Throws like judge_submission().
  Judgement run();

 private:
  /// Runs a stage, and keeps its output and duration, without the hidden parts.
  void stage(Stage stage, const std::function<void()>& work);
  void keep_log(const std::string& printed);

  /// Runs work on a task that may be secret. Its duration is hidden, because a submission could leak a shape by
  /// sleeping for its width.
  void hidden_if_secret(const Task& task, const std::function<void()>& work);

  // ---- Compiling ----

  std::filesystem::path compiled(Toolchain toolchain, const std::string& folder, CompileOptions options,
                                 std::string& complaints);

  /// Returns the first error of a compiler with its source line, or the message of any other error.
  std::string compiler_errors(const Error& error) const;

  /// Reads the file in a jail first, because parsing time depends on the untrusted text.
  void try_to_read();

  /// Rejects #includes of absolute paths and of paths with "..". A submission is one file; no other headers of its own
  /// exist.
  void refuse_foreign_includes() const;
  bool uses_cublas() const;
  void compile();
  CompileOptions machine_code() const;

  // ---- In jails ----

  double seconds_left(double limit_s) const;

  /// Runs convlab-jail on a request. Returns the answer written by it, or by a submission that took it over: a JSON
  /// object, empty if the answer is invalid. `end` is how the process ended.
  Json ask(const std::string& work, Json request, std::vector<std::filesystem::path> shown,
           std::vector<std::filesystem::path> writable, double limit_s, JailEnd& end);

  /// Write files for a replay: raw bytes, x followed by w, a list.
  std::filesystem::path written(const std::string& name, const std::string& bytes);
  std::filesystem::path written_inputs(const Probe& probe);
  std::filesystem::path written_list(const LaunchList& list);

  /// Returns a string of an untrusted answer, marked as such because a submission may have written it; "" if it is
  /// missing.
  static std::string text_in(const Json& json, const char* name);

  /// Ends the judgment at a task. For a secret task the reason reveals nothing and the verdict is always
  /// Verdict::wrong: texts, names, signals and even the kind of failure come from a process that knows the shape and
  /// could leak it.
  [[noreturn]] static void end_at(const Task& task, Verdict verdict, const std::string& why, const char* what_to_do);

  /// The same with Verdict::wrong, for a finding: the reason shows its source lines.
  [[noreturn]] void end_at(const Task& task, Finding finding) const;

  /// Formats a finding with its source lines.
  std::string text_of(Finding finding) const;

  /// Ends the judgment if the process did not exit normally.
  static void require_end(const JailEnd& end, const Json& answer, const Task& task, const char* when, double limit_s);

  // ---- Recording ----

  struct Compiled {
    std::filesystem::path source, library;  ///< library: for simt, or for the CPU
  };
  Compiled submission() const { return {source_.path, library_}; }

  struct Recording {
    LaunchList list;
    std::optional<Finding> failed_call;
  };

  /// Returns one recording of a problem. Each has different data, addresses and gaps between arrays.
  Recording recorded(const Compiled& file, const Task& task, bool keeps_log);

  /// Ends the judgment if a kernel does not support a problem, or throws.
  static void require_no_words(const Json& answer, const Task& task);
  static bool is_product(const Operation& op) { return op.kind == Operation::Kind::multiply; }

  void make_tasks();

  /// Records a task twice. Secret tasks are recorded when they are verified, so that the stage's duration reveals
  /// nothing.
  void record(Task& task);
  void record();

  /// Returns the fills on which a task is verified, in order.
  std::vector<Fill> fills_of(const Task& task) const;

  // ---- Timing, on devices that measure time ----

  /// Stores the times; `layers` and their bounds are in sampling order.
  void keep_times(const RatioSampling& sampling, const std::vector<const Task*>& layers,
                  const std::vector<double>& bounds_s);

  // ---- simt: judge_simt.cc ----

  bool is_of_course() const { return convlab::is_of_course(source_.kind); }

  Json replay(const Task& task, const Probe& probe, const std::filesystem::path& output, JailEnd& end);
  void verify(const Task& task, Fill fill);
  void require_right(const Task& task, const Probe& probe, std::span<const float> got);
  void keep_counters(const Task& task, const Json& answer);
  static KernelCountsSummary products_of(const ConvProblem& problem, const LaunchList& list);
  void verify();

  // ---- GPUs: judge_gpu.cc ----

  bool is_gpu() const { return device_ != "simt" && device_ != "cpu"; }

  /// Returns the GPU process's answer for the submission's cubin.
  Json ask_gpu(Json request, const Task& task, const char* when, double limit_s);
  void verify_on_gpu(bool secret, std::initializer_list<Fill> fills);
  void verify_on_gpu();

  /// The reference kernel's file, compiled like a submission.
  struct GpuReference {
    Compiled file;
    std::filesystem::path cubin;
  };
  GpuReference reference_on_gpu() const;
  void time_on_gpu();
  static void require_above(double seconds, double least_s);

  // ---- CPUs: judge_cpu.cc ----

  std::unique_ptr<CpuRun> cpu_run(const CpuRun::Kernel& kernel, const Task& task, double limit_s) const;

  /// Runs one call, which writes `y`. Returns its seconds.
  double sample(CpuRun& run, const Task& task, const Probe& probe, bool zeros, std::vector<float>& y, double limit_s);
  void verify_on_cpu();

  /// Returns the reference kernel's file, compiled like a submission.
  CpuRun::Kernel reference_on_cpu() const;
  void time_on_cpu();

  /// Rejects a time below the machine's lower bound.
  void require_possible(double seconds, const Ceilings& ceilings) const;

  static constexpr const char* kWhatLists =
      "the judge records a submission's device operations and replays them; see docs/guide/judge.md";
  static constexpr const char* kForbiddenLibrary = "cuBLAS is not allowed in this assignment";
  static constexpr const char* kComputeInKernels = "compute in your own kernels";
  static constexpr const char* kTrySimt = "'convlab verify FILE --device simt' shows the line";
  static constexpr const char* kTryVerify = "run 'convlab verify FILE' on your machine";
  static constexpr const char* kTryOtherShapes =
      "test other shapes, for example 'convlab verify FILE --device simt --problem n33_c3h9w17_k5r3s3'";

  const std::filesystem::path file_;
  const Assignment& assignment_;
  const std::string device_;
  const bool in_jail_;
  const std::function<void(Stage)>& entered_;
  const int gpu_;
  const WorkFolder work_;
  ThreadPool threads_{usable_threads()};
  KeyedRng random_;
  KernelSource source_;
  std::filesystem::path library_, counted_library_, cubin_;
  std::vector<Task> tasks_;
  std::atomic<int> asked_ = 0;
  Clock::time_point stage_begin_;
  double hidden_s_ = 0;  // hidden time of this stage
  std::string log_;
  Judgement judgement_;
};

}  // namespace convlab::judge
