// convlab compare: compares two networks, or one computed in two ways, layer by layer, and finds the first wrong layer.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/networks/activations.h"
#include "app/networks/model_inputs.h"
#include "app/networks/model_outputs.h"
#include "app/plan_files.h"
#include "app/results/compare_json.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/engine/engine_options.h"
#include "convlab/rewrite/simplify.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

struct CompareOptions {
  std::string a, b;
  std::vector<std::string> inputs;
  std::string device = "auto", kernel = "auto", math = "fp32";  ///< one value for both, or one each for A and B
  std::string plan_file;                                        ///< only for B
  int64_t threads = 0;
  bool all = false;
};

/// Splits "fp32,bf16" into the values for A and B; a single value is for both.
std::pair<std::string, std::string> both(const std::string& text, const char* option) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() > 2)
    throw bad_input("{}: expected one value for both, or two for A and B, got {} in '{}'", option, parts.size(), text);
  return {parts.front(), parts.back()};
}

/// A network, and where it is computed.
struct Side {
  Graph graph;
  std::unique_ptr<Device> device;
  PlanOptions plan;
  std::vector<Tensor> inputs;

  LayerMachine machine() const { return {*device, plan}; }
};

Side open_side(const std::string& model, const std::vector<std::string>& inputs, const ComputeOptions& compute) {
  Side side;
  side.device = compute.open();  // not in an initializer: if it throws there, GCC 12 destroys parts of the graph twice
  std::vector<GivenInput> given = read_inputs(inputs);
  side.graph = load_for_arrays(model, shapes_of(given));
  given = in_order(side.graph, std::move(given));
  std::vector<Shape> shapes;
  for (GivenInput& each : given) {
    shapes.push_back(each.tensor.shape());
    side.inputs.push_back(converted(each.tensor, ElementType::f32));
  }
  EngineOptions engine{.plan = compute.plan_options(PlanMode::layers, ElementType::f32)};
  replay_plan_file(compute, side.graph, side.device->caps(), engine);
  side.plan = std::move(engine.plan);
  side.graph = simplified(std::move(side.graph), shapes, /*into_weights=*/false);
  return side;
}

/// Computes the relative L2 error of `got` and the index of its worst element. Both have the same number of elements.
void compare_values(const Tensor& got, const Tensor& expected, double& relative_l2, int64_t& worst) {
  const auto x = got.values<float>(), y = expected.values<float>();
  double differences = 0, squares = 0, most = -1;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool both_nan = std::isnan(x[i]) && std::isnan(y[i]);
    const double difference = both_nan || x[i] == y[i] ? 0 : std::abs(double{x[i]} - y[i]);
    const double size = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    differences += size * size;
    if (std::isfinite(y[i])) squares += double{y[i]} * y[i];
    if (size > most) most = size, worst = static_cast<int64_t>(i);
  }
  relative_l2 = differences == 0 ? 0 : std::sqrt(differences / std::max(squares, std::numeric_limits<double>::min()));
}

/// Returns the indices of element `at` of an array: "0, 3, 17, 2".
std::string index_text(int64_t at, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; at /= shape[axis]) index[axis] = at % shape[axis];
  return fmt::format("{}", fmt::join(index, ", "));
}

/// Finds a value by its name, or by the name of its file.
const Tensor* find_value(const Activations& values, const std::string& name) {
  if (const auto found = values.find(name); found != values.end()) return &found->second;
  const auto found = values.find(without_folders(name));
  return found != values.end() ? &found->second : nullptr;
}

/// Compares each layer of `side` with its expected values. `expected_limit`: the error that these may have because of
/// their math.
std::vector<ComparedLayer> compare_layers(const Side& side, const Activations& expected, double expected_limit) {
  const Activations own = activations_of(side.graph, side.inputs, side.machine());
  std::vector<ComparedLayer> layers;
  for (const Node& node : side.graph.nodes) {
    const std::string& name = side.graph.name_of(node.output);
    const Tensor* want = find_value(expected, name);
    if (want == nullptr) continue;
    const Tensor& got = own.at(name);
    ComparedLayer layer{.name = node.name, .value = name, .op = name_of(node.op), .shape = got.shape()};
    if (want->shape() != got.shape()) {
      layer.reason = fmt::format("shape is {}, expected {}", to_text(got.shape()), to_text(want->shape()));
      layers.push_back(std::move(layer));
      continue;
    }
    compare_values(got, *want, layer.so_far, layer.worst);
    layer.got = got.values<float>()[static_cast<size_t>(layer.worst)];
    layer.expected = want->values<float>()[static_cast<size_t>(layer.worst)];
    std::vector<Tensor> inputs;
    std::set<ValueId> seen;
    bool known = true;
    for (const ValueId input : node.inputs) {
      if (side.graph.constants.contains(input) || !seen.insert(input).second) continue;
      const Tensor* value = find_value(expected, side.graph.name_of(input));
      known = known && value != nullptr;
      if (known) inputs.push_back(value->clone());
    }
    if (known) {
      const NodeRun run = run_node(side.graph, node, inputs, side.machine());
      double here = 0;
      int64_t worst = 0;
      compare_values(run.output, *want, here, worst);
      layer.here = here;
      layer.math = run.math;
      layer.limit = run.limit + expected_limit;
      if (!(here <= layer.limit)) {
        layer.worst = worst;
        layer.got = run.output.values<float>()[static_cast<size_t>(worst)];
        layer.expected = want->values<float>()[static_cast<size_t>(worst)];
        layer.reason = fmt::format("element ({}) is {:g}, expected {:g}", index_text(worst, layer.shape), layer.got,
                                   layer.expected);
      }
    }
    layers.push_back(std::move(layer));
  }
  if (layers.empty()) {
    throw bad_input(
        "no output of a layer of {} has the same name on the other side; names are compared, for example '{}'",
        side.graph.name, side.graph.name_of(side.graph.nodes.back().output));
  }
  return layers;
}

