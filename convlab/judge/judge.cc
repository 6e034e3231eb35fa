#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/limits.h"
#include "convlab/base/rng.h"
#include "convlab/base/text.h"
#include "convlab/device/thread_pool.h"
#include "convlab/judge/check.h"
#include "convlab/judge/cpu_run.h"
#include "convlab/judge/jail.h"
#include "convlab/judge/jail_program.h"
#include "convlab/judge/jailed_compiler.h"
#include "convlab/judge/judgement.h"
#include "convlab/judge/launch_list.h"
#include "convlab/judge/work_folder.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/tokens.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/ceilings.h"
#include "convlab/measure/json_members.h"
#include "convlab/measure/summary.h"
#include "convlab/simt/product.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostAnswerBytes = int64_t{64} << 20;
constexpr double kLeastSeconds = 1;

/// Ends a judgement before all stages are done.
struct Ended {
  Verdict verdict;
  std::string reason, what_to_do;
};

/// A file's name without what a shell, a page or a message could stumble over.
std::string plain_name(const fs::path& file) {
  std::string name = file.filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
  }
  return has_source_suffix(name) && name.size() < 100 && !name.starts_with('.') ? name : "kernel.cu";
}

/// Lines that a terminal or a page can show.
std::string shown(std::string_view text, size_t most) {
  std::string result;
  for (const std::string& line : split(text.substr(0, most), '\n')) result += printable(line) + "\n";
  while (result.ends_with("\n\n") || result == "\n") result.pop_back();
  return result;
}

/// One problem that the submission must compute.
struct Task {
  ConvProblem problem;
  bool secret = false;
  bool counted = false;  ///< for its counters, not for the verdict
  LaunchList list;
};

class Judging {
 public:
  Judging(const fs::path& file, const Assignment& assignment, const std::string& device, bool in_jail,
          const std::function<void(Stage)>& entered)
      : file_(file),
        assignment_(assignment),
        device_(device),
        in_jail_(in_jail),
        entered_(entered),
        random_(assignment.seed) {}

  Judgement run() {
    judgement_.verdict = Verdict::passed;
    try {
      stage(Stage::compiling, [&] { compile(); });
      make_tasks();
      if (device_ == "cpu") {
        stage(Stage::verifying, [&] { verify_on_cpu(); });
        stage(Stage::timing, [&] { time_on_cpu(); });
      } else {
        stage(Stage::recording, [&] { record(); });
        stage(Stage::verifying, [&] { verify(); });
      }
    } catch (const Ended& ended) {
      judgement_.verdict = ended.verdict;
      judgement_.reason = work_.without_path(ended.reason);
      judgement_.what_to_do = ended.what_to_do;
      judgement_.counters.clear();
    }
    if (entered_) entered_(Stage::done);
    return std::move(judgement_);
  }

 private:
  template <class Work>
  void stage(Stage stage, Work&& work) {
    if (entered_) entered_(stage);
    stage_begin_ = Clock::now();
    judgement_.failed_at = stage;
    StageLog& log = judgement_.stages.emplace_back();
    log.stage = stage;
    const auto finish = [&] {
      StageLog& last = judgement_.stages.back();
      last.seconds = seconds_since(stage_begin_);
      last.log = work_.without_path(shown(log_, static_cast<size_t>(assignment_.limits.output_bytes)));
      log_.clear();
    };
    try {
      work();
    } catch (const Ended&) {
      finish();
      throw;
    }
    finish();
    judgement_.failed_at = Stage::done;
  }

  void keep_log(const std::string& printed) {
    const auto most = static_cast<size_t>(assignment_.limits.output_bytes);
    log_ += printed.substr(0, most - std::min(most, log_.size()));
  }

  // ---- Compiling ----

  fs::path compiled(Toolchain toolchain, const std::string& folder, bool counted, std::string& complaints) {
    std::atomic<bool> late = false;
    CompileOptions options{.limit_s = assignment_.limits.compile_s, .counted = counted, .folder = work_.folder(folder)};
    options.runner = jailed_compiler(source_, assignment_.limits, in_jail_, late);
    try {
      CompiledFile file = compile_kernel_file(source_, toolchain, options);
      complaints = std::move(file.complaints);
      return file.library;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      if (late) {
        throw Ended{
            Verdict::timed_out, fmt::format("the compiler was not done after {:g} s", assignment_.limits.compile_s),
            "leave out what makes the compiler work long: templates that call themselves, loops unrolled many times"};
      }
      throw Ended{Verdict::not_compiled, error.what(), kTryVerify};
    }
  }

