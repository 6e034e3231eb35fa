// Asks cuDNN's heuristics for engines that fit a step and a math class.

#include "convlab/kernels/libraries/cudnn_plans.h"

#include <algorithm>

namespace convlab::cudnn {
namespace {

/// A configured engine that the library proposes.
struct Proposal {
  std::string engine;
  std::vector<cudnnBackendNumericalNote_t> numerical;
  std::vector<cudnnBackendBehaviorNote_t> behavior;
  Descriptor configuration;
};

std::string text_of(const Descriptor& engine, const Descriptor& configuration) {
  std::string text = fmt::format("{}", engine.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  const std::vector<Descriptor> knobs = configuration.get_descriptors(
      CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS);
  if (!knobs.empty()) text += " with knobs";
  for (const Descriptor& knob : knobs) {
    const auto type = knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
    text += fmt::format(" {}={}", static_cast<int>(type), knob.get<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return text;
}

Proposal read(Descriptor configuration) {
  const std::vector<Descriptor> engines =
      configuration.get_descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  const Descriptor& engine = engines.at(0);
  std::string text = text_of(engine, configuration);
  return {
      std::move(text),
      engine.get_all<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
      engine.get_all<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT),
      std::move(configuration)};
}

/// Whether an engine complies with a math class. Rounding to TF32 has no note of its own: every engine that uses tensor
/// cores on fp32 does it. Engines noted for down-converting inputs round them to fp16.
bool keeps_to(Math math, const Proposal& proposal) {
  const auto noted = [&](cudnnBackendNumericalNote_t note) { return std::ranges::count(proposal.numerical, note) > 0; };
  if (noted(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return false;
  if (math == Math::fp16) return true;
  if (noted(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS)) return false;
  return math == Math::tf32 || !noted(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
}

std::vector<Descriptor> ask(const Library& library, const ConvGraph& graph, cudnnBackendHeurMode_t mode) {
  constexpr size_t kMost = 64;
  Descriptor heuristics(library, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.descriptor());
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  heuristics.finalize();
  return heuristics.get_descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, kMost);
}

}  // namespace

std::vector<Plan> plans_for(const Library& library, cudnnHandle_t handle, const ConvGraph& graph, Math math,
                            size_t workspace_bytes, std::string& reason) {
  constexpr size_t kMost = 16;
  constexpr int kMostCompiled = 3;  // engines compiled when finalized, up to a second each
  std::vector<Plan> plans;
  int compiled = 0;
  const auto take = [&](Proposal proposal, bool fallback) {
    if (std::ranges::count(plans, proposal.engine, &Plan::engine) > 0) return;
    if (!keeps_to(math, proposal)) {
      reason = fmt::format("engine {} has lower precision", proposal.engine);
      return;
    }
    const bool compiles = std::ranges::count(proposal.behavior, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) > 0;
    if (compiles && (fallback ? !plans.empty() : compiled == kMostCompiled)) return;
    Descriptor plan(library, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, proposal.configuration);
    plan.finalize();
    const auto bytes = plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    if (bytes > static_cast<int64_t>(workspace_bytes)) {
      reason = fmt::format("engine {} needs {} bytes of workspace", proposal.engine, bytes);
      return;
    }
    compiled += compiles ? 1 : 0;
    plans.push_back({std::move(proposal.engine), std::move(proposal.configuration), std::move(plan)});
  };
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    std::vector<Descriptor> proposed;
    try {
      proposed = ask(library, graph, mode);
    } catch (const Error& error) {
      reason = error.what();
    }
    for (Descriptor& configuration : proposed) {
      if (plans.size() == kMost) return plans;
      try {
        take(read(std::move(configuration)), mode == CUDNN_HEUR_MODE_FALLBACK);
      } catch (const Error& error) {
        reason = error.what();
      }
    }
  }
  return plans;
}

}  // namespace convlab::cudnn