void print_layer(Output& output, const ComparedLayer& layer) {
  output.print("{:<28} {:<20} {:<18} {:<6} {:>10} {:>10} {:>10}  {}\n", layer.name, layer.op, to_text(layer.shape),
               layer.math ? name_of(*layer.math) : "-", layer.here ? fmt::format("{:.2g}", *layer.here) : "-",
               layer.here ? fmt::format("{:.2g}", layer.limit) : "-", fmt::format("{:.2g}", layer.so_far),
               layer.reason);
}

void compare(const CompareOptions& options, Output& output) {
  const auto [device_a, device_b] = both(options.device, "--device");
  const auto [kernel_a, kernel_b] = both(options.kernel, "--kernel");
  const auto [math_a, math_b] = both(options.math, "--math");
  const auto compute = [&](const std::string& device, const std::string& kernel, const std::string& math) {
    ComputeOptions result{.device = device, .kernel = kernel, .threads = options.threads};
    if (kernel == "auto") result.asked_math = parse_math(math, "--math");
    return result;
  };
  const bool recorded = fs::is_directory(options.b);
  ComputeOptions judged = recorded ? compute(device_a, kernel_a, math_a) : compute(device_b, kernel_b, math_b);
  judged.plan_file = options.plan_file;
  std::vector<ComparedLayer> layers;
  if (recorded) {
    const Side side = open_side(options.a, options.inputs, judged);
    layers = compare_layers(side, recorded_activations(options.b), class_limit(Math::fp32));
  } else {
    const Side a = open_side(options.a, options.inputs, compute(device_a, kernel_a, math_a));
    const Side b = open_side(options.b, options.inputs, judged);
    layers = compare_layers(b, activations_of(a.graph, a.inputs, a.machine()), class_limit(a.plan.math));
  }
  std::vector<Math> maths;
  for (const ComparedLayer& layer : layers) {
    if (layer.math) maths.push_back(*layer.math);
  }
  note_unused_math(judged.math(), maths, recorded ? "" : " on B");
  const auto wrong = [](const ComparedLayer& layer) { return !layer.reason.empty(); };
  const auto first = std::ranges::find_if(layers, wrong);
  output.print("{:<28} {:<20} {:<18} {:<6} {:>10} {:>10} {:>10}\n", "layer", "op", "shape", "math", "error", "limit",
               "total");
  for (const ComparedLayer& layer : layers) {
    if (options.all || wrong(layer) || layers.size() <= 60) print_layer(output, layer);
  }
  const ComparedLayer& last = layers.back();
  output.print(
      "\n{} layers compared by relative L2 error: 'error' is of one layer alone, computed from the expected inputs;\n"
      "'total' includes the errors of all layers before it: {:.2g} at the end\n",
      layers.size(), last.so_far);
  if (first != layers.end()) {
    output.print("first wrong layer: '{}' ({}): {}\n", first->name, first->op, first->reason);
  } else {
    output.print("all layers are correct\n");
  }
  write_json(output, options.a, options.b, layers);
  if (first != layers.end()) throw wrong_result("layer '{}' ({}) is wrong: {}", first->name, first->op, first->reason);
}

}  // namespace

Action declare_compare(CLI::App& parser) {
  auto options = std::make_shared<CompareOptions>();
  require(add_text(parser, "A", options->a, "", "the model with the expected results, as for 'convlab infer'"));
  require(add_text(parser, "B", options->b, "",
                   "the model to check, can be the same; or a folder of a framework's layer outputs for this input, "
                   "NAME.npy each, to check A against"));
  require(add_texts(parser, "--input", options->inputs, 1, kAnyNumber, "[NAME=]X.npy", "input of both"));
  add_text(parser, "--device", options->device, "D[,D]", "cpu, cuda or simt, for both or for A and B (default: auto)");
  add_text(parser, "--kernel", options->kernel, "K[,K]",
           "one kernel for all convolutions, for both or for A and B (default: auto)");
  add_text(parser, "--math", options->math, "M[,M]",
           "fp32, bf16x2, tf32, fp16 or bf16, for both or for A and B (default: fp32)");
  add_text(parser, "--plan-file", options->plan_file, "FILE",
           "plan that 'convlab tune --plan layers' wrote for the model to check");
  add_int(parser, "--threads", options->threads, 1, 4096, "host threads (default: all that this process may use)");
  add_flag(parser, "--all", options->all, "print all layers, also of networks with more than 60");
  return [options](Output& output) { compare(*options, output); };
}

}  // namespace convlab::app
