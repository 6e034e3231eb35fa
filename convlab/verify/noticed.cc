// Turns what simt noticed, in addition to what it threw, into findings of a case.

#include "convlab/verify/noticed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/device/simt_launches.h"
#include "convlab/verify/diagnosis.h"

namespace convlab {

Noticed take_noticed() {
  take_simt_launches();
  return {.call = take_simt_failed_call(), .doubtful = take_simt_notes(), .leaks = take_simt_leaks()};
}

/// Turns findings about outputs into notes of the first finding, their known cause.
static void add_consequences(std::vector<Finding>& findings) {
  Finding& cause = findings.front();
  for (const Finding& each : findings) {
    if (!is_fault(each)) cause.notes.push_back("as a result, " + each.text);
  }
  std::erase_if(findings, [](const Finding& each) { return !is_fault(each); });
}

/// Returns whether a failed call and a fault are about the same array: a device variable, or an allocation whose line
/// both show.
static bool have_same_array(const Finding& call, const Finding& fault) {
  if (!call.array.empty() && call.array == fault.array) return true;
  const auto others = [](const Finding& each) { return std::span(each.labels).subspan(each.labels.empty() ? 0 : 1); };
  return call.kind == kFailedCall && std::ranges::any_of(others(call), [&](const Label& label) {
           return label.place.line != 0 &&
                  std::ranges::any_of(others(fault), [&](const Label& each) { return each.place == label.place; });
         });
}

void add_noticed(const Noticed& noticed, bool is_explained, Outcome& outcome, std::vector<Finding>& findings) {
  const std::optional<Finding>& call = noticed.call;
  const std::vector<Finding>& doubtful = noticed.doubtful;
  const std::string& leaks = noticed.leaks;
  if (call && call->kind == kBrokenHostArray) outcome = Outcome::failed;
  if (outcome == Outcome::passed) {
    if (call) findings.push_back(*call);
    findings.insert(findings.end(), doubtful.begin(), doubtful.end());
    for (Finding& each : findings) each.severity = Severity::warning;  // the output is right in spite of them
    if (!leaks.empty()) {
      findings.push_back({.severity = Severity::warning,
                          .kind = "memory leak",
                          .text = fmt::format("device memory is never freed: {}", leaks),
                          .help = "call cudaFree for each cudaMalloc"});
    }
  }
  if (outcome != Outcome::failed) return;
  const bool has_fault = std::ranges::any_of(findings, [](const Finding& each) { return !each.kernel.empty(); });
  std::vector<Finding> causes = doubtful;
  std::erase_if(causes, [](const Finding& each) { return each.kind == kRedundantWrite; });  // it changes no result
  // A barrier after which only exited threads are missing holds on GPUs: other causes are likelier.
  std::stable_partition(causes.begin(), causes.end(),
                        [](const Finding& each) { return each.kind != kDivergentBarrier; });
  for (Finding& each : causes) each.severity = Severity::error;
  // Zeros of a variable that the host never set explain any output.
  is_explained &= std::ranges::count(causes, kUnsetConstant, &Finding::kind) == 0;
  if (!has_fault) findings.insert(is_explained ? findings.end() : findings.begin(), causes.begin(), causes.end());
  if (!has_fault && !is_explained && !causes.empty()) add_consequences(findings);
  if (!call || call->kind == kHarmlessCall) return;
  // Drop duplicates of the failed call: a kernel that throws reports it, too, and so may a finding about the copy's
  // direction.
  std::erase_if(findings, [&](const Finding& each) {
    return in_one_line(each) == in_one_line(*call) || each.text == in_one_line(*call);
  });
  findings.insert(findings.begin(), *call);
  add_consequences(findings);
  std::erase_if(findings, [&](const Finding& each) {
    const bool follows = &each != &findings.front() && have_same_array(*call, each);
    if (follows) findings.front().notes.push_back("as a result, " + each.text);
    return follows;
  });
}

std::vector<Finding> findings_of_exception() {
  if (std::vector<Finding> faults = simt_faults(); !faults.empty()) return faults;
  try {
    throw;
  } catch (const FindingError& error) {
    return error.findings();
  } catch (...) {
    return {{.kind = "failure", .text = message_of_exception()}};
  }
}

bool is_fault(const Finding& finding) {
  constexpr std::array<std::string_view, 7> kOthers{
      "abnormal end",      kWrongOutput, kUnwrittenOutput, "state between launches",
      "different results", "failure",    "memory leak"};
  return std::ranges::count(kOthers, finding.kind) == 0;
}

std::string reason_of(const std::vector<Finding>& findings) {
  const auto is_error = [](const Finding& each) { return each.severity == Severity::error; };
  const auto first = std::ranges::find_if(findings, is_error);
  if (first == findings.end()) return "";
  const auto others = std::ranges::count_if(findings, is_error) - 1;
  std::string text = message_of(*first);
  if (others > 0) text += fmt::format("; {} more finding{}", others, others == 1 ? "" : "s");
  return text;
}

/// Returns a failed case; findings about outputs get `check` as a note.
static CaseResult failed_case(std::vector<Finding> findings, const std::string& check) {
  for (Finding& each : findings) {
    if (!check.empty() && !is_fault(each)) each.notes.push_back(check);
  }
  std::string reason = reason_of(findings);
  return {.outcome = Outcome::failed, .reason = std::move(reason), .findings = std::move(findings)};
}

CaseResult verified_case(const std::function<void()>& allocate,
                         const std::function<double(std::string& name)>& checks) {
  try {
    allocate();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unavailable) return failed_case(findings_of_exception(), "");
    return {Outcome::skipped, error.what()};
  } catch (...) {
    return failed_case(findings_of_exception(), "in the calls that return the kernel's memory sizes");
  }
  take_noticed();
  CaseResult result{Outcome::passed, ""};
  std::string check;
  try {
    result.relative_l2 = checks(check);
  } catch (...) {
    result = failed_case(findings_of_exception(), check);
  }
  add_noticed(take_noticed(), true, result.outcome, result.findings);
  if (result.outcome == Outcome::failed) result.reason = reason_of(result.findings);
  return result;
}

