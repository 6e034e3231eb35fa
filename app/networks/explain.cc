// convlab explain: shows the steps of a network, which kernel computes each step and why, and what bounds its time.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/networks/model_inputs.h"
#include "app/plan_files.h"
#include "app/results/explain_json.h"
#include "app/results/network_picture.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/engine/engine_options.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/ceilings.h"
#include "convlab/plan/choices.h"
#include "convlab/plan/plan.h"
#include "convlab/plan/planned_graph.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

struct ExplainOptions {
  std::string model, output;
  std::vector<std::string> shapes;
  ComputeOptions compute;
  PlanMode plan = PlanMode::fused;
  int64_t images = 1;
};

/// Returns why the step has its kernel: why the first kernel that would be preferred in the same layout does not
/// support the step, or how many kernels support it.
std::string why(const PlanStep& step) {
  if (step.conv == nullptr) return "";
  for (const Refused& refused : step.refused) {
    const ConvKernel* other = find_conv_kernel(refused.kernel, step.conv->info.device);
    const bool competes = other != nullptr && !other->info.library && other->format == step.conv->format &&
                          comes_before(other->info, step.conv->info);
    if (competes) return fmt::format("not {}: {}", refused.kernel, refused.reason);
  }
  const size_t others = step.fitting.empty() ? 0 : step.fitting.size() - 1;
  return others == 0 ? "only choice" : fmt::format("first of {} that support it", others + 1);
}

/// Returns the plan file's reason for its choice.
std::string why(const KernelChoice& choice) {
  const std::string other = choice.next.empty() ? "no other kernel supports it"
                                                : fmt::format("{} took {:.3g} ms", choice.next, choice.next_ms);
  return fmt::format("tuned ({}): {:.3g} ms, {}", choice.why, choice.ms, other);
}

std::vector<ExplainedStep> explained(const Plan& plan, const std::optional<Ceilings>& ceilings) {
  std::vector<ExplainedStep> steps;
  std::map<std::pair<Location::Place, int64_t>, int> writer;
  for (size_t i = 0; i < plan.inputs.size(); ++i) writer[{Location::Place::input, static_cast<int64_t>(i)}] = -1;
  const int64_t images = plan.inputs[0].empty() ? 1 : plan.inputs[0][0];
  const PlanChoice* tuned = plan.options.choices ? &plan.options.choices->of(plan.inputs) : nullptr;
  size_t convolutions = 0;
  for (const PlanStep& step : plan.steps) {
    ExplainedStep each{.layer = describe_layer(step, images, images, 1), .why = why(step)};
    if (tuned != nullptr && step.conv != nullptr) each.why = why(tuned->kernels[convolutions++]);
    each.output = step.conv_step() != nullptr ? step.conv_step()->output_shape() : step.op_step()->output;
    for (const Location& input : step.inputs) {
      const auto found = writer.find({input.place, input.at});
      if (found == writer.end()) continue;  // a constant
      if (std::ranges::find(each.inputs, found->second) == each.inputs.end()) each.inputs.push_back(found->second);
    }
    if (ceilings) each.bound = ceilings->bound(each.layer.flops, each.layer.bytes, each.layer.math);
    writer[{step.output.place, step.output.at}] = static_cast<int>(steps.size());
    steps.push_back(std::move(each));
  }
  return steps;
}

void print_steps(Output& output, const std::vector<ExplainedStep>& steps) {
  size_t op_width = 2, shape_width = 6, kernel_width = 6;
  for (const ExplainedStep& step : steps) {
    op_width = std::max(op_width, step.layer.op.size());
    shape_width = std::max(shape_width, to_text(step.output).size());
    kernel_width = std::max(kernel_width, step.layer.kernel.size());
  }
  output.print("{:>4}  {:<{}}  {:<{}}  {:>10}  {:>9}  {:>9}  {:<10}  {:<{}}  {}\n", "step", "op", op_width, "output",
               shape_width, "MFLOP", "MB", "bound", "limit", "kernel", kernel_width, "why");
  for (size_t i = 0; i < steps.size(); ++i) {
    const ExplainedStep& step = steps[i];
    output.print("{:>4}  {:<{}}  {:<{}}  {:>10.3f}  {:>9.3f}  {:>9}  {:<10}  {:<{}}  {}\n", i, step.layer.op, op_width,
                 to_text(step.output), shape_width, step.layer.flops * 1e-6, step.layer.bytes * 1e-6,
                 step.bound ? fmt::format("{:.3g} ms", step.bound->seconds * 1e3) : "-",
                 step.bound ? name_of(step.bound->limit) : "-", step.layer.kernel, kernel_width, step.why);
  }
}

void explain(const ExplainOptions& options, Output& output) {
  if (!options.output.empty()) require_writable("-o", options.output);
  const std::unique_ptr<Device> device = options.compute.open();
  const std::map<std::string, Shape> asked = parse_shapes(options.shapes);
  Graph graph = load_for_shapes(options.model, asked);
  const std::vector<Shape> shapes = input_shapes(graph, asked, options.images);
  const std::string name = graph.name;
  const size_t nodes = graph.nodes.size();
  EngineOptions engine{.plan = options.compute.plan_options(options.plan, ElementType::f32)};
  replay_plan_file(options.compute, graph, device->caps(), engine);
  graph = planned_graph(std::move(graph), shapes, options.plan, device->caps().threads).graph;
  int64_t weights = 0;
  for (const auto& [value, tensor] : graph.constants) weights += tensor.count();
  const Plan plan = make_plan(graph, shapes, device->caps(), engine.plan);
  std::optional<Ceilings> ceilings;
  if (device->caps().kind != DeviceKind::simt) ceilings = known_ceilings(*device);
  const std::vector<ExplainedStep> steps = explained(plan, ceilings);
  double flops = 0, bound = 0;
  for (const ExplainedStep& step : steps) {
    flops += step.layer.flops;
    bound += step.bound ? step.bound->seconds : 0;
  }
  print_steps(output, steps);
  const std::string summary = fmt::format(
      "{}: {} nodes in {} steps, {:.4g} M weights, {:.4g} GFLOP, {:.4g} MB of activations{}", name, nodes, steps.size(),
      static_cast<double>(weights) * 1e-6, flops * 1e-9, static_cast<double>(plan.arena_bytes) * 1e-6,
      ceilings ? fmt::format("; at least {:.3g} ms on {}", bound * 1e3, device->caps().name) : "");
  output.print("\n{}\n", summary);
  if (!options.output.empty()) write_file(options.output, network_picture(summary, steps));
  write_json(output, options.model, plan.inputs, steps);
}

}  // namespace

Action declare_explain(CLI::App& parser) {
  auto options = std::make_shared<ExplainOptions>();
  require(
      add_text(parser, "MODEL", options->model, "", "a shipped model's name, an .onnx file or an MXNet .params file"));
  add_text(parser, "-o,--output", options->output, "NET.svg", "draw the network: steps, shapes, kernels, bounds");
  add_int(parser, "-n,--images", options->images, 1, kMostImages,
          "batch size, if the model leaves it open (default: 1)");
  add_texts(parser, "--shape", options->shapes, 1, kAnyNumber, "[NAME=]NxCxHxW",
            "shape of an input that has dynamic sizes");
  add_compute(parser, options->compute);
  add_plan_file(parser, options->compute);
  add_parsed(parser, "--plan", "layers|fused|folded", "as for 'convlab run' (default: fused)",
             [options](const std::string& text, const std::string& name) { options->plan = parse_plan(text, name); });
  return [options](Output& output) { explain(*options, output); };
}

}  // namespace convlab::app
