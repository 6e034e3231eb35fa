// convlab explain: shows the steps of a network, which kernel computes each step and why, what bounds its time, and how
// long it takes.

#include <fmt/format.h>

#include <algorithm>
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
#include "app/results/ceilings_text.h"
#include "app/results/explain_json.h"
#include "app/results/layer_table.h"
#include "app/results/network_picture.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/engine/engine_options.h"
#include "convlab/kernels/preference.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/ceilings.h"
#include "convlab/plan/choices.h"
#include "convlab/plan/planned_graph.h"
#include "convlab/plan/planner.h"
#include "convlab/session/timing.h"

namespace convlab::app {
namespace {

struct ExplainOptions {
  std::string model, output;
  std::vector<std::string> shapes;
  ComputeOptions compute;
  PlanMode plan = PlanMode::fused;
  int64_t images = 1, repeat = 0;  ///< repeat 0: not measured
  bool passes = false;
};

struct Why {
  std::string text;
  bool by_rank = false;
};

/// Returns why the step has its kernel: why the first kernel that would be preferred in the same layout does not
/// support the step, or which kernels support it, too.
Why why(const PlanStep& step, const PlanOptions& options) {
  if (step.is_conv() && !options.kernel.empty()) return {"requested"};
  for (const Refused& refused : step.refused) {
    const Kernel* other = find_kernel(refused.kernel, step.kernel->info.device);
    const bool competes = other != nullptr && !other->info.library && other->format == step.kernel->format &&
                          comes_before(other->info, step.kernel->info);
    if (competes) {
      return {fmt::format("next after {}, which does not support it: {}", refused.kernel, refused.reason), true};
    }
  }
  if (step.fitting.size() < 2) return {step.is_conv() ? "no other kernel supports it" : ""};
  const size_t more = step.fitting.size() - 2;
  return {
      fmt::format("ranked above {}{}", step.fitting[1]->info.name, more == 0 ? "" : fmt::format(" and {} more", more)),
      true};
}

/// Returns the plan file's reason for its choice.
Why why(const KernelChoice& choice) {
  const std::string other = choice.next.empty() ? "no other kernel supports it"
                                                : fmt::format("{} took {:.3g} ms", choice.next, choice.next_ms);
  return {fmt::format("tuned ({}): {:.3g} ms, {}", choice.why, choice.ms, other)};
}

/// `seconds`: measured, by step; {}: not measured.
std::vector<ExplainedStep> explained(const Plan& plan, const std::optional<Ceilings>& ceilings,
                                     const std::vector<double>& seconds) {
  std::vector<ExplainedStep> steps;
  std::map<std::pair<Location::Place, int64_t>, int> writer;
  for (size_t i = 0; i < plan.inputs.size(); ++i) writer[{Location::Place::input, static_cast<int64_t>(i)}] = -1;
  const int64_t images = plan.inputs[0].empty() ? 1 : plan.inputs[0][0];
  for (const PlanStep& step : plan.steps) {
    const Why reason = step.choice != nullptr ? why(*step.choice) : why(step, plan.options);
    ExplainedStep each{.layer = describe_layer(step, images, images, 1), .why = reason.text, .by_rank = reason.by_rank};
    if (!seconds.empty()) each.layer.seconds = seconds[steps.size()];
    each.output = step.what.outputs[0].shape;
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

/// Returns the median seconds of each step of the plan for these shapes, in `repeat` passes after the first.
std::vector<double> measured(Graph graph, const std::vector<Shape>& shapes, Device& device, EngineOptions options,
                             int64_t repeat) {
  options.at_once = true;
  ReadyModel model(std::move(graph), shapes, device, options);
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) inputs.push_back(random_pixels(shape, ElementType::f32));
  return time_steps(model, input_addresses(inputs), images_of(shapes), repeat);
}

std::string milliseconds(double seconds) { return fmt::format("{:.4f}", seconds * 1e3); }

void print_steps(Output& output, const std::vector<ExplainedStep>& steps, bool timed) {
  size_t name_width = 5, op_width = 2, shape_width = 6;
  for (const ExplainedStep& step : steps) {
    name_width = std::max(name_width, short_name(step.layer.name).size());
    op_width = std::max(op_width, step.layer.op.size());
    shape_width = std::max(shape_width, to_text(step.output).size());
  }
  const auto print = [&](const std::string& number, const std::string& name, const std::string& op,
                         const std::string& shape, const std::string& flops, const std::string& bytes,
                         const std::string& time, const std::string& bound, std::string_view limit,
                         const std::string& kernel) {
    output.print("{:>4}  {:<{}}  {:<{}}  {:<{}}  {:>9}  {:>8}  {}{:>13}  {:<10}  {}\n", number, name, name_width, op,
                 op_width, shape, shape_width, flops, bytes, timed ? fmt::format("{:>9}  ", time) : "", bound, limit,
                 kernel);
  };
  print("step", "layer", "op", "output", "MFLOP", "MB", "time (ms)", "roofline (ms)", "limit", "kernel");
  for (size_t i = 0; i < steps.size(); ++i) {
    const ExplainedStep& step = steps[i];
    print(std::to_string(i), short_name(step.layer.name), step.layer.op, to_text(step.output),
          fmt::format("{:.3f}", step.layer.flops * 1e-6), fmt::format("{:.3f}", step.layer.bytes * 1e-6),
          milliseconds(step.layer.seconds), step.bound ? milliseconds(step.bound->seconds) : "-",
          step.bound ? name_of(step.bound->limit) : "-", step.layer.kernel);
  }
}

/// Returns "0, 2-5, 7".
std::string ranges_text(const std::vector<size_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

/// Prints why steps have their kernels: a line for each kernel and reason, in the order of the steps.
void print_reasons(Output& output, const std::vector<ExplainedStep>& steps) {
  struct Reason {
    std::string kernel, why;
    std::vector<size_t> steps;
  };
  std::vector<Reason> reasons;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ExplainedStep& step = steps[i];
    if (step.why.empty()) continue;
    const auto same = std::ranges::find_if(
        reasons, [&](const Reason& each) { return each.kernel == step.layer.kernel && each.why == step.why; });
    if (same == reasons.end()) {
      reasons.push_back({step.layer.kernel, step.why, {i}});
    } else {
      same->steps.push_back(i);
    }
  }
  if (!reasons.empty()) output.print("\nwhy these kernels:\n");
  for (const Reason& each : reasons) {
    const std::string where = fmt::format("step{} {}", each.steps.size() == 1 ? "" : "s", ranges_text(each.steps));
    output.print("  {}, {}: {}\n", each.kernel, where, each.why);
  }
  if (std::ranges::any_of(steps, &ExplainedStep::by_rank)) {
    output.print(
        "  kernels are ranked by expected speed; the planner uses the first that supports a step. 'convlab tune' "
        "measures them\n");
  }
}

/// Explains the column of bounds.
void print_legend(Output& output, const std::optional<Ceilings>& ceilings) {
  if (!ceilings) return;
  output.print(
      "\nroofline: time at the machine's peak rates: {}\n"
      "  Winograd kernels can beat it, which need fewer operations than counted here, and data in an L3 cache\n",
      rates_text(*ceilings));
}

std::string slowest(const std::vector<ExplainedStep>& steps) {
  double sum = 0;
  for (const ExplainedStep& step : steps) sum += step.layer.seconds;
  const auto most = std::ranges::max_element(steps, {}, [](const ExplainedStep& step) { return step.layer.seconds; });
  return fmt::format("slowest step: {}, '{}' ({}): {} of {} ms", most - steps.begin(), most->layer.name, most->layer.op,
                     milliseconds(most->layer.seconds), milliseconds(sum));
}

void explain(const ExplainOptions& options, Output& output) {
  if (!options.output.empty()) {
    require_ending("-o", options.output, {".svg"});
    require_writable("-o", options.output);
    require_other_file("-o", options.output, options.model);
  }
  const std::unique_ptr<Device> device = options.compute.open();
  const std::map<std::string, Shape> asked = parse_shapes(options.shapes);
  Graph graph = load_for_shapes(options.model, asked);
  const std::vector<Shape> shapes = input_shapes(graph, asked, options.images);
  const std::string name = graph.name;
  const size_t nodes = graph.nodes.size();
  EngineOptions engine{.plan = options.compute.plan_options(options.plan, ElementType::f32)};
  replay_plan_file(options.compute, graph, device->caps(), engine);
  const std::vector<double> seconds =
      options.repeat == 0 ? std::vector<double>() : measured(graph.clone(), shapes, *device, engine, options.repeat);
  graph = planned_graph(std::move(graph), shapes, options.plan, device->caps().threads).graph;
  int64_t weights = 0;
  for (const auto& [value, tensor] : graph.constants) weights += tensor.count();
  const Plan plan = make_plan(graph, shapes, device->caps(), engine.plan);
  note_unused_math(plan);
  std::optional<Ceilings> ceilings;
  if (device->caps().has_real_times()) ceilings = known_ceilings(*device);
  const std::vector<ExplainedStep> steps = explained(plan, ceilings, seconds);
  double flops = 0, bound = 0;
  for (const ExplainedStep& step : steps) {
    flops += step.layer.flops;
    bound += step.bound ? step.bound->seconds : 0;
  }
  print_steps(output, steps, options.repeat > 0);
  print_reasons(output, steps);
  print_legend(output, ceilings);
  if (options.passes) output.print("\n{}", passes_text(graph, shapes, device->caps(), engine.plan));
  const std::string summary = fmt::format(
      "{}: {} nodes in {} steps, {:.4g} M weights, {:.4g} GFLOP, {:.4g} MB of activations{}", name, nodes, steps.size(),
      static_cast<double>(weights) * 1e-6, flops * 1e-9, static_cast<double>(plan.arena_bytes) * 1e-6,
      ceilings ? fmt::format("; roofline {} ms on {}", milliseconds(bound), device->caps().name) : "");
  output.print("\n{}\n", summary);
  output.print("{}\n", options.repeat > 0 ? slowest(steps) : "--repeat 10 also measures each step");
  if (!options.output.empty()) {
    write_file(options.output, network_picture(summary, steps));
    output.print("\npicture: {}\n", options.output);
  }
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
  add_int(parser, "--repeat", options->repeat, 1, kMostPasses,
          "also time each step: medians of N passes after the first, on random pixels");
  add_flag(parser, "--passes", options->passes,
           "also print the planner's passes: possible fusions, formats of values, kernels, memory");
  add_texts(parser, "--shape", options->shapes, 1, kAnyNumber, "[NAME=]NxCxHxW",
            "shape of an input that has dynamic sizes");
  add_compute(parser, options->compute);
  add_plan_file(parser, options->compute);
  add_parsed(parser, "--plan", "layers|fused|folded", "as for 'convlab run' (default: fused)",
             [options](const std::string& text, const std::string& name) { options->plan = parse_plan(text, name); });
  return [options](Output& output) { explain(*options, output); };
}

}  // namespace convlab::app
