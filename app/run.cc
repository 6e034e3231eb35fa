// convlab run: the main job. Prints the course's lines, then what each layer took and what the process used.

#include <algorithm>
#include <memory>
#include <optional>

#include "app/classify.h"
#include "app/command.h"
#include "app/course_lines.h"
#include "app/options.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/dataset/resize.h"
#include "convlab/measure/ceilings.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostRepeats = 10000;
constexpr int64_t kMostImages = int64_t{1} << 40;

struct RunOptions {
  ClassifyOptions classify;
  int64_t repeat = 1;
  double expect = 0;
};

/// `ceilings`: of the device, where they are known.
void print_layers(Output& output, const Classification& result, const std::optional<Ceilings>& ceilings) {
  size_t name_width = 5, op_width = 2, kernel_width = 6;
  for (const LayerResult& layer : result.layers) {
    name_width = std::max(name_width, layer.name.size());
    op_width = std::max(op_width, layer.op.size());
    kernel_width = std::max(kernel_width, layer.kernel.size());
  }
  output.print("\n{:<{}}  {:<{}}  {:<{}}  {:<6}  {:>10}  {:>8}  {:>8}\n", "layer", name_width, "op", op_width, "kernel",
               kernel_width, "math", "time (ms)", "GFLOP/s", "of bound");
  for (const LayerResult& layer : result.layers) {
    const bool timed = layer.seconds > 0;
    const std::string rate = timed && layer.flops > 0 ? fmt::format("{:.1f}", layer.flops / layer.seconds * 1e-9) : "-";
    const std::string share =
        timed && ceilings
            ? fmt::format("{:.0f} %",
                          100 * ceilings->bound(layer.flops, layer.bytes, layer.math).seconds / layer.seconds)
            : "-";
    output.print("{:<{}}  {:<{}}  {:<{}}  {:<6}  {:>10.3f}  {:>8}  {:>8}\n", layer.name, name_width, layer.op, op_width,
                 layer.kernel, kernel_width, name_of(layer.math), layer.seconds * 1e3, rate, share);
  }
}

void print_foldings(Output& output, PlanMode plan, const std::vector<Folding>& foldings) {
  if (plan != PlanMode::folded) return;
  output.print("\n");
  for (const Folding& each : foldings) {
    output.print("{} {}: {}\n", each.folded ? "folded" : "not folded", each.nodes, each.text);
  }
  if (foldings.empty()) output.print("nothing folded: no two linear operators stand next to each other\n");
}

void run(const RunOptions& options, Output& output) {
  Classifier classifier = load_classifier(options.classify);
  output.print("{}{}{}", kLoadingData, kLoadingModel, kNewInference);
  const Classification result = classify(classifier, options.repeat);
  print_op_times(output, result);
  print_correctness(output, result, classifier.course_model);

  const Json json = to_json(options.classify, classifier, result);
  const int64_t images = classifier.count();
  const double load_seconds = classifier.load_seconds;
  const Usage usage = usage_so_far();
  const std::vector<Folding> foldings = classifier.engine->foldings();
  const std::unique_ptr<Device> device = std::move(classifier.device);
  classifier = {};  // what measuring takes is not to come on top

  const DeviceKind kind = device->caps().kind;
  const int threads = device->caps().threads;
  std::optional<Ceilings> ceilings;
  if (kind != DeviceKind::simt) ceilings = known_ceilings(*device);
  print_layers(output, result, ceilings);
  print_foldings(output, options.classify.plan, foldings);
  output.print("\n{} images to labels in {:.3f} ms on {} ({} thread{}), after {:.3f} ms of loading\n", images,
               result.network_seconds * 1e3, name_of(kind), threads, threads == 1 ? "" : "s", load_seconds * 1e3);
  if (ceilings) {
    output.print("bound: {:.0f} GFLOP/s fp32 or {:.1f} GB/s, measured here\n",
                 ceilings->flops_per_second(Math::fp32) * 1e-9, ceilings->memory_bytes * 1e-9);
  }
  output.print("{}\n", to_text(usage));
  output.json(json);
  if (!(result.accuracy >= options.expect)) {
    throw wrong_result("accuracy {} on {} images is below --expect {}", python_repr(result.accuracy), images,
                       python_repr(options.expect));
  }
}

}  // namespace

Action declare_run(CLI::App& parser) {
  auto options = std::make_shared<RunOptions>();
  ClassifyOptions& classify = options->classify;
  add_text(parser, "MODEL", classify.model, "",
           "a shipped model's name (default fa19), an .onnx file, or an MXNet NAME-NNNN.params with NAME-symbol.json "
           "beside it");
  add_int(parser, "-n,--images", classify.images, 1, kMostImages, "the first N images (default: all)");
  add_parsed(parser, "--split", "test|train", "10000 images (default) or 60000",
             [&classify](const std::string& text, const std::string&) { classify.split = parse_split(text); });
  add_text(parser, "--data", classify.data, "DIR",
           "folder of the four idx files (default: /usr/share/datasets/fashion-mnist, then ./data)");
  add_int(parser, "--size", classify.side, 1, kMostSide, "side to scale images to (default: what the model takes)");
  add_compute(parser, classify.compute);
  add_parsed(parser, "--plan", "layers|fused|folded",
             "layers: each operator by itself; fused (default): a convolution with bias, pooling and activation in one "
             "step; folded: linear operators in a chain become one, too",
             [&classify](const std::string& text, const std::string& name) { classify.plan = parse_plan(text, name); });
  add_int(parser, "--batch", classify.batch, 1, kMostImages,
          "images computed at a time (default: what suits the caches)");
  add_int(parser, "--repeat", options->repeat, 1, kMostRepeats, "times are medians of N passes (default 1)");
  add_real(parser, "--expect", options->expect, 0, 1, "exit with 1 where the accuracy is below X");
  return [options](Output& output) { run(*options, output); };
}

}  // namespace convlab::app
