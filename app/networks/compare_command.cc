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
#include "app/networks/nan_values.h"
#include "app/plan_files.h"
#include "app/results/compare_json.h"
#include "app/results/layer_table.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/formats/zoo.h"
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
    require_fitting(side.graph, side.graph.inputs[shapes.size()], each.tensor.shape());
    shapes.push_back(each.tensor.shape());
    side.inputs.push_back(converted(each.tensor, ElementType::f32));
    const std::string nan = nan_text(side.inputs.back());
    if (!nan.empty()) throw bad_input("{}: {}, which all layers would pass on; expected numbers", each.file, nan);
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

/// Returns the expected values of a node's distinct non-constant inputs, in order; nullopt if one is unknown.
std::optional<std::vector<Tensor>> expected_inputs(const Graph& graph, const Node& node, const Activations& expected) {
  std::vector<Tensor> inputs;
  std::set<ValueId> seen;
  for (const ValueId input : node.inputs) {
    if (graph.constants.contains(input) || !seen.insert(input).second) continue;
    const Tensor* value = find_value(expected, graph.name_of(input));
    if (value == nullptr) return std::nullopt;
    inputs.push_back(value->clone());
  }
  return inputs;
}

/// Compares one layer's output `got` with `want`. `expected_limit`: see compare_layers().
ComparedLayer compare_layer(const Side& side, const Node& node, const Tensor& got, const Tensor& want,
                            const Activations& expected, double expected_limit) {
  ComparedLayer layer{
      .name = node.name, .value = side.graph.name_of(node.output), .op = name_of(node.op), .shape = got.shape()};
  if (want.shape() != got.shape()) {
    layer.reason = fmt::format("shape is {}, expected {}", to_text(got.shape()), to_text(want.shape()));
    return layer;
  }
  compare_values(got, want, layer.so_far, layer.worst);
  layer.got = got.values<float>()[static_cast<size_t>(layer.worst)];
  layer.expected = want.values<float>()[static_cast<size_t>(layer.worst)];
  layer.nan = nan_text(want);
  const auto inputs = expected_inputs(side.graph, node, expected);
  if (!inputs) return layer;
  const NodeRun run = run_node(side.graph, node, *inputs, side.machine());
  double here = 0;
  int64_t worst = 0;
  compare_values(run.output, want, here, worst);
  layer.here = here;
  layer.math = run.math;
  layer.limit = run.limit + expected_limit;
  if (here <= layer.limit) return layer;
  layer.worst = worst;
  layer.got = run.output.values<float>()[static_cast<size_t>(worst)];
  layer.expected = want.values<float>()[static_cast<size_t>(worst)];
  layer.reason =
      fmt::format("element ({}) is {:g}, expected {:g}", index_text(worst, layer.shape), layer.got, layer.expected);
  return layer;
}

/// Throws Error(bad_input) unless a layer could be computed from expected inputs: without one, only values that depend
/// on many layers were compared, if any.
void require_shared_layers(const Side& side, const std::vector<ComparedLayer>& layers) {
  if (std::ranges::any_of(layers, [](const ComparedLayer& layer) { return layer.here.has_value(); })) return;
  if (layers.empty()) {
    throw bad_input(
        "no output of a layer of {} has the same name on the other side; names are compared, for example '{}'",
        side.graph.name, side.graph.name_of(side.graph.nodes.back().output));
  }
  const ComparedLayer& last = layers.back();
  throw bad_input("no layer in common, by the names of its inputs and output; only '{}' could be compared: {}",
                  last.value, last.reason.empty() ? fmt::format("relative L2 error {:.2g}", last.so_far) : last.reason);
}

/// Compares each layer of `side` with its expected values. `expected_limit`: the error that these may have because of
/// their math.
std::vector<ComparedLayer> compare_layers(const Side& side, Activations expected, double expected_limit) {
  const Activations own = activations_of(side.graph, side.inputs, side.machine());
  for (const GraphInput& input : side.graph.inputs) {  // a folder need not have them
    const std::string& name = side.graph.name_of(input);
    if (find_value(expected, name) == nullptr) expected.emplace(name, own.at(name).clone());
  }
  std::vector<ComparedLayer> layers;
  for (const Node& node : side.graph.nodes) {
    const std::string& name = side.graph.name_of(node.output);
    const Tensor* want = find_value(expected, name);
    if (want != nullptr) layers.push_back(compare_layer(side, node, own.at(name), *want, expected, expected_limit));
  }
  require_shared_layers(side, layers);
  return layers;
}