void require_host_memory(double bytes, const std::function<std::string()>& text, const char* smaller) {
  const auto usable = static_cast<double>(usable_memory_bytes());
  if (bytes > usable) {
    throw bad_input("verifying {} needs about {:.1f} GiB of memory, {:.1f} GiB are available; use a smaller {}", text(),
                    bytes / 0x1p30, usable / 0x1p30, smaller);
  }
}

void require_same_bits(std::span<const float> first, std::span<const float> second) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (std::bit_cast<uint32_t>(first[i]) == std::bit_cast<uint32_t>(second[i])) continue;
    throw FindingError(ErrorKind::wrong_result,
                       {.kind = "different results",
                        .text = "a second launch with the same input returns other bits",
                        .notes = {fmt::format("first at y[{}]: {:.9g}, then {:.9g}", i, first[i], second[i])},
                        .help = "possibly threads add in a different order, or read memory that was never written"});
  }
}

void name_elements_of(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  const Shape output = step.output_shape();
  std::vector<SimtArrayShape> shapes{
      {"w", {"filter", "channel", "row", "column"}, {problem.k, problem.channels_per_group(), problem.r, problem.s}}};
  if (step.input_format.order == Order::nchw && step.input_format != kRawPixels) {
    shapes.push_back({"x", {"image", "channel", "row", "column"}, {problem.n, problem.c, problem.h, problem.w}});
  }
  if (step.output_format.order == Order::nchw) {
    shapes.push_back({"y", {"image", "output channel", "row", "column"}, {output[0], output[1], output[2], output[3]}});
  }
  set_simt_array_shapes(shapes);
}

}  // namespace convlab