  /// A submission is one file. Its reader looks for headers beside it; beside it is nothing, and elsewhere nothing of its own.
  void refuse_foreign_includes() const {
    for (const Token& token : tokens_of(source_.text)) {
      if (token.kind != Token::Kind::directive) continue;
      const std::optional<std::string_view> name = included_header(token.text);
      if (name && (name->starts_with('/') || name->find("..") != std::string_view::npos)) {
        throw Ended{Verdict::forbidden,
                    fmt::format("line {} includes {}, which is neither a header of the system nor in this file",
                                token.line, printable(*name)),
                    "a submission is one file"};
      }
    }
  }

  bool uses_cublas() const {
    return std::ranges::any_of(tokens_of(source_.text), [](const Token& token) {
      return token.kind != Token::Kind::literal && token.text.find("cublas") != std::string_view::npos;
    });
  }

  void require_libraries_allowed() const {
    if (assignment_.libraries_allowed) return;
    throw Ended{Verdict::forbidden, "it uses cuBLAS, which this assignment does not allow",
                "compute in kernels of your own"};
  }

  void compile() {
    const fs::path path = work_.folder("source") / plain_name(file_);
    constexpr int64_t kMostBytes = 1 << 20;
    std::string text;
    try {
      text = read_text(file_, kMostBytes);
      write_file(path, text);
      source_.path = path;
      source_.text = text;
      refuse_foreign_includes();
      source_ = read_kernel_source(path);
    } catch (const Error& error) {
      throw Ended{Verdict::not_compiled, error.what(), "'convlab new KIND -o FILE' writes a file to begin with"};
    }
    const bool for_cpu = device_ == "cpu";
    if (source_.cuda == for_cpu) {
      throw Ended{
          Verdict::refused,
          fmt::format("this is a kernel for {}, and the assignment is for {}", for_cpu ? "GPUs" : "CPUs", device_), ""};
    }
    if (uses_cublas()) require_libraries_allowed();
    std::string complaints, other_complaints;
    if (for_cpu) {
      library_ = compiled(Toolchain::cpu, "checked", false, complaints);
      return keep_log(complaints);
    }
    auto counted =
        std::async(std::launch::async, [&] { return compiled(Toolchain::simt, "counted", true, other_complaints); });
    library_ = compiled(Toolchain::simt, "checked", false, complaints);
    counted_library_ = counted.get();
    keep_log(complaints);
  }

  // ---- In jails ----

  double seconds_left(double limit_s) const { return std::max(limit_s - seconds_since(stage_begin_), kLeastSeconds); }

  struct Answer {
    JailEnd end;
    Json json;  ///< an object, empty where there is none that makes sense
  };

  /// Lets convlab-jail do its work on a request, and returns what it, or whoever took it over, has answered.
  Answer ask(const std::string& work, Json request, std::vector<fs::path> shown, std::vector<fs::path> writable,
             double limit_s) {
    const std::string name = fmt::format("{}-{}", work, asked_++);
    const fs::path answer = work_.empty_file(name + ".answer"), path = work_ / (name + ".json");
    request["answer"] = answer.string();
    request["processes"] = in_jail_ ? assignment_.limits.processes : 0;
    write_file(path, json_text(request, -1));
    shown.insert(shown.end(), jail_program().begin(), jail_program().end());
    shown.push_back(path);
    writable.push_back(answer);
    std::error_code error;
    Answer result{.json = Json::object()};
    result.end = run_in_jail({.command = {jail_program().front().string(), work, path.string()},
                              .shown = std::move(shown),
                              .writable = writable,
                              .limit_s = limit_s,
                              .memory_bytes = assignment_.limits.memory_bytes,
                              .file_bytes = kMostAnswerBytes,
                              .output_bytes = assignment_.limits.output_bytes},
                             in_jail_);
    try {
      const std::string text = read_text(answer, kMostAnswerBytes);
      if (!text.empty()) result.json = parse_json(text, "answer");
    } catch (const Error&) {
      result.json = nullptr;
    }
    if (!result.json.is_object()) result.json = Json::object();
    fs::remove(answer, error);
    fs::remove(path, error);
    return result;
  }

