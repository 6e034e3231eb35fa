// Times a whole `convlab run` in a child process: the child reports its stages, and this process sees its start and
// end.

#include "app/runs/whole_run.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/child.h"
#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/base/json.h"
#include "convlab/base/text.h"

namespace convlab::app {
namespace {

DeviceKind device_named(const std::string& name) {
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::simt}) {
    if (name == name_of(kind)) return kind;
  }
  return DeviceKind::cpu;
}

/// Throws the run's Error, if it ended with one.
void require_success(const ChildRun& run) {
  if (run.status == 0) return;
  const bool known = run.status <= static_cast<int>(ErrorKind::unavailable);
  constexpr std::string_view kPrefix = "convlab: error: ";
  std::string message;
  for (const std::string& line : split(run.complaint, '\n')) {  // notes may precede it
    if (message.empty() && line.find("error: ") != std::string::npos) message = line;
  }
  if (message.starts_with(kPrefix)) message = message.substr(kPrefix.size());
  if (message.empty()) message = fmt::format("timing a whole run: failed with status {}", run.status);
  throw Error(known ? static_cast<ErrorKind>(run.status) : ErrorKind::bad_input, message);
}

}  // namespace

WholeRun time_whole_run(const RunOptions& options) {
  std::vector<std::string> arguments = run_command(options);
  arguments.insert(arguments.end(), {"--json", "-"});
  const ChildRun child = run_child(std::move(arguments));
  require_success(child);

  const Json json = parse_json(child.output, "convlab run");
  const Json& stages = json.at("stages");
  WholeRun run{.device = device_named(json.at("device")),
               .main_s = stages.at("began_monotonic_s").get<double>() - child.begin_s,
               .done_s = stages.at("told_monotonic_s").get<double>() - child.begin_s,
               .ended_s = child.usage.elapsed_s,
               .json_s = stages.at("json_s").get<double>()};
  for (const Json& each : json.at("layers")) run.layers_s += each.at("op_time_s").get<double>();
  for (const Json& each : stages.at("times")) {
    const std::optional<Stage> stage = find_stage(each.at("name").get<std::string>());
    if (stage) run.stages.push_back({*stage, each.at("s").get<double>()});
  }
  return run;
}

}  // namespace convlab::app
