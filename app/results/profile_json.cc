// Writes the results of `convlab profile` as JSON. Times are in seconds.

#include "app/results/profile_json.h"

#include <nlohmann/json.hpp>

#include "convlab/base/json.h"
#include "convlab/profile/chrome_trace.h"
#include "convlab/profile/gpu_time.h"

namespace convlab::app {
namespace {

double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

Json to_json(const std::vector<TotalsRow>& rows) {
  Json json = Json::array();
  for (const TotalsRow& row : rows) {
    Json parts = Json::array();
    for (const auto& [part, time] : row.parts_ns) parts.push_back({{"name", part}, {"time_s", seconds(time)}});
    json.push_back({{"name", row.name},
                    {"share", row.share},
                    {"time_s", seconds(row.total_ns)},
                    {"calls", row.calls},
                    {"avg_s", seconds(row.average_ns())},
                    {"min_s", seconds(row.min_ns)},
                    {"max_s", seconds(row.max_ns)},
                    {"parts", std::move(parts)}});
  }
  return json;
}

Json names_of(const std::vector<TotalsRow>& rows) {
  Json names = Json::array();
  for (const TotalsRow& row : rows) names.push_back(row.name);
  return names;
}

Json to_json(const ProfileTotals& summary) {
  return {{"activities", to_json(summary.activities)},
          {"calls", to_json(summary.calls)},
          {"top_activities", names_of(rows_above(summary.activities, kReportedShare))},
          {"top_calls", names_of(rows_above(summary.calls, kReportedShare))},
          {"explanation", summary.device == DeviceKind::cpu ? kKernelsVersusHostCalls : kKernelsVersusApiCalls}};
}

Json to_json(const Recording& recording) {
  Json trace = Json::array();
  for (const Activity& each : recording.activities) {
    if (!each.on_device()) continue;
    Json row = {{"name", each.name},
                {"part", each.part},
                {"start_s", seconds(each.begin_ns - recording.begin_ns)},
                {"duration_s", seconds(each.duration_ns())},
                {"context", each.context},
                {"stream", each.stream},
                {"correlation", each.correlation}};
    if (each.kind != ActivityKind::kernel) {
      row["bytes"] = each.bytes;
      row["source"] = each.source;
      row["destination"] = each.destination;
    }
    if (each.grid[0] > 0) {
      row["grid"] = each.grid;
      row["block"] = each.block;
      row["registers"] = each.registers;
      row["static_shared_bytes"] = each.static_shared_bytes;
      row["dynamic_shared_bytes"] = each.dynamic_shared_bytes;
    }
    trace.push_back(std::move(row));
  }
  return trace;
}

Json to_json(const std::vector<GpuTime>& times) {
  Json json = Json::array();
  for (const GpuTime& each : times) {
    json.push_back({{"part", each.part},
                    {"busy_s", seconds(each.busy_ns)},
                    {"kernels_s", seconds(each.kernels_ns)},
                    {"copies_s", seconds(each.copies_ns)},
                    {"both_s", seconds(each.both_ns())}});
  }
  return json;
}

Json to_json(const ProfilingCheck& check) {
  Json json = {{"passes", check.passes},
               {"plain_s", check.plain_s},
               {"profiled_s", check.profiled_s},
               {"overhead", check.overhead()},
               {"start_stop_s", check.start_stop_s},
               {"recorded_kernels_s", check.recorded_kernels_s}};
  if (check.timed_kernels_s) json["timed_kernels_s"] = *check.timed_kernels_s;
  return json;
}

Json to_json(const StartupBill& bill) {
  Json parts = Json::array();
  for (const BillPart& part : bill.parts) {
    parts.push_back({{"name", part.name}, {"s", part.seconds}, {"remedy", part.remedy}});
  }
  return {{"wall_s", bill.wall_s},
          {"parts", std::move(parts)},
          {"unattributed_s", bill.unattributed_s},
          {"largest", bill.largest().name}};
}

Json to_json(const Utilisation& utilisation) {
  Json kernels = Json::array();
  for (const KernelCounters& each : utilisation.kernels) {
    Json metrics = Json::object();
    for (const auto& [name, value] : each.metrics) metrics[name] = value;
    kernels.push_back(
        {{"name", each.kernel}, {"part", each.part}, {"limit", limit_of(each)}, {"metrics", std::move(metrics)}});
  }
  return {{"kernels", std::move(kernels)}, {"refusal", utilisation.refusal}};
}

}  // namespace

void write_json(Output& output, const ProfileResult& result) {
  const Recording& recording = result.recording;
  Json json = {{"command", result.command},
               {"model", result.model},
               {"images", result.images},
               {"accuracy", result.accuracy},
               {"device", name_of(recording.device)},
               {"device_name", recording.device_name},
               {"math", name_of(result.math)},
               {"plan", name_of(result.plan)},
               {"recorded_s", static_cast<double>(recording.end_ns - recording.begin_ns) * 1e-9},
               {"summary", to_json(result.summary)},
               {"trace", to_json(recording)},
               {"profiling", to_json(result.check)},
               {"startup", to_json(result.bill)}};
  if (recording.device == DeviceKind::cuda) json["gpu_time"] = to_json(gpu_time(recording));
  if (result.utilisation) json["utilisation"] = to_json(*result.utilisation);
  output.json(json);
}

std::string chrome_trace_text(const Recording& recording) { return json_text(chrome_trace(recording), -1); }

}  // namespace convlab::app