  /// A text of somebody else's answer.
  static std::string text_in(const Json& json, const char* name) {
    const auto at = json.find(name);
    constexpr size_t kMost = 2000;
    if (at == json.end() || !at->is_string()) return "";
    std::string text;
    for (const std::string& line : split(at->get<std::string>().substr(0, kMost), '\n')) {
      if (!line.empty()) text += (text.empty() ? "" : "; ") + printable(line);
    }
    return text;
  }

  /// Ends the judgement at a task. Of one that is secret nothing is told: texts, names, exit statuses and signals come from a
  /// process that knows its shape, and could pass it on.
  [[noreturn]] static void end_at(const Task& task, Verdict verdict, const std::string& why, const char* what_to_do) {
    if (!task.secret) throw Ended{verdict, fmt::format("{}: {}", to_text(task.problem), why), what_to_do};
    const char* const word = verdict == Verdict::wrong       ? "is wrong"
                             : verdict == Verdict::timed_out ? "takes too long"
                             : verdict == Verdict::refused   ? "is refused"
                                                             : "does what is forbidden";
    throw Ended{verdict, fmt::format("it {} on a shape that the assignment does not show", word), kTryOtherShapes};
  }

  /// Ends the judgement if the process did not come to its end.
  static void require_end(const JailEnd& end, const Json& answer, const Task& task, const char* when, double limit_s) {
    const std::string why = fmt::format("{}: {}", when, describe(end, limit_s));
    switch (end.how) {
      case JailEnd::How::exited:
        if (answer.empty()) end_at(task, Verdict::wrong, why, "a submission computes and returns");
        return;
      case JailEnd::How::crashed:
        end_at(task, Verdict::wrong, why, kTryVerify);
      case JailEnd::How::forbidden:
        end_at(task, Verdict::forbidden, why, "a submission computes, and nothing else");
      case JailEnd::How::out_of_time:
        end_at(task, Verdict::timed_out, why, "");
    }
  }

  // ---- Recording ----

  /// One recording of a problem. Another seed has other data, addresses and gaps between arrays.
  Answer recording(const Task& task, uint64_t seed) {
    return ask("record",
               {{"source", source_.path.string()},
                {"library", library_.string()},
                {"problem", to_text(task.problem)},
                {"seed", static_cast<int64_t>(seed >> 1)}},
               {source_.path, library_}, {}, seconds_left(assignment_.limits.record_s));
  }

  LaunchList list_in(const Answer& answer, const Task& task) const {
    require_end(answer.end, answer.json, task, "while it was recorded", assignment_.limits.record_s);
    if (answer.json.contains("list")) {
      try {
        return read_list(answer.json.at("list"), task.problem, assignment_.limits.memory_bytes);
      } catch (const Error& error) {
        end_at(task, Verdict::refused, error.what(), kWhatLists);
      }
    }
    if (const std::string why = text_in(answer.json, "refused"); !why.empty())
      end_at(task, Verdict::refused, why, kWhatLists);
    require_no_words(answer.json, task);
    end_at(task, Verdict::refused, "it answers in the judge's place", kWhatLists);
  }

  /// Ends the judgement where a kernel does not take a problem, or throws.
  static void require_no_words(const Json& answer, const Task& task) {
    if (const std::string why = text_in(answer, "misfit"); !why.empty()) {
      end_at(task, Verdict::refused, "the kernel does not take it: " + why, "");
    }
    if (answer.contains("threw")) end_at(task, Verdict::wrong, "it throws: " + text_in(answer, "threw"), "");
  }

  static bool is_product(const Operation& op) { return op.kind == Operation::Kind::multiply; }

