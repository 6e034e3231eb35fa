// Runs the stages of a judgment: compiling, recording, verifying and timing.

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/diagnostics/text_form.h"
#include "convlab/judge/gpu_replay.h"
#include "convlab/judge/hidden_shapes.h"
#include "convlab/judge/jail_program.h"
#include "convlab/judge/jailed_compiler.h"
#include "convlab/judge/judging.h"
#include "convlab/judge/reported_finding.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

/// Returns a file name without characters that are special in a shell, a web page or a message.
std::string plain_name(const fs::path& file) {
  std::string name = file.filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
  }
  return has_source_suffix(name) && name.size() < 100 && !name.starts_with('.') ? name : "kernel.cu";
}

/// Returns lines that are safe to show in a terminal or on a web page.
std::string shown(std::string_view text, size_t most) {
  std::string result;
  for (const std::string& line : split(text.substr(0, most), '\n')) result += printable(line) + "\n";
  while (result.ends_with("\n\n") || result == "\n") result.pop_back();
  return result;
}

/// Returns the number in "cuda:1", and 0 for other devices.
int gpu_in(const std::string& device) {
  constexpr std::string_view kNumbered = "cuda:";
  constexpr int64_t kMost = 255;
  return device.starts_with(kNumbered)
             ? static_cast<int>(parse_int(device.substr(kNumbered.size()), "GPU number", 0, kMost))
             : 0;
}

/// Runs `work` and then `end`, also if `work` ends the judgment.
template <class End>
void run_then(const std::function<void()>& work, const End& end) {
  try {
    work();
  } catch (const Ended&) {
    end();
    throw;
  }
  end();
}

}  // namespace

Judging::Judging(const fs::path& file, const Assignment& assignment, const std::string& device, bool in_jail,
                 const std::function<void(Stage)>& entered)
    : file_(file),
      assignment_(assignment),
      device_(device),
      in_jail_(in_jail),
      entered_(entered),
      gpu_(gpu_in(device)),
      random_(assignment.nonce.empty() ? new_key() : parse_key(assignment.nonce)) {
  judgement_.nonce = to_text(random_.key());
}

void Judging::stage(Stage stage, const std::function<void()>& work) {
  if (entered_) entered_(stage);
  stage_begin_ = Clock::now();
  judgement_.failed_at = stage;
  StageLog& log = judgement_.stages.emplace_back();
  log.stage = stage;
  const auto finish = [&] {
    StageLog& last = judgement_.stages.back();
    last.seconds = seconds_since(stage_begin_) - std::exchange(hidden_s_, 0);
    last.log = work_.without_path(shown(log_, static_cast<size_t>(assignment_.limits.output_bytes)));
    log_.clear();
  };
  run_then(work, finish);
  judgement_.failed_at = Stage::done;
}

