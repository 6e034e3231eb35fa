// What simt noticed beside what it threw, and how it is told.

#include "convlab/verify/noticed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace convlab {

Noticed take_noticed() {
  return {.call = take_simt_failed_call(), .doubtful = take_simt_notes(), .leaks = take_simt_leaks()};
}

void tell_noticed(const Noticed& noticed, bool is_explained, const Told& told) {
  auto& [outcome, reason, note, faults] = told;
  const auto& [call, doubtful, leaks] = noticed;
  if (call && call->kind == kBrokenHostArray && outcome == Outcome::passed) {
    outcome = Outcome::failed;
    reason = "the result is right here";
  }
  if (outcome == Outcome::passed) {
    if (call) {
      note = call->text;
    } else if (!doubtful.empty()) {
      note = doubtful.front().text;
    }
    if (leaks.empty()) return;
    note += fmt::format("{}it keeps device memory that it does not free: {}", note.empty() ? "" : "; ", leaks);
    return;
  }
  if (outcome != Outcome::failed) return;
  std::vector<SimtFault> causes = doubtful;
  std::erase_if(causes, [](const SimtFault& fault) { return fault.kind == kRedundantWrite; });  // it changes no result
  if (faults.empty() && !causes.empty()) {
    const std::string& first = causes.front().text;
    reason = is_explained ? fmt::format("{}; {}", reason, first) : fmt::format("{}; so {}", first, reason);
    faults = std::move(causes);
  }
  if (!call || call->kind == kHarmlessCall) return;
  const bool is_all = reason.find(call->text) != std::string::npos;  // a kernel that throws it, or a fault of the call
  reason = is_all ? call->text : fmt::format("{}; after that, {}", call->text, reason);
  const auto says_it = [&text = call->text](const SimtFault& fault) { return fault.text.starts_with(text); };
  if (std::ranges::none_of(faults, says_it)) faults.insert(faults.begin(), *call);
}

void name_elements_of(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  const Shape output = step.output_shape();
  std::vector<SimtArrayShape> shapes{{"w", "kcrs", {problem.k, problem.channels_per_group(), problem.r, problem.s}}};
  if (step.input_layout == Layout::plain && step.input == ElementType::f32) {
    shapes.push_back({"x", "nchw", {problem.n, problem.c, problem.h, problem.w}});
  }
  if (step.output_layout == Layout::plain) {
    shapes.push_back({"y", "nkpq", {output[0], output[1], output[2], output[3]}});
  }
  set_simt_array_shapes(shapes);
}

}  // namespace convlab