  void make_tasks() {
    for (const ConvProblem& each : assignment_.layers) tasks_.push_back({.problem = each});
    for (const ConvProblem& each : assignment_.secret) tasks_.push_back({.problem = each, .secret = true});
    for (const ConvProblem& each : assignment_.layers) {
      if (device_ != "simt") break;
      tasks_.push_back({.problem = each, .counted = true});
      tasks_.back().problem.n = 1;
    }
  }

  void record() {
    for (Task& task : tasks_) {
      const uint64_t first_seed = random_.next(), second_seed = random_.next();
      auto second = std::async(std::launch::async, [&] { return recording(task, second_seed); });
      const Answer first = recording(task, first_seed), other = second.get();
      if (!task.secret) keep_log(first.end.printed);
      task.list = list_in(first, task);
      if (std::ranges::any_of(task.list.operations, is_product)) require_libraries_allowed();
      if (const std::string why = difference(task.list, list_in(other, task)); !why.empty()) {
        end_at(task, Verdict::refused, "recorded twice, with other data and addresses, " + why,
               "what is launched, and with which numbers, may depend on the shape alone");
      }
    }
  }

  // ---- Verifying ----

  bool is_of_course() const { return source_.kind == FileKind::mxnet || source_.kind == FileKind::minidnn; }

  Answer replay(const Task& task, const Probe& probe, const fs::path& output) {
    const fs::path inputs = work_ / fmt::format("inputs-{}", asked_++), list = work_ / fmt::format("list-{}", asked_++);
    std::string bytes(static_cast<const char*>(probe.x.raw()), probe.x.bytes());
    bytes.append(static_cast<const char*>(probe.w.raw()), probe.w.bytes());
    write_file(inputs, bytes);
    write_file(list, json_text(to_json(task.list), -1));
    const fs::path& library = task.counted ? counted_library_ : library_;
    return ask("replay",
               {{"library", library.string()},
                {"list", list.string()},
                {"problem", to_text(task.problem)},
                {"lenient", is_of_course()},
                {"zeros", is_of_course()},
                {"counted", task.counted},
                {"threads", usable_threads()},
                {"inputs", inputs.string()},
                {"output", output.string()}},
               {library, list, inputs}, {output}, seconds_left(assignment_.limits.verify_s));
  }

  void verify(const Task& task, Fill fill) {
    const Probe probe(task.problem, fill, judgement_.math, random_.next());
    const auto bytes = static_cast<size_t>(task.problem.output_count()) * sizeof(float);
    const fs::path output = work_ / "output";
    {
      const std::string poison(bytes, '\xff');
      write_file(output, poison);
    }
    const Answer answer = replay(task, probe, output);
    if (!task.secret) keep_log(answer.end.printed);
    require_end(answer.end, answer.json, task, "while its kernels ran", assignment_.limits.verify_s);
    if (answer.json.contains("fault") || answer.json.contains("threw")) {
      end_at(task, Verdict::wrong, text_in(answer.json, answer.json.contains("fault") ? "text" : "threw"), kTryVerify);
    }
    if (task.counted) return keep_counters(task, answer.json);
    const std::vector<uint8_t> got = read_file(output, static_cast<int64_t>(bytes) + 1);
    if (got.size() != bytes) end_at(task, Verdict::wrong, "it changed the size of its output", "");
    require_right(task, probe, {reinterpret_cast<const float*>(got.data()), got.size() / sizeof(float)});
  }

  void require_right(const Task& task, const Probe& probe, std::span<const float> got) {
    constexpr double kToleranceOfFloat = 1e-4, kToleranceOfHalf = 2e-2;
    const double tolerance = !is_of_course() ? 0 : source_.half || source_.tf32 ? kToleranceOfHalf : kToleranceOfFloat;
    const Checked checked = check_output(probe, got, tolerance, threads_);
    if (!checked.right) end_at(task, Verdict::wrong, checked.reason, kTryVerify);
    // Both keep 11 bits of a number; which of them it is, the file's text tells.
    const Math math = checked.math == Math::tf32 && source_.half ? Math::fp16 : checked.math;
    judgement_.math = std::max(judgement_.math, math);
  }

