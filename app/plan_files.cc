// Implements --plan-file: applies a plan that `convlab tune` wrote.

#include "app/plan_files.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/measure/machine.h"
#include "convlab/plan/plan_file.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostBytes = int64_t{16} << 20;

/// Checks that a plan file is for this run.
class Header {
 public:
  Header(const std::string& place, const std::string& text) : place_(place), text_(text) {}

  /// Returns the line of a key in the file: "plan.txt: line 7".
  std::string at(std::string_view key) const { return fmt::format("{}: line {}", place_, header_line(text_, key)); }

  /// Throws Error(bad_input) unless both are equal. `advice`: what to do about it.
  template <class T>
  void require_same(std::string_view key, std::string_view what, const T& wanted, const T& there,
                    std::string_view advice) const {
    if (wanted == there) return;
    throw bad_input("{}: plan is for {} {}, but this run has {}; {}", at(key), what, wanted, there, advice);
  }

 private:
  const std::string &place_, &text_;
};

}  // namespace

void add_plan_file(CLI::App& options, ComputeOptions& compute) {
  add_text(options, "--plan-file", compute.plan_file, "FILE",
           "plan that 'convlab tune' wrote; use its kernels without searching");
}

void replay_plan_file(const ComputeOptions& compute, const Graph& graph, const DeviceCaps& caps,
                      EngineOptions& options) {
  const std::string& place = compute.plan_file;
  if (place.empty()) return;
  if (compute.kernel != "auto")
    throw bad_input("--plan-file {} and --kernel {} cannot be combined", place, compute.kernel);
  const std::string text = read_text(place, kMostBytes);
  PlanFile file = parse_plan_file(text, place);
  const Header header(place, text);
  const std::string_view again = "tune again";
  header.require_same("version", "convlab version", file.version, this_build().version, again);
  if (file.fingerprint != fingerprint_of(graph)) {
    throw bad_input("{}: plan is for a different model, '{}', not for this {}; tune again", header.at("fingerprint"),
                    file.model, graph.name);
  }
  header.require_same("device", "device", name_of(file.device), name_of(caps.kind),
                      fmt::format("use --device {} or tune again", name_of(file.device)));
  header.require_same("processor", "processor", file.processor, processor_of(caps), again);
  header.require_same("threads", "--threads", file.threads, caps.threads,
                      fmt::format("use --threads {} or tune again", file.threads));
  header.require_same("math", "--math", name_of(file.math), name_of(options.plan.math),
                      fmt::format("use --math {} or tune again", name_of(file.math)));
  header.require_same("mode", "--plan", name_of(file.mode), name_of(options.plan.mode),
                      fmt::format("tune again with --plan {}", name_of(options.plan.mode)));
  header.require_same("input", "input type", name_of(file.input), name_of(options.plan.input),
                      file.input == ElementType::u8 ? "tune again without --bytes" : "tune again with --bytes");
  if (options.batch > 0) {
    header.require_same("batch", "--batch", file.batch, options.batch, "omit --batch or tune again");
  }
  options.batch = file.batch;
  options.plan.choices = std::make_shared<const PlanChoices>(std::move(file.choices));
}

}  // namespace convlab::app
