// Computes or reads the outputs of each layer of a network.

#include "app/networks/activations.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/plan/choices.h"
#include "convlab/session/ready_model.h"
#include "convlab/tensor/npy.h"
#include "convlab/verify/compare.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

double limit_of(const PlanStep& step) {
  const KernelInfo& kernel = step.kernel->info;
  return step.is_conv() ? rounding_model(conv_step(step.what), kernel).relative_l2 : class_limit(kernel.math);
}

/// Returns the plan options for a node alone. A plan file is for all nodes, so this uses the kernel that it names for
/// this node.
PlanOptions plan_of_node(const Node& node, PlanOptions options) {
  const auto choices = std::exchange(options.choices, nullptr);
  if (!choices || !std::holds_alternative<ConvOp>(node.op)) return options;
  const std::vector<KernelChoice>& kernels = choices->plans.front().kernels;
  const auto found = std::ranges::find(kernels, printable(node.name), &KernelChoice::step);
  if (found == kernels.end()) throw bad_input("{}: no kernel for '{}'; tune again", choices->place, node.name);
  options.kernel = found->kernel;
  return options;
}

}  // namespace

double class_limit(Math math) {
  const ConvStep pixel{.problem = {.n = 1, .c = 1, .h = 1, .w = 1, .k = 1, .r = 1, .s = 1}};
  return rounding_model(pixel, {.math = math}).relative_l2;
}

Activations activations_of(const Graph& graph, std::span<const Tensor> inputs, const LayerMachine& machine) {
  Graph observed = graph.clone();
  observed.outputs.clear();
  for (const Node& node : graph.nodes) observed.outputs.push_back({.value = node.output});
  if (observed.outputs.empty()) throw bad_input("{}: model has no layers to compare", graph.name);
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  ReadyModel model(std::move(observed), shapes, machine.device, {.plan = machine.plan, .at_once = true});
  std::vector<Tensor> outputs = model.run(inputs);
  Activations values;
  for (size_t i = 0; i < inputs.size(); ++i) values.emplace(graph.name_of(graph.inputs[i]), inputs[i].clone());
  for (size_t i = 0; i < outputs.size(); ++i)
    values.emplace(graph.name_of(graph.nodes[i].output), std::move(outputs[i]));
  return values;
}

Activations recorded_activations(const std::string& folder) {
  Activations values;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".npy") continue;
    values.emplace(path.stem().string(), converted(parse_npy(read_file(path), path.string()), ElementType::f32));
  }
  if (error) throw bad_input("{}: {}", folder, error.message());
  if (values.empty()) throw bad_input("{}: no .npy files; save each layer's output as NAME.npy", folder);
  return values;
}

NodeRun run_node(const Graph& graph, const Node& node, std::span<const Tensor> inputs, const LayerMachine& machine) {
  Graph one{.name = graph.name, .value_names = graph.value_names, .outputs = {{.value = node.output}}};
  one.inputs.clear();
  std::vector<Shape> shapes;
  for (const ValueId input : node.inputs) {
    const auto constant = graph.constants.find(input);
    const bool known = std::ranges::find(one.inputs, input, &GraphInput::value) != one.inputs.end();
    if (constant != graph.constants.end()) {
      one.constants.emplace(input, constant->second.clone());
    } else if (!known) {
      one.inputs.push_back({.value = input, .shape = inputs[shapes.size()].shape()});
      shapes.push_back(inputs[shapes.size()].shape());
    }
  }
  one.nodes.push_back(node);
  ReadyModel model(std::move(one), shapes, machine.device, {.plan = plan_of_node(node, machine.plan), .at_once = true});
  NodeRun run{.output = std::move(model.run(inputs)[0]), .math = Math::fp32};
  for (const PlanStep& step : model.plan().steps) {
    run.limit = std::max(run.limit, limit_of(step));
    run.math = std::max(run.math, step.kernel->info.math);
  }
  return run;
}

}  // namespace convlab::app