  void keep_counters(const Task& task, const Json& answer) {
    try {
      JsonMembers(answer, "counters").objects("counts", [&](const JsonMembers& each) {
        KernelCountsSummary& counts = judgement_.counters.emplace_back();
        counts.layer = to_text(task.problem);
        each.read("kernel", counts.kernel);
        counts.kernel = printable(counts.kernel);
        each.read("launches", counts.launches);
        each.read("flops", counts.flops);
        each.read("global_sectors", counts.global_sectors);
        each.read("least_sectors", counts.least_sectors);
        each.read("shared_wavefronts", counts.shared_wavefronts);
        each.read("bank_conflicts", counts.bank_conflicts);
        each.read("occupancy", counts.occupancy);
      });
      if (std::ranges::any_of(task.list.operations, is_product)) judgement_.counters.push_back(products_of(task));
    } catch (const Error& error) {
      throw Ended{Verdict::forbidden, fmt::format("its counters make no sense: {}", printable(error.what())), ""};
    }
    double flops = 0;
    for (const KernelCountsSummary& each : judgement_.counters) {
      if (each.layer == to_text(task.problem)) flops += static_cast<double>(each.flops);
    }
    if (flops * kMostSavedFlops < task.problem.flops()) {
      throw Ended{Verdict::refused,
                  fmt::format("{}: its kernels were counted to do {:.3g} floating-point operations, and the "
                              "convolution is {:.3g}: no algorithm saves so many, so something else computes",
                              to_text(task.problem), flops, task.problem.flops()),
                  "compute in kernels"};
    }
  }

  /// Nothing counts what a library does; its flops follow from the sizes.
  static KernelCountsSummary products_of(const Task& task) {
    KernelCountsSummary counts{.layer = to_text(task.problem), .kernel = "cuBLAS"};
    for (const Operation& op : task.list.operations) {
      if (!is_product(op)) continue;
      ++counts.launches;
      counts.flops = checked_add(counts.flops, simt::flops_of(op.product));
    }
    return counts;
  }

  void verify() {
    for (const Task& task : tasks_) {
      verify(task, Fill::reals);
      if (task.counted || is_of_course()) continue;
      verify(task, Fill::integers);
      verify(task, Fill::one_nan);
    }
  }

  // ---- Kernels of the CPU ----

  std::unique_ptr<CpuRun> cpu_run(const CpuRun::Kernel& kernel, const Task& task, double limit_s) const {
    return std::make_unique<CpuRun>(kernel, task.problem, work_, assignment_.limits, seconds_left(limit_s), in_jail_);
  }

  /// Seconds of one call, whose output is in `y`.
  double sample(CpuRun& run, const Task& task, const Probe& probe, bool zeros, std::vector<float>& y, double limit_s) {
    if (const std::optional<double> seconds = run.sample(probe, zeros, y)) {
      if (!run.changed_input(probe)) return *seconds;
      end_at(task, Verdict::wrong, "it changed its input", "");
    }
    const JailEnd end = run.end();
    if (!task.secret) keep_log(end.printed);
    const Json answer = run.answer();
    require_end(end, answer, task, "while it ran", limit_s);
    require_no_words(answer, task);
    end_at(task, Verdict::wrong, "it ended the program", "");
  }

  void verify_on_cpu() {
    const double limit_s = assignment_.limits.verify_s;
    std::vector<float> y;
    for (const Task& task : tasks_) {
      for (const Fill fill : {Fill::reals, Fill::integers, Fill::one_nan}) {
        if (fill != Fill::reals && is_of_course()) continue;
        const std::unique_ptr<CpuRun> run = cpu_run({source_.path, library_}, task, limit_s);
        const Probe probe(task.problem, fill, judgement_.math, random_.next());
        sample(*run, task, probe, is_of_course(), y, limit_s);
        require_right(task, probe, y);
      }
    }
  }

  /// The reference's file, compiled as a submission is.
  CpuRun::Kernel reference_on_cpu() const {
    const ConvKernel& kernel = require_conv_kernel(assignment_.reference, DeviceKind::cpu);
    const fs::path file = header_root() / kernel.info.file;
    return {file, compile_kernel_file(read_kernel_source(file), Toolchain::cpu, {}).library};
  }

