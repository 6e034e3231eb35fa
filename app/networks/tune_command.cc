// convlab tune: measures which kernels are the fastest on this machine: those of a network, for a plan file, or those
// of a problem.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/guest_kernels.h"
#include "app/networks/model_inputs.h"
#include "app/networks/tuning.h"
#include "app/problems.h"
#include "app/results/tune_json.h"
#include "app/tune_kernels.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/measure/machine.h"
#include "convlab/plan/plan_file.h"
#include "convlab/session/ready_model.h"

namespace convlab::app {
namespace {

constexpr double kMostSeconds = 1e5;

struct TuneOptions {
  std::string model, output;
  std::vector<std::string> inputs, shapes;
  ComputeOptions compute;
  PlanMode plan = PlanMode::fused;
  int64_t images = 0, batch = 0;  ///< 0: not given
  double seconds = 20;
  bool bytes = false;
  std::string kernel, problem, problems;  ///< to tune kernels instead of a network
};

/// The model, and the inputs that it is measured on.
struct Subject {
  Graph graph;
  std::vector<Tensor> inputs;
  ElementType type;
};

Subject subject_of(const TuneOptions& options) {
  Subject subject{.type = options.bytes ? ElementType::u8 : ElementType::f32};
  if (!options.inputs.empty()) {
    if (options.images > 0 || options.bytes || !options.shapes.empty()) {
      throw bad_input("tune: --input cannot be combined with --images, --shape or --bytes");
    }
    std::vector<GivenInput> given = read_inputs(options.inputs);
    subject.graph = load_for_arrays(options.model, shapes_of(given));
    given = in_order(subject.graph, std::move(given));
    subject.type = input_type(given);
    for (const GivenInput& each : given) subject.inputs.push_back(converted(each.tensor, subject.type));
    return subject;
  }
  const std::map<std::string, Shape> asked = parse_shapes(options.shapes);
  subject.graph = load_for_shapes(options.model, asked);
  std::vector<Shape> shapes = input_shapes(subject.graph, asked, std::max<int64_t>(options.images, 1));
  const bool counted = options.images > 0 && shapes.size() == 1 && !shapes[0].empty();
  if (counted) shapes[0][0] = options.images;
  for (const Shape& shape : shapes) subject.inputs.push_back(random_pixels(shape, subject.type));
  return subject;
}

/// Describes the configurations of the whole network that were measured.
std::string ways_text(const Tuned& tuned) {
  const auto text_of = [](const TunedWay& way) {
    return fmt::format("batches of {}, '{}' layouts", way.batch, family_name(way.channel_lanes));
  };
  std::string text;
  for (const TunedWay& way : tuned.ways) {
    if (tuned.ways.size() > 1) text += fmt::format("{} {:.3f} ms; ", text_of(way), way.seconds * 1e3);
  }
  return fmt::format("{}chosen: {} ({})", text, text_of(tuned.ways[tuned.way]), tuned.why);
}

void print_choices(Output& output, const PlanChoice& plan) {
  output.print("{:<22} {:<36} {:>9}  {:<22} {:>9}  {:<6} {}\n", "kernel", "problem", "ms", "next", "ms", "why", "step");
  for (const std::vector<KernelChoice>* choices : {&plan.kernels, &plan.others}) {
    for (const KernelChoice& choice : *choices) {
      const bool alone = choice.next.empty();
      output.print("{:<22} {:<36} {:>9.4f}  {:<22} {:>9}  {:<6} {}\n", choice.kernel, choice.problem, choice.ms,
                   alone ? "-" : choice.next, alone ? "-" : fmt::format("{:.4f}", choice.next_ms), choice.why,
                   choice.step);
    }
  }
}

void tune(const TuneOptions& options, Output& output) {
  require_writable("-o", options.output);
  require_other_file("-o", options.output, options.model);
  const std::unique_ptr<Device> device = options.compute.open();
  const DeviceCaps& caps = device->caps();
  if (!caps.has_real_times())
    throw bad_input("tune: --device simt is not supported, its times are not GPU times; use cpu or cuda");
  const Subject subject = subject_of(options);
  const EngineOptions engine{.plan = options.compute.plan_options(options.plan, subject.type), .batch = options.batch};
  note("tuning {}: up to {:.0f} s of measurements, more if a pass takes long", subject.graph.name, options.seconds);
  Tuned tuned = tune_network({.graph = subject.graph,
                              .inputs = subject.inputs,
                              .device = *device,
                              .engine = engine,
                              .seconds = options.seconds,
                              .tell = [](const std::string& what) { note("measuring {}", what); }});
  const PlanFile file{.version = this_build().version,
                      .model = subject.graph.name,
                      .fingerprint = fingerprint_of(subject.graph),
                      .processor = processor_of(caps),
                      .device = caps.kind,
                      .threads = caps.threads,
                      .math = engine.plan.math,
                      .mode = options.plan,
                      .input = subject.type,
                      .batch = tuned.batch(),
                      .choices = tuned.choices};
  const int64_t images = images_of(subject.inputs[0].shape());
  const std::string time = fmt::format("{} image{} in {:.3f} ms", images, images == 1 ? "" : "s", tuned.tuned_s * 1e3);
  const std::string summary =
      tuned.changed() ? fmt::format("{} tuned, {:.3f} ms with the planner's choices", time, tuned.planned_s * 1e3)
                      : fmt::format("{}: no change, nothing is clearly faster than the planner's choices", time);
  const std::string columns =
      "each step: kernel, time, the next best, and why: first: the planner's choice; faster: clearly faster;";
  const std::string other_words =
      "close: not clearly faster, so the planner's choice; only: no other kernel supports it";
  write_file(options.output, to_text(file, {fmt::format("convlab {}, {}", output.command(), utc_now()), summary,
                                            ways_text(tuned), columns, other_words}));
  for (const PlanChoice& plan : file.choices.plans) {
    output.print("{}, '{}' layouts:\n", to_text(plan.inputs[0]), family_name(plan.channel_lanes));
    print_choices(output, plan);
    output.print("\n");
  }
  output.print("{}\n  {}\n{}\n{}\n{}\n", columns, other_words, kProblemLegend, ways_text(tuned), summary);
  write_json(output, options.output, file, tuned, images);
}

/// Throws Error(bad_input) unless the options are for a network, or all for kernels.
void require_subject(const TuneOptions& options) {
  if (options.problem.empty() && options.problems.empty()) {
    if (!options.kernel.empty()) throw bad_input("tune: --kernel needs --problem or --shapes");
    if (options.model.empty()) throw bad_input("tune: MODEL is required, or --problem to tune kernels for a problem");
    if (options.output.empty()) throw bad_input("tune: -o is required: the plan file to write");
    return;
  }
  const bool for_network = !options.model.empty() || !options.output.empty() || !options.inputs.empty() ||
                           !options.shapes.empty() || options.batch > 0 || options.bytes;
  if (for_network) {
    throw bad_input(
        "tune: --problem and --shapes cannot be combined with MODEL, -o, --input, --shape, --batch or --bytes");
  }
}

/// Tunes kernels for problems.
void tune_problems(const TuneOptions& options, Output& output) {
  const TuneKernelsOptions kernels{.kernel = options.kernel.empty() ? "*" : options.kernel,
                                   .problems = {.problem = options.problem, .shapes = options.problems},
                                   .compute = options.compute,
                                   .images = options.images,
                                   .seconds = options.seconds};
  if (!run_in_guest({kernels.kernel}, options.compute.device)) tune_kernels(kernels, output);
}

}  // namespace

Action declare_tune(CLI::App& parser) {
  auto options = std::make_shared<TuneOptions>();
  add_text(parser, "MODEL", options->model, "", "a shipped model's name, an .onnx file or an MXNet .params file");
  add_text(parser, "-o,--output", options->output, "PLAN.txt",
           "plan file to write, for --plan-file of 'convlab run', 'infer', 'explain' and 'compare'");
  CLI::Option* problem = add_text(parser, "--problem", options->problem, "TEXT",
                                  "instead of a network: find the fastest kernel for " + std::string(kOperatorHelp));
  exclude(add_text(parser, "--shapes", options->problems, "FILE", "the same for each line of a file with problems"),
          problem);
  add_text(parser, "--kernel", options->kernel, "GLOB",
           "for --problem and --shapes: kernels with matching names, or a kernel file (default: all of the device)");
  add_int(parser, "-n,--images", options->images, 1, kMostImages,
          "images of a run; batches of 1, 2, 4, ... up to N are tried (default: the model's, or 1)");
  add_int(parser, "--batch", options->batch, 1, kMostImages, "batch size (default: the fastest)");
  add_texts(parser, "--shape", options->shapes, 1, kAnyNumber, "[NAME=]NxCxHxW",
            "shape of an input that has dynamic sizes");
  add_texts(parser, "--input", options->inputs, 1, kAnyNumber, "[NAME=]X.npy|X.npz",
            "arrays to measure on (default: random pixels)");
  add_flag(parser, "--bytes", options->bytes, "inputs are uint8, as for 'convlab run' (default: float32)");
  add_device(parser, options->compute);
  add_math(parser, options->compute);
  add_threads(parser, options->compute);
  add_parsed(parser, "--plan", "layers|fused|folded", "as for 'convlab run' (default: fused)",
             [options](const std::string& text, const std::string& name) { options->plan = parse_plan(text, name); });
  add_real(parser, "--seconds", options->seconds, 0, kMostSeconds,
           "approximate seconds for all measurements (default: 20)");
  return [options](Output& output) {
    require_subject(*options);
    if (options->model.empty()) {
      tune_problems(*options, output);
    } else {
      tune(*options, output);
    }
  };
}

}  // namespace convlab::app
