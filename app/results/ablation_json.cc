// Writes the results of `convlab ablate` as JSON.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/results/ablation_table.h"
#include "convlab/base/json.h"
#include "convlab/kernels/step_text.h"
#include "convlab/measure/record.h"

namespace convlab::app {
namespace {

Json to_json(const Worth& gain) {
  Json json{{"times", gain.times}, {"change", name_of(gain.change)}};
  if (std::isfinite(gain.interval.high)) {
    json["low"] = gain.interval.low;
    json["high"] = gain.interval.high;
  }
  if (!gain.doubt.empty()) json["doubt"] = gain.doubt;
  return json;
}

Json to_json(const Ablation& ablation, size_t number) {
  const Variant& variant = ablation.variants[number];
  Json json{{"variant", variant.label}, {"verdict", name_of(variant.outcome)}};
  if (!ablation.sets.empty()) {
    json["on"] = Json::array();
    for (size_t i = 0; i < ablation.switches.size(); ++i) {
      if ((ablation.sets[number] >> i & 1U) != 0) json["on"].push_back(ablation.switches[i].name);
    }
  }
  if (!variant.measured()) json["reason"] = variant.reason;
  if (!variant.ms.empty()) json["hot_ms"] = to_json(summarize(variant.ms));
  for (const auto& [name, value] : variant.counts) json["counts"][name] = value;
  if (variant.code) {
    for (const auto& [name, value] : variant.code->counts) json["code"][name] = value;
    json["code"]["fingerprint"] = variant.code->fingerprint;
  }
  return json;
}

Json to_json(const AblationFigure& figure) {
  Json rows = Json::array(), pairs = Json::array();
  for (const AblationRow& row : figure.rows) {
    Json json{{"name", row.name}};
    if (row.effect.alone) json["alone"] = to_json(*row.effect.alone);
    if (row.effect.left_out) json["left_out"] = to_json(*row.effect.left_out);
    if (row.main) json["on_average"] = to_json(*row.main);
    json["effect"] = name_of(row.effect.effect);
    json["verdict"] = row.verdict;
    rows.push_back(std::move(json));
  }
  for (const AblationPair& pair : figure.pairs) {
    pairs.push_back({{"a", pair.a}, {"b", pair.b}, {"beyond", to_json(pair.beyond)}});
  }
  Json json{{"figure", figure.name}, {"effects", std::move(rows)}};
  if (!figure.pairs.empty()) json["pairs"] = std::move(pairs);
  if (figure.product) {
    json["multiplied"] = to_json(figure.product->multiplied);
    json["together"] = to_json(figure.product->together);
    json["beyond"] = to_json(figure.product->beyond);
  }
  return json;
}

}  // namespace

void write_json(Output& output, const Ablation& ablation) {
  if (!output.wants_json()) return;
  Json switches = Json::array(), variants = Json::array(), figures = Json::array();
  for (const Switch& each : ablation.switches) {
    Json json{{"name", each.name}, {"what", each.what}, {"line", each.line}};
    if (const std::string said = code_text(ablation, each.name); !said.empty()) json["code"] = said;
    switches.push_back(std::move(json));
  }
  for (size_t i = 0; i < ablation.variants.size(); ++i) variants.push_back(to_json(ablation, i));
  for (const AblationFigure& each : ablation.figures) figures.push_back(to_json(each));
  Json json{{"command", output.command()},
            {"file", ablation.file},
            {"problem", problem_text(ablation.step)},
            {"device", ablation.where.device}};
  if (!ablation.where.code_of.empty()) json["code_of"] = ablation.where.code_of;
  json["switches"] = std::move(switches);
  json["variants"] = std::move(variants);
  json["figures"] = std::move(figures);
  json.update(parse_json(ablation.where.members, "answer of a child process"));
  output.json(json);
}

}  // namespace convlab::app
