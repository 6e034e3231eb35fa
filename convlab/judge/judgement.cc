// Converts judgments and assignments to and from JSON.

#include "convlab/judge/judgement.h"

#include <nlohmann/json.hpp>

#include "convlab/base/entropy.h"
#include "convlab/measure/json_members.h"

namespace convlab::judge {
namespace {

Json texts_of(const std::vector<ConvProblem>& problems) {
  Json texts = Json::array();
  for (const ConvProblem& each : problems) texts.push_back(to_text(each));
  return texts;
}

std::vector<ConvProblem> problems_in(const JsonMembers& from, const char* name) {
  std::vector<std::string> texts;
  from.read(name, texts);
  std::vector<ConvProblem> problems;
  for (const std::string& each : texts) problems.push_back(parse_problem(each));
  return problems;
}

Stage stage_in(const JsonMembers& from, const char* name) {
  return from.choice(name,
                     {Stage::queued, Stage::compiling, Stage::recording, Stage::verifying, Stage::timing, Stage::done});
}

Json to_json(const KernelCountsSummary& counts) {
  return {{"layer", counts.layer},
          {"kernel", counts.kernel},
          {"launches", counts.launches},
          {"flops", counts.flops},
          {"global_sectors", counts.global_sectors},
          {"least_sectors", counts.least_sectors},
          {"shared_wavefronts", counts.shared_wavefronts},
          {"bank_conflicts", counts.bank_conflicts},
          {"occupancy", counts.occupancy}};
}

KernelCountsSummary counts_in(const JsonMembers& from) {
  KernelCountsSummary counts;
  from.read("layer", counts.layer);
  from.read("kernel", counts.kernel);
  from.read("launches", counts.launches);
  from.read("flops", counts.flops);
  from.read("global_sectors", counts.global_sectors);
  from.read("least_sectors", counts.least_sectors);
  from.read("shared_wavefronts", counts.shared_wavefronts);
  from.read("bank_conflicts", counts.bank_conflicts);
  from.read("occupancy", counts.occupancy);
  return counts;
}

Json to_json(const LayerTime& time) {
  return {
      {"layer", time.layer}, {"seconds", time.seconds}, {"reference_s", time.reference_s}, {"bound_s", time.bound_s}};
}

LayerTime time_in(const JsonMembers& from) {
  LayerTime time;
  from.read("layer", time.layer);
  from.read("seconds", time.seconds);
  from.read("reference_s", time.reference_s);
  from.read("bound_s", time.bound_s);
  return time;
}

Json to_json(const JudgeLimits& limits) {
  return {{"compile_s", limits.compile_s}, {"record_s", limits.record_s},         {"verify_s", limits.verify_s},
          {"timing_s", limits.timing_s},   {"memory_bytes", limits.memory_bytes}, {"output_bytes", limits.output_bytes},
          {"processes", limits.processes}};
}

JudgeLimits limits_in(const JsonMembers& from) {
  JudgeLimits limits;
  from.read("compile_s", limits.compile_s);
  from.read("record_s", limits.record_s);
  from.read("verify_s", limits.verify_s);
  from.read("timing_s", limits.timing_s);
  from.read("memory_bytes", limits.memory_bytes);
  from.read("output_bytes", limits.output_bytes);
  from.read("processes", limits.processes);
  return limits;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "PASSED";
    case Verdict::wrong:
      return "WRONG";
    case Verdict::refused:
      return "REFUSED";
    case Verdict::not_compiled:
      return "NOT_COMPILED";
    case Verdict::timed_out:
      return "TIMED_OUT";
    case Verdict::forbidden:
      return "FORBIDDEN";
  }
  return "?";
}

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::queued:
      return "queued";
    case Stage::compiling:
      return "compiling";
    case Stage::recording:
      return "recording";
    case Stage::verifying:
      return "verifying";
    case Stage::timing:
      return "timing";
    case Stage::done:
      return "done";
  }
  return "?";
}

