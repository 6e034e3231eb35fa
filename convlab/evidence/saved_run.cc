// Reads runs from JSON.

#include "convlab/evidence/saved_run.h"

#include <nlohmann/json.hpp>

#include "convlab/base/json.h"
#include "convlab/measure/json_members.h"
#include "convlab/measure/record.h"

namespace convlab {

SavedRun saved_run_from_json(const JsonMembers& from) {
  SavedRun run{.source = from.place()};
  from.read_if_there("command", run.command);
  from.read_if_there("lines", run.lines);
  from.read("model", run.model);
  from.read("device", run.device);
  from.read("math", run.math);
  from.read("plan", run.plan);
  from.read("images", run.images);
  from.read("max_rss_kb", run.max_rss_kb);
  from.read("threads", run.threads);
  from.read("accuracy", run.accuracy);
  from.read("network_s", run.network_s);
  from.read("load_s", run.load_s);
  from.read("total_s", run.total_s);
  from.read("user_s", run.user_s);
  from.read("system_s", run.system_s);
  from.read("waited_share", run.waited_share);
  from.objects("layers", [&](const JsonMembers& entry) {
    SavedLayer layer;
    entry.read("name", layer.name);
    entry.read("op", layer.op);
    entry.read("problem", layer.problem);
    entry.read_kernel_name("kernel", layer.kernel);
    entry.read("op_time_s", layer.op_time_s);
    entry.read("gflops", layer.gflops);
    run.layers.push_back(std::move(layer));
  });
  if (from.has("file_phases")) {
    from.objects("file_phases", [&](const JsonMembers& entry) {
      SavedFilePhases phases;
      entry.read("file", phases.file);
      entry.read("problem", phases.problem);
      entry.read("layer_s", phases.layer_s);
      entry.read("computes_in_prolog", phases.computes_in_prolog);
      run.file_phases.push_back(std::move(phases));
    });
  }
  if (from.has("machine")) run.machine = machine_from_json(from.object("machine"));
  return run;
}

SavedRun saved_run_from_text(std::string_view text, const std::string& place) {
  const nlohmann::ordered_json json = parse_json(text, place);
  return saved_run_from_json(JsonMembers(json, place));
}

}  // namespace convlab