  void time_on_cpu() {
    constexpr size_t kFewest = 10, kMost = 300;
    constexpr double kNarrow = 0.01, kConfidence = 0.95;
    const double limit_s = assignment_.limits.timing_s;
    const CpuRun::Kernel reference = reference_on_cpu();
    std::vector<std::unique_ptr<CpuRun>> ours, theirs;
    std::vector<const Task*> layers;
    for (const Task& task : tasks_) {
      if (task.secret) continue;
      layers.push_back(&task);
      ours.push_back(cpu_run({source_.path, library_}, task, limit_s));
      theirs.push_back(cpu_run(reference, task, limit_s));
    }
    std::vector<double> ratios, seconds;
    std::vector<float> y, expected;
    Interval interval;
    while (ratios.size() < kMost && (ratios.size() < kFewest || seconds_since(stage_begin_) < limit_s / 2)) {
      double sum = 0, reference_sum = 0;
      for (size_t i = 0; i < layers.size(); ++i) {
        const Task& task = *layers[i];
        const Probe probe(task.problem, Fill::reals, judgement_.math, random_.next());
        const auto reference_runs = [&] { reference_sum += sample(*theirs[i], task, probe, true, expected, limit_s); };
        const bool first = random_.next() % 2 == 0;
        if (!first) reference_runs();
        sum += sample(*ours[i], task, probe, is_of_course(), y, limit_s);
        if (first) reference_runs();
        require_right(task, probe, y);  // every output that is timed
      }
      ratios.push_back(sum / reference_sum);
      seconds.push_back(sum);
      interval = median_interval(ratios, kConfidence);
      if (ratios.size() >= kFewest && interval.high - interval.low <= kNarrow * median(ratios)) break;
    }
    require_possible(median(seconds));
    judgement_.ratio = Ratio{median(ratios), interval.low, interval.high, static_cast<int>(ratios.size())};
  }

  /// What no machine can do, was not done.
  void require_possible(double seconds) const {
    const Ceilings ceilings = measure_ceilings(*open_device("cpu", {}));
    double flops = 0;
    for (const ConvProblem& each : assignment_.layers) flops += each.flops();
    const double least_s = flops / kMostSavedFlops / ceilings.fp32_flops;
    if (seconds >= least_s) return;
    throw Ended{
        Verdict::refused,
        fmt::format(
            "{:.3g} s for {:.3g} floating-point operations is not possible: this machine does {:.3g} a second, and no "
            "algorithm saves more than {} of {}",
            seconds, flops, ceilings.fp32_flops, kMostSavedFlops - 1, kMostSavedFlops),
        ""};
  }

  static constexpr const char* kWhatLists =
      "the judge takes a submission as a list of what it asks of the device; see docs/judge.md";
  static constexpr const char* kTryVerify = "try 'convlab verify FILE' on your own machine";
  /// Winograd's largest tiles in use do a fifth of the multiplications; transforms of large filters may save more.
  static constexpr int kMostSavedFlops = 8;
  static constexpr const char* kTryOtherShapes =
      "try shapes of your own: 'convlab verify FILE --device simt --problem n2_c3h17w17_k5r3s3'";

  const fs::path file_;
  const Assignment& assignment_;
  const std::string device_;
  const bool in_jail_;
  const std::function<void(Stage)>& entered_;
  const WorkFolder work_;
  ThreadPool threads_{usable_threads()};
  Rng random_;
  KernelSource source_;
  fs::path library_, counted_library_;
  std::vector<Task> tasks_;
  std::atomic<int> asked_ = 0;
  Clock::time_point stage_begin_;
  std::string log_;
  Judgement judgement_;
};

}  // namespace

Judgement judge_submission(const fs::path& file, const Assignment& assignment, const std::string& device,
                           const std::function<void(Stage)>& entered) {
  if (device != "simt" && device != "cpu")
    throw unavailable("nothing is judged on {} yet; known are simt and cpu", device);
  if (assignment.layers.empty()) throw bad_input("the assignment '{}' has no layers", assignment.name);
  const std::string why = why_no_jail();
  if (!why.empty() && assignment.trust == Trust::jails) {
    throw unavailable("nothing is judged without a jail, and there is none: {}", why);
  }
  return Judging(file, assignment, device, why.empty(), entered).run();
}

}  // namespace convlab::judge