std::string_view name_of(Trust trust) { return trust == Trust::jails ? "jails" : "students"; }

Json to_json(const Judgement& judgement) {
  Json times = Json::array(), counters = Json::array(), stages = Json::array();
  for (const LayerTime& each : judgement.times) times.push_back(to_json(each));
  for (const KernelCountsSummary& each : judgement.counters) counters.push_back(to_json(each));
  for (const StageLog& each : judgement.stages) {
    stages.push_back({{"stage", name_of(each.stage)}, {"seconds", each.seconds}, {"log", each.log}});
  }
  Json json = {{"nonce", judgement.nonce},
               {"verdict", name_of(judgement.verdict)},
               {"failed_at", name_of(judgement.failed_at)},
               {"reason", judgement.reason},
               {"what_to_do", judgement.what_to_do},
               {"math", name_of(judgement.math)}};
  if (judgement.ratio) {
    json["ratio"] = {{"median", judgement.ratio->median},
                     {"low", judgement.ratio->low},
                     {"high", judgement.ratio->high},
                     {"samples", judgement.ratio->samples}};
  }
  json["times"] = std::move(times);
  json["counters"] = std::move(counters);
  json["stages"] = std::move(stages);
  return json;
}

Json public_json(const Judgement& judgement) {
  Json json = to_json(judgement);
  json.erase("nonce");
  return json;
}

Judgement judgement_from(const Json& json, const std::string& place) {
  const JsonMembers from(json, place);
  Judgement judgement;
  from.read_if_there("nonce", judgement.nonce);
  judgement.verdict = from.choice("verdict", {Verdict::passed, Verdict::wrong, Verdict::refused, Verdict::not_compiled,
                                              Verdict::timed_out, Verdict::forbidden});
  judgement.failed_at = stage_in(from, "failed_at");
  from.read("reason", judgement.reason);
  from.read("what_to_do", judgement.what_to_do);
  judgement.math = from.choice("math", {Math::fp32, Math::bf16x2, Math::tf32, Math::fp16, Math::bf16});
  if (from.has("ratio")) {
    const JsonMembers ratio = from.object("ratio");
    Ratio& value = judgement.ratio.emplace();
    ratio.read("median", value.median);
    ratio.read("low", value.low);
    ratio.read("high", value.high);
    ratio.read("samples", value.samples);
  }
  if (from.has("times")) {  // databases hold judgments from before there were times
    from.objects("times", [&](const JsonMembers& each) { judgement.times.push_back(time_in(each)); });
  }
  from.objects("counters", [&](const JsonMembers& each) { judgement.counters.push_back(counts_in(each)); });
  from.objects("stages", [&](const JsonMembers& each) {
    StageLog& log = judgement.stages.emplace_back();
    log.stage = stage_in(each, "stage");
    each.read("seconds", log.seconds);
    each.read("log", log.log);
  });
  return judgement;
}

Json to_json(const Assignment& assignment) {
  return {{"name", assignment.name},
          {"layers", texts_of(assignment.layers)},
          {"secret", texts_of(assignment.secret)},
          {"nonce", assignment.nonce},
          {"libraries_allowed", assignment.libraries_allowed},
          {"reference", assignment.reference},
          {"limits", to_json(assignment.limits)},
          {"trust", name_of(assignment.trust)}};
}

Assignment assignment_from(const Json& json, const std::string& place) {
  const JsonMembers from(json, place);
  Assignment assignment;
  from.read("name", assignment.name);
  assignment.layers = problems_in(from, "layers");
  assignment.secret = problems_in(from, "secret");
  from.read_if_there("nonce", assignment.nonce);
  if (!assignment.nonce.empty()) parse_key(assignment.nonce);
  from.read("libraries_allowed", assignment.libraries_allowed);
  from.read("reference", assignment.reference);
  assignment.limits = limits_in(from.object("limits"));
  assignment.trust = from.choice("trust", {Trust::jails, Trust::students});
  return assignment;
}

}  // namespace convlab::judge
