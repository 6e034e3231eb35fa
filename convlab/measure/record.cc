// Reads and writes Records and ceilings as JSON.

#include "convlab/measure/record.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/measure/json_members.h"

namespace convlab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::filesystem::path& path) { return parse_json(read_text(path), path.string()); }

Summary read_summary(const JsonMembers& reader, const char* name) {
  const JsonMembers from = reader.object(name);
  Summary summary;
  from.read("median", summary.median);
  from.read("min", summary.min);
  from.read("p95", summary.p95);
  from.read("samples", summary.samples);
  return summary;
}

Ceilings ceilings_from(const JsonMembers& from) {
  Ceilings ceilings;
  const JsonMembers gflops = from.object("gflops");
  const auto scaled = [](const JsonMembers& reader, const char* name, double unit, double& value) {
    if (!reader.has(name)) return;
    reader.read(name, value);
    value *= unit;
  };
  scaled(gflops, "fp32", 1e9, ceilings.fp32_flops);
  scaled(gflops, "tf32", 1e9, ceilings.tf32_flops);
  scaled(gflops, "fp16", 1e9, ceilings.fp16_flops);
  scaled(gflops, "bf16", 1e9, ceilings.bf16_flops);
  scaled(from, "memory_gbps", 1e9, ceilings.memory_bytes);
  scaled(from, "cache_gbps", 1e9, ceilings.cache_bytes);
  scaled(from, "upload_gbps", 1e9, ceilings.upload_bytes);
  double bytes = 0;
  scaled(from, "cache_mib", 0x1p20, bytes);
  if (!(bytes >= 0 && bytes < 0x1p62)) throw bad_input("{}: 'cache_mib' is not a valid cache size", from.place());
  ceilings.cache_size = static_cast<int64_t>(bytes);
  return ceilings;
}

MachineState read_state(const JsonMembers& from) {
  MachineState state;
  from.read("clock_mhz", state.clock_mhz);
  from.read("memory_clock_mhz", state.memory_clock_mhz);
  from.read("temperature_c", state.temperature_c);
  from.read("power_w", state.power_w);
  from.read("load", state.load);
  from.read_if_there("throttle", state.throttle);
  return state;
}

}  // namespace

Json to_json(const Summary& summary) {
  // Rounds to nanoseconds: no clock here is finer, and people read the files, too.
  const auto rounded = [](double milliseconds) { return std::round(milliseconds * 1e6) * 1e-6; };
  Json samples = Json::array();
  for (const double sample : summary.samples) samples.push_back(rounded(sample));
  return {{"median", rounded(summary.median)},
          {"min", rounded(summary.min)},
          {"p95", rounded(summary.p95)},
          {"samples", std::move(samples)}};
}

Json to_json(const Ceilings& ceilings) {
  Json gflops{{"fp32", ceilings.fp32_flops * 1e-9}};
  if (ceilings.tf32_flops > 0) gflops["tf32"] = ceilings.tf32_flops * 1e-9;
  if (ceilings.fp16_flops > 0) gflops["fp16"] = ceilings.fp16_flops * 1e-9;
  if (ceilings.bf16_flops > 0) gflops["bf16"] = ceilings.bf16_flops * 1e-9;
  Json json{{"memory_gbps", ceilings.memory_bytes * 1e-9},
            {"cache_gbps", ceilings.cache_bytes * 1e-9},
            {"cache_mib", static_cast<double>(ceilings.cache_size) * 0x1p-20}};
  if (ceilings.upload_bytes > 0) json["upload_gbps"] = ceilings.upload_bytes * 1e-9;
  json["gflops"] = gflops;
  return json;
}

Json to_json(const Machine& machine) {
  return {{"device", machine.device},
          {"cpu", machine.cpu},
          {"threads", machine.threads},
          {"system", machine.system},
          {"driver", machine.driver}};
}

Json to_json(const Build& build) {
  return {{"version", build.version}, {"compiler", build.compiler}, {"cuda", build.cuda}, {"type", build.type}};
}

Json to_json(const MachineState& state) {
  Json json = Json::object();
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("clock_mhz", state.clock_mhz);
  add("memory_clock_mhz", state.memory_clock_mhz);
  add("temperature_c", state.temperature_c);
  add("power_w", state.power_w);
  add("load", state.load);
  if (!state.throttle.empty()) json["throttle"] = state.throttle;
  return json;
}

