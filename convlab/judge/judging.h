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

/// Ends a judgement before all stages are done.
struct Ended {
  Verdict verdict;
  std::string reason, what_to_do;
};

/// One problem that the submission must compute.
struct Task {
  ConvProblem problem;
  bool secret = false;
  bool counted = false;  ///< for its counters, not for the verdict
  bool timed = false;    ///< on a GPU: at its whole number of images, which is too many to verify

  // When it is recorded:
  std::filesystem::path list;    ///< a file, since a list may be large, and there are several
  KernelCountsSummary products;  ///< of cuBLAS; nothing counts what a library does, but its flops follow from the sizes
};

/// One judgement: its stages, and what they hand on. Compiling and recording are in judge.cc; each kind of device has a
/// file for how kernels are verified and timed there.
class Judging {
 public:
  Judging(const std::filesystem::path& file, const Assignment& assignment, const std::string& device, bool in_jail,
          const std::function<void(Stage)>& entered);

  /// A judgement whatever the submission does. Error as of judge_submission().
  Judgement run();

 private:
  /// Does the work of a stage, and keeps what it printed and how long it took, without what was hidden.
  void stage(Stage stage, const std::function<void()>& work);
  void keep_log(const std::string& printed);

  /// Does work on a task that may be secret: how long that takes, nobody is told, as a submission could sleep as long
  /// as a shape is wide.
  void hidden_if_secret(const Task& task, const std::function<void()>& work);

  // ---- Compiling ----

  std::filesystem::path compiled(Toolchain toolchain, const std::string& folder, CompileOptions options,
                                 std::string& complaints);

  /// Reads the file in a jail first: its text decides how long that takes.
  void try_to_read();

  /// A submission is one file. Its reader looks for headers beside it; beside it is nothing, and elsewhere nothing of
  /// its own.
  void refuse_foreign_includes() const;
  bool uses_cublas() const;
  void compile();
  CompileOptions machine_code() const;

  // ---- In jails ----

  double seconds_left(double limit_s) const;

  /// Lets convlab-jail do its work on a request, and returns what it, or whoever took it over, has answered: an object,
  /// empty where there is none that makes sense. `end`: how it ended.
  Json ask(const std::string& work, Json request, std::vector<std::filesystem::path> shown,
           std::vector<std::filesystem::path> writable, double limit_s, JailEnd& end);

  /// Files for a replay: any bytes, x and then w, a list.
  std::filesystem::path written(const std::string& name, const std::string& bytes);
  std::filesystem::path written_inputs(const Probe& probe);
  std::filesystem::path written_list(const LaunchList& list);

  /// A text of somebody else's answer, marked as such, since a submission may have written it; "" where there is none.
  static std::string text_in(const Json& json, const char* name);

  /// Ends the judgement at a task. Of one that is secret nothing is told, and it is always Verdict::wrong: texts,
  /// names, signals and what it does at all come from a process that knows its shape, and could pass it on.
  [[noreturn]] static void end_at(const Task& task, Verdict verdict, const std::string& why, const char* what_to_do);

  /// The same with Verdict::wrong, for a finding in the submission: the reason shows its source lines.
  [[noreturn]] static void end_at(const Task& task, Finding finding);

  /// Ends the judgement if the process did not come to its end.
  static void require_end(const JailEnd& end, const Json& answer, const Task& task, const char* when, double limit_s);

  // ---- Recording ----

  struct Compiled {
    std::filesystem::path source, library;  ///< library: of simt's, or the CPU's
  };
  Compiled submission() const { return {source_.path, library_}; }

  /// One recording of a problem. Each has other data, addresses and gaps between arrays.
  LaunchList recorded(const Compiled& file, const Task& task, bool keeps_log);

  /// Ends the judgement where a kernel does not take a problem, or throws.
  static void require_no_words(const Json& answer, const Task& task);
  static bool is_product(const Operation& op) { return op.kind == Operation::Kind::multiply; }

  void make_tasks();

  /// Twice. Secret ones are recorded when they are verified, so that the stage tells nothing.
  void record(Task& task);
  void record();

  /// What a task is verified on, in turn.
  std::vector<Fill> fills_of(const Task& task) const;

  // ---- Timing, on devices with a clock ----

  /// `layers` and their bounds in the order in which they were sampled.
  void keep_times(const RatioSampling& sampling, const std::vector<const Task*>& layers,
                  const std::vector<double>& bounds_s);

  // ---- simt: judge_simt.cc ----

  bool is_of_course() const { return source_.kind == FileKind::mxnet || source_.kind == FileKind::minidnn; }

  Json replay(const Task& task, const Probe& probe, const std::filesystem::path& output, JailEnd& end);
  void verify(const Task& task, Fill fill);
  void require_right(const Task& task, const Probe& probe, std::span<const float> got);
  void keep_counters(const Task& task, const Json& answer);
  static KernelCountsSummary products_of(const ConvProblem& problem, const LaunchList& list);
  void verify();

  // ---- GPUs: judge_gpu.cc ----

  bool is_gpu() const { return device_ != "simt" && device_ != "cpu"; }

  /// What the process at the GPU has to say of the submission's machine code.
  Json ask_gpu(Json request, const Task& task, const char* when, double limit_s);
  void verify_on_gpu(bool secret, std::initializer_list<Fill> fills);
  void verify_on_gpu();

  /// The reference's file, compiled as a submission is.
  struct GpuReference {
    Compiled file;
    std::filesystem::path cubin;
  };
  GpuReference reference_on_gpu() const;
  void time_on_gpu();
  static void require_above(double seconds, double least_s);

  // ---- CPUs: judge_cpu.cc ----

  std::unique_ptr<CpuRun> cpu_run(const CpuRun::Kernel& kernel, const Task& task, double limit_s) const;

  /// Seconds of one call, whose output is in `y`.
  double sample(CpuRun& run, const Task& task, const Probe& probe, bool zeros, std::vector<float>& y, double limit_s);
  void verify_on_cpu();

  /// The reference's file, compiled as a submission is.
  CpuRun::Kernel reference_on_cpu() const;
  void time_on_cpu();

  /// What no machine can do, was not done.
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
  double hidden_s_ = 0;  // of this stage
  std::string log_;
  Judgement judgement_;
};

}  // namespace convlab::judge