Judgement Judging::run() {
  judgement_.verdict = Verdict::passed;
  try {
    stage(Stage::compiling, [&] { compile(); });
    make_tasks();
    if (device_ == "cpu") {
      stage(Stage::verifying, [&] { verify_on_cpu(); });
      stage(Stage::timing, [&] { time_on_cpu(); });
    } else {
      stage(Stage::recording, [&] { record(); });
      if (device_ == "simt") {
        stage(Stage::verifying, [&] { verify(); });
      } else {
        stage(Stage::verifying, [&] { verify_on_gpu(); });
        stage(Stage::timing, [&] { time_on_gpu(); });
      }
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

void Judging::keep_log(const std::string& printed) {
  const auto most = static_cast<size_t>(assignment_.limits.output_bytes);
  log_ += printed.substr(0, most - std::min(most, log_.size()));
}

void Judging::hidden_if_secret(const Task& task, const std::function<void()>& work) {
  if (!task.secret) return work();
  const Clock::time_point begin = Clock::now();
  run_then(work, [&] { hidden_s_ += seconds_since(begin); });
}

fs::path Judging::compiled(Toolchain toolchain, const std::string& folder, CompileOptions options,
                           std::string& complaints) {
  std::atomic<bool> late = false;
  options.limit_s = assignment_.limits.compile_s;
  options.folder = work_.folder(folder);
  options.runner = jailed_compiler(source_, assignment_.limits, in_jail_, late);
  try {
    CompiledFile file = compile_kernel_file(source_, toolchain, options);
    complaints = std::move(file.complaints);
    return file.library;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    if (late) {
      throw Ended{Verdict::timed_out,
                  fmt::format("the compiler did not finish within {:g} s", assignment_.limits.compile_s),
                  "remove code that is slow to compile, for example recursive templates or heavily unrolled loops"};
    }
    throw Ended{Verdict::not_compiled, compiler_errors(error), kTryVerify};
  }
}

std::string Judging::compiler_errors(const Error& error) const {
  const auto* const found = dynamic_cast<const FindingError*>(&error);
  if (found == nullptr || found->findings().empty()) return error.what();
  Finding first = found->findings().front();
  restrict_to(source_.path, first);  // a submission may have a #line directive
  if (const size_t more = found->findings().size() - 1; more > 0) {
    first.notes.push_back(fmt::format("{} more error{}, possibly because of this one", more, more == 1 ? "" : "s"));
  }
  return text_of(std::move(first));
}

void Judging::try_to_read() {
  const double most_s = std::min(assignment_.limits.compile_s, 10.0);
  JailEnd end;
  const Json answer = ask("read", {{"source", source_.path.string()}}, {source_.path}, {}, most_s, end);
  if (end.how == JailEnd::How::out_of_time) {
    throw Ended{Verdict::timed_out, fmt::format("reading the file takes longer than {:g} s", most_s),
                "remove code that is nested or repeated thousands of times"};
  }
  if (answer.empty()) {
    throw Ended{Verdict::not_compiled, fmt::format("cannot read the file: {}", describe(end, most_s)), kTryVerify};
  }
}

void Judging::refuse_foreign_includes() const {
  for (const Token& token : tokens_of(source_.text)) {
    if (token.kind != Token::Kind::directive) continue;
    const std::optional<std::string_view> name = included_header(token.text);
    if (name && (name->starts_with('/') || name->find("..") != std::string_view::npos)) {
      throw Ended{Verdict::forbidden,
                  fmt::format("line {} includes {}; only system headers can be included", token.line, printable(*name)),
                  "a submission is a single file; put all of your code in it"};
    }
  }
}

bool Judging::uses_cublas() const {
  return std::ranges::any_of(tokens_of(source_.text), [](const Token& token) {
    return token.kind != Token::Kind::literal && token.text.find("cublas") != std::string_view::npos;
  });
}

void Judging::compile() {
  const fs::path path = work_.folder("source") / plain_name(file_);
  constexpr int64_t kMostBytes = 1 << 20;
  std::string text;
  try {
    text = read_text(file_, kMostBytes);
    write_file(path, text);
    source_.path = path;
    source_.text = text;
    try_to_read();
    refuse_foreign_includes();
    source_ = read_kernel_source(path);
  } catch (const Error& error) {
    throw Ended{Verdict::not_compiled, error.what(), "'convlab new KIND -o FILE' writes a starter file"};
  }
  const bool for_cpu = device_ == "cpu";
  if (source_.cuda == for_cpu) {
    throw Ended{Verdict::refused,
                fmt::format("this kernel is for {}, but the assignment runs on {}", for_cpu ? "GPUs" : "CPUs", device_),
                ""};
  }
  if (uses_cublas() && !assignment_.libraries_allowed) {
    throw Ended{Verdict::forbidden, kForbiddenLibrary, kComputeInKernels};
  }
  std::string complaints, other_complaints;
  if (for_cpu) {
    library_ = compiled(Toolchain::cpu, "checked", {}, complaints);
    return keep_log(complaints);
  }
  auto other = std::async(std::launch::async, [&] {
    return device_ == "simt" ? compiled(Toolchain::simt, "counted", {.counted = true}, other_complaints)
                             : compiled(Toolchain::nvcc, "gpu", machine_code(), other_complaints);
  });
  library_ = compiled(Toolchain::simt, "checked", {}, complaints);
  (device_ == "simt" ? counted_library_ : cubin_) = other.get();
  keep_log(device_ == "simt" ? complaints : other_complaints);
}

CompileOptions Judging::machine_code() const {
  return {.compute_capability = compute_capability_of(gpu_), .output = CompilerOutput::machine_code};
}

Json Judging::ask(const std::string& work, Json request, std::vector<fs::path> shown, std::vector<fs::path> writable,
                  double limit_s, JailEnd& end) {
  const std::string name = fmt::format("{}-{}", work, asked_++);
  const fs::path answer = work_.empty_file(name + ".answer"), path = work_ / (name + ".json");
  request["answer"] = answer.string();
  request["processes"] = in_jail_ ? assignment_.limits.processes : 0;
  write_file(path, json_text(request, -1));
  shown.insert(shown.end(), jail_program().begin(), jail_program().end());
  shown.push_back(path);
  writable.push_back(answer);
  std::error_code error;
  Json json = Json::object();
  end = run_in_jail({.command = {jail_program().front().string(), work, path.string()},
                     .shown = std::move(shown),
                     .writable = writable,
                     .limit_s = limit_s,
                     .memory_bytes = assignment_.limits.memory_bytes,
                     .file_bytes = kMostFileBytes,
                     .output_bytes = assignment_.limits.output_bytes},
                    in_jail_);
  try {
    json = parse_foreign_json(read_text(answer, kMostAnswerBytes), "answer", {});
  } catch (const Error&) {  // a submission that took over the process may have written anything
  }
  fs::remove(answer, error);
  fs::remove(path, error);
  return json;
}

fs::path Judging::written(const std::string& name, const std::string& bytes) {
  fs::path path = work_ / fmt::format("{}-{}", name, asked_++);
  write_file(path, bytes);
  return path;
}

fs::path Judging::written_inputs(const Probe& probe) {
  std::string bytes(static_cast<const char*>(probe.x.raw()), probe.x.bytes());
  bytes.append(static_cast<const char*>(probe.w.raw()), probe.w.bytes());
  return written("inputs", bytes);
}

fs::path Judging::written_list(const LaunchList& list) { return written("list", list_text(list)); }

std::string Judging::text_in(const Json& json, const char* name) {
  const auto at = json.find(name);
  constexpr size_t kMost = 1000;
  if (at == json.end() || !at->is_string()) return "";
  std::string text;
  for (const std::string& line : split(at->get<std::string>().substr(0, kMost), '\n')) {
    if (!line.empty()) text += (text.empty() ? "" : "; ") + printable(line);
  }
  return fmt::format("the submission's process reports: '{}'", text);
}

void Judging::end_at(const Task& task, Verdict verdict, const std::string& why, const char* what_to_do) {
  if (!task.secret) throw Ended{verdict, fmt::format("{}: {}", to_text(task.problem), why), what_to_do};
  throw Ended{Verdict::wrong,
              "the submission fails on a hidden shape: y is wrong, or it is refused, forbidden or too slow there",
              kTryOtherShapes};
}

void Judging::end_at(const Task& task, Finding finding) const {
  if (task.secret) end_at(task, Verdict::wrong, finding.text, "");
  finding.notes.insert(finding.notes.begin(), "layer " + to_text(task.problem));
  throw Ended{Verdict::wrong, text_of(std::move(finding)), kTryVerify};
}

std::string Judging::text_of(Finding finding) const {
  constexpr int kColumns = 90;
  if (finding.labels.empty()) finding.labels.push_back({.place = {.file = source_.path.string()}});
  SourceLines lines;
  std::string text = text_form(std::move(finding), lines, {.width = kColumns});
  text.pop_back();  // the last line's end
  return text;
}

void Judging::require_end(const JailEnd& end, const Json& answer, const Task& task, const char* when, double limit_s) {
  const std::string why = fmt::format("{}: {}", when, describe(end, limit_s));
  switch (end.how) {
    case JailEnd::How::exited:
      if (answer.empty())
        end_at(task, Verdict::wrong, why, "a submission must return after computing y; it must not end the process");
      return;
    case JailEnd::How::crashed:
      end_at(task, Verdict::wrong, why, kTryVerify);
    case JailEnd::How::forbidden:
      end_at(task, Verdict::forbidden, why, "a submission may only compute y");
    case JailEnd::How::out_of_time:
      end_at(task, Verdict::timed_out, why, "");
  }
}

Judging::Recording Judging::recorded(const Compiled& file, const Task& task, bool keeps_log) {
  const double most_s = assignment_.limits.record_s,
               limit_s =
                   task.secret ? std::min(most_s, seconds_left(assignment_.limits.verify_s)) : seconds_left(most_s);
  JailEnd end;
  const fs::path list = work_.empty_file(fmt::format("record-{}.list", asked_++));
  const Json answer = ask("record",
                          {{"source", file.source.string()},
                           {"library", file.library.string()},
                           {"problem", to_text(task.problem)},
                           {"list", list.string()}},
                          {file.source, file.library}, {list}, limit_s, end);
  if (keeps_log) keep_log(end.printed);
  require_end(end, answer, task, "during recording", most_s);
  if (answer.contains("recorded")) {
    try {
      return {read_list(read_text(list, kMostListBytes), task.problem, assignment_.limits.memory_bytes),
              reported_finding(answer, file.source)};
    } catch (const Error& error) {
      end_at(task, Verdict::refused, printable(error.what()), kWhatLists);
    }
  }
  if (const std::string why = text_in(answer, "refused"); !why.empty()) {
    end_at(task, Verdict::refused, "recording failed; " + why, kWhatLists);
  }
  require_no_words(answer, task);
  end_at(task, Verdict::refused, "the submission's process returned an invalid answer", kWhatLists);
}

void Judging::require_no_words(const Json& answer, const Task& task) {
  if (const std::string why = text_in(answer, "misfit"); !why.empty()) {
    end_at(task, Verdict::refused, "the kernel does not support this problem; " + why, "");
  }
  if (answer.contains("threw"))
    end_at(task, Verdict::wrong, "an exception was thrown; " + text_in(answer, "threw"), "");
}

void Judging::make_tasks() {
  constexpr int64_t kMostVerified = 4;  // images; larger batches are only timed
  for (const ConvProblem& each : assignment_.layers) {
    tasks_.push_back({.problem = each});
    if (is_gpu()) tasks_.back().problem.n = std::min(each.n, kMostVerified);
  }
  // Hidden shapes are drawn for this judgment alone, so learning them does not help with the next one.
  std::vector<ConvProblem> secret = hidden_shapes(assignment_.layers, random_);
  secret.insert(secret.end(), assignment_.secret.begin(), assignment_.secret.end());
  for (const ConvProblem& each : secret) tasks_.push_back({.problem = each, .secret = true});
  for (const ConvProblem& each : assignment_.layers) {
    if (is_gpu()) tasks_.push_back({.problem = each, .timed = true});
    if (device_ != "simt") continue;
    tasks_.push_back({.problem = each, .counted = true});
    tasks_.back().problem.n = 1;
  }
}

void Judging::record(Task& task) {
  auto second = std::async(std::launch::async, [&] { return recorded(submission(), task, false).list; });
  Recording recording = recorded(submission(), task, !task.secret);
  const LaunchList& list = recording.list;
  if (std::ranges::any_of(list.operations, is_product) && !assignment_.libraries_allowed) {
    end_at(task, Verdict::forbidden, kForbiddenLibrary, kComputeInKernels);
  }
  if (const std::string why = difference(list, second.get()); !why.empty()) {
    end_at(task, Verdict::refused, "two recordings with different data and addresses do not match: " + why,
           "launches and their arguments may depend only on the shape");
  }
  task.list = written_list(list);
  task.products = products_of(task.problem, list);
  task.cause = recording.failed_call ? std::move(recording.failed_call) : missing_work(list);
}

void Judging::record() {
  for (Task& task : tasks_) {
    if (!task.secret) record(task);
  }
}

std::vector<Fill> Judging::fills_of(const Task& task) const {
  if (task.counted) return {Fill::reals};
  constexpr int64_t kMostRawChannels = 3;  // with up to 3 channels, Fill::reals are raw pixels: unsigned integers
  std::vector<Fill> fills;
  const bool raw = task.problem.c <= kMostRawChannels;
  if (!raw || !task.secret) fills.push_back(Fill::reals);
  if (raw) fills.push_back(Fill::signed_reals);
  fills.push_back(Fill::integers);
  if (!is_of_course()) fills.push_back(Fill::one_nan);
  return fills;
}

void Judging::require_right(const Task& task, const Probe& probe, std::span<const float> got) {
  constexpr double kToleranceOfFloat = 1e-4, kToleranceOfHalf = 2e-2;
  const double tolerance = !is_of_course() ? 0 : source_.half || source_.tf32 ? kToleranceOfHalf : kToleranceOfFloat;
  const Checked checked = check_output(probe, got, tolerance, threads_);
  if (!checked.right) {
    Finding finding = task.cause.value_or(checked.wrong);
    if (task.cause) finding.notes.push_back("as a result, " + checked.wrong.text);
    end_at(task, std::move(finding));
  }
  // tf32 and fp16 both keep 11 significant bits; the file's text decides.
  const Math math = checked.math == Math::tf32 && source_.half ? Math::fp16 : checked.math;
  judgement_.math = std::max(judgement_.math, math);
}

void Judging::keep_times(const RatioSampling& sampling, const std::vector<const Task*>& layers,
                         const std::vector<double>& bounds_s) {
  judgement_.ratio = sampling.ratio();
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerTime time = sampling.time_of(i);
    time.layer = to_text(layers[i]->problem);
    time.bound_s = bounds_s.at(i);
    judgement_.times.push_back(std::move(time));
  }
}

double Judging::seconds_left(double limit_s) const {
  constexpr double kLeastSeconds = 1;
  return std::max(limit_s - seconds_since(stage_begin_), kLeastSeconds);
}

Judgement judge_submission(const fs::path& file, const Assignment& assignment, const std::string& device,
                           const std::function<void(Stage)>& entered) {
  if (device != "simt" && device != "cpu" && device != "cuda" && !device.starts_with("cuda:")) {
    throw bad_input("judging on '{}' is not supported; expected simt, cpu, cuda or cuda:N", device);
  }
  if (device.starts_with("cuda")) compute_capability_of(gpu_in(device));
  if (assignment.layers.empty()) throw bad_input("assignment '{}' has no layers", assignment.name);
  const std::string why = why_no_jail();
  if (!why.empty() && assignment.trust == Trust::jails) {
    throw unavailable("cannot judge without a jail: {}", why);
  }
  return Judging(file, assignment, device, why.empty(), entered).run();
}

}  // namespace convlab::judge