Json to_json(const Record& record) {
  Json json{{"kernel", record.kernel},
            {"problem", record.problem},
            {"device", name_of(record.device)},
            {"math", record.math},
            {"rung", record.rung}};
  if (!record.epilogue.empty()) json["epilogue"] = record.epilogue;
  if (!record.layout.empty()) json["layout"] = record.layout;
  if (!record.tuning.empty()) json["tuning"] = record.tuning;
  if (!record.choice.empty()) json["choice"] = record.choice;
  json["cold_ms"] = to_json(record.cold_ms);
  json["hot_ms"] = to_json(record.hot_ms);
  if (record.graph_ms) {
    json["graph_ms"] = to_json(*record.graph_ms);
    json["graph"] = record.graph;
  }
  json["op_ms"] = to_json(record.op_ms);
  json["prepare_ms"] = record.prepare_ms;
  if (record.layer_ms) {
    json["layer_ms"] = to_json(*record.layer_ms);
    json["computes_in_prolog"] = record.computes_in_prolog;
  }
  json["gflops"] = record.gflops;
  json["gbps"] = record.gbps;
  json["bound_ms"] = record.bound_ms;
  json["share"] = record.share;
  json["limit"] = record.limit;
  json["ceilings"] = to_json(record.ceilings);
  json["machine"] = to_json(record.machine);
  json["build"] = to_json(record.build);
  json["state"] = {{"before", to_json(record.before)}, {"after", to_json(record.after)}};
  if (record.waited_share) json["waited_share"] = *record.waited_share;
  json["when"] = record.when;
  return json;
}

Machine machine_from_json(const JsonMembers& from) {
  Machine machine;
  from.read("device", machine.device);
  from.read("cpu", machine.cpu);
  from.read("threads", machine.threads);
  from.read("system", machine.system);
  from.read("driver", machine.driver);
  return machine;
}

Record record_from_json(const Json& json, const std::string& place) {
  const JsonMembers from(json, place);
  Record record;
  from.read_kernel_name("kernel", record.kernel);
  from.read("problem", record.problem);
  record.device = from.choice("device", {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::simt});
  from.read("math", record.math);
  from.read("rung", record.rung);
  from.read_if_there("epilogue", record.epilogue);
  from.read_if_there("layout", record.layout);
  from.read_if_there("tuning", record.tuning);
  from.read_if_there("choice", record.choice);
  record.cold_ms = read_summary(from, "cold_ms");
  record.hot_ms = read_summary(from, "hot_ms");
  if (from.has("graph_ms")) record.graph_ms = read_summary(from, "graph_ms");
  from.read_if_there("graph", record.graph);
  record.op_ms = read_summary(from, "op_ms");
  from.read("prepare_ms", record.prepare_ms);
  if (from.has("layer_ms")) record.layer_ms = read_summary(from, "layer_ms");
  from.read_if_there("computes_in_prolog", record.computes_in_prolog);
  from.read("gflops", record.gflops);
  from.read("gbps", record.gbps);
  from.read("bound_ms", record.bound_ms);
  from.read("share", record.share);
  from.read("limit", record.limit);
  record.ceilings = ceilings_from(from.object("ceilings"));
  const JsonMembers build = from.object("build"), state = from.object("state");
  record.machine = machine_from_json(from.object("machine"));
  build.read("version", record.build.version);
  build.read("compiler", record.build.compiler);
  build.read("cuda", record.build.cuda);
  build.read("type", record.build.type);
  record.before = read_state(state.object("before"));
  record.after = read_state(state.object("after"));
  from.read("waited_share", record.waited_share);
  from.read("when", record.when);
  return record;
}

std::vector<Record> read_records(const std::string& path) {
  const Json json = json_of(path);
  if (!json.is_array()) throw bad_input("{}: expected an array of Records, as 'convlab bench --json' writes", path);
  std::vector<Record> records;
  for (size_t i = 0; i < json.size(); ++i) {
    records.push_back(record_from_json(json[i], fmt::format("{}, entry {}", path, i)));
  }
  return records;
}

Ceilings read_ceilings(const std::filesystem::path& path) {
  const Json json = json_of(path);
  return ceilings_from(JsonMembers(json, path.string()));
}

void write_ceilings(const std::filesystem::path& path, const Ceilings& ceilings) {
  write_file(path, json_text(to_json(ceilings), 2) + "\n");
}

}  // namespace convlab