bool is_wrong(const ComparedLayer& layer) { return !layer.reason.empty(); }

/// Prints the table of layers: all, or only the wrong ones of a large network.
void print_layers(Output& output, const std::vector<ComparedLayer>& layers, bool all) {
  constexpr size_t kMostRows = 60;
  std::vector<const ComparedLayer*> rows;
  for (const ComparedLayer& layer : layers) {
    if (all || layers.size() <= kMostRows || is_wrong(layer)) rows.push_back(&layer);
  }
  size_t name_width = 5, op_width = 2, shape_width = 5;
  for (const ComparedLayer* row : rows) {
    name_width = std::max(name_width, short_name(row->name).size());
    op_width = std::max(op_width, row->op.size());
    shape_width = std::max(shape_width, to_text(row->shape).size());
  }
  const auto print = [&](const std::string& name, const std::string& op, const std::string& shape,
                         const std::string& math, const std::string& error, const std::string& limit,
                         const std::string& total, const std::string& reason) {
    output.print("{:<{}}  {:<{}}  {:<{}}  {:<6}  {:>8}  {:>8}  {:>8}{}{}\n", name, name_width, op, op_width, shape,
                 shape_width, math, error, limit, total, reason.empty() ? "" : "  ", reason);
  };
  const auto number = [](double value) { return fmt::format("{:.2g}", value); };
  if (!rows.empty()) print("layer", "op", "shape", "math", "error", "limit", "total", "");
  for (const ComparedLayer* row : rows) {
    print(short_name(row->name), row->op, to_text(row->shape), row->math ? std::string(name_of(*row->math)) : "-",
          row->here ? number(*row->here) : "-", row->here ? number(row->limit) : "-", number(row->so_far), row->reason);
  }
  if (!rows.empty()) output.print("\n");
  if (const size_t hidden = layers.size() - rows.size(); hidden > 0) {
    output.print("{} correct layers not shown; --all shows them\n", hidden);
  }
}

/// "8 layers", "1 layer".
std::string layers_text(int64_t count) { return fmt::format("{} layer{}", count, count == 1 ? "" : "s"); }

/// Prints what was compared, what could not be, and the verdict.
void print_summary(Output& output, const std::vector<ComparedLayer>& layers) {
  output.print(
      "{} compared by relative L2 error: 'error' is of one layer alone, computed from the expected inputs;\n"
      "'total' includes the errors of all layers before it: {:.2g} at the end\n",
      layers_text(std::ssize(layers)), layers.back().so_far);
  const auto unchecked =
      std::ranges::count_if(layers, [](const ComparedLayer& layer) { return !layer.here && !is_wrong(layer); });
  if (unchecked > 0) {
    output.print("{} not checked alone: the expected inputs are unknown\n", layers_text(unchecked));
  }
  const auto nan = std::ranges::find_if(layers, [](const ComparedLayer& layer) { return !layer.nan.empty(); });
  if (nan != layers.end()) {
    output.print("NaN on both sides counts as equal: the first is in '{}' ({}): {}\n", nan->name, nan->op, nan->nan);
  }
  const auto wrong = std::ranges::find_if(layers, is_wrong);
  if (wrong != layers.end()) {
    output.print("first wrong layer: '{}' ({}): {}\n", wrong->name, wrong->op, wrong->reason);
  } else {
    output.print("all {}layers are correct\n", unchecked > 0 ? "other " : "");
  }
}

/// Throws Error(bad_input) if B is neither a folder nor a model, whose own error would not mention folders.
void require_model_or_folder(const std::string& b) {
  const std::string extension = fs::path(b).extension();
  if (extension == ".onnx" || extension == ".params" || extension == ".json") return;
  const std::vector<ShippedModel> shipped = shipped_models();
  if (std::ranges::find(shipped, b, &ShippedModel::name) != shipped.end()) return;
  throw bad_input("'{}' is not a folder of layer outputs, an .onnx or .params file, or a shipped model", printable(b));
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
  if (!recorded) require_model_or_folder(options.b);
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
  print_layers(output, layers, options.all);
  print_summary(output, layers);
  write_json(output, options.a, options.b, layers);
  const auto first = std::ranges::find_if(layers, is_wrong);
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
