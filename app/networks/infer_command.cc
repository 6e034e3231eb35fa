// convlab infer: runs any supported model on arrays or images; prints the predicted classes and each layer's time.

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/compute_options.h"
#include "app/guests/guest_kernels.h"
#include "app/networks/image_inputs.h"
#include "app/networks/model_inputs.h"
#include "app/networks/model_outputs.h"
#include "app/networks/nan_values.h"
#include "app/networks/stream_infer.h"
#include "app/networks/top_classes.h"
#include "app/plan_files.h"
#include "app/recorders.h"
#include "app/results/layer_table.h"
#include "app/results/profile_json.h"
#include "app/results/results_json.h"
#include "app/shards/shard_options.h"
#include "app/shards/share.h"
#include "app/usage.h"
#include "convlab/base/clock.h"
#include "convlab/base/file.h"
#include "convlab/device/device.h"
#include "convlab/measure/ceilings.h"
#include "convlab/profile/nvprof.h"
#include "convlab/session/timing.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostInferred = int64_t{1} << 40, kMostTop = 1'000'000;

struct InferOptions {
  std::string model, output, labels, trace;
  std::vector<std::string> inputs;
  ImageOptions images;
  ComputeOptions compute;
  StreamOptions stream;
  ShardOptions sharing;
  PlanMode plan = PlanMode::fused;
  int64_t batch = 0, repeat = 0;
  int64_t top = 0;  ///< 0: not given
  bool profile = false;
};

bool wants_top(const InferOptions& options) {
  return options.top > 0 || !options.labels.empty() || !options.images.files.empty();
}

/// Describes what is computed, in the same words for all shares.
std::string work_of(const InferOptions& options) {
  const ComputeOptions& compute = options.compute;
  std::string work = fmt::format("convlab infer {} {}{} --kernel {} --math {} --plan {}", options.model,
                                 fmt::join(options.inputs, " "), fmt::join(options.images.files, " "), compute.kernel,
                                 name_of(compute.math()), name_of(options.plan));
  if (!compute.plan_file.empty()) work += " --plan-file " + compute.plan_file;
  if (options.stream.classes) work += " --classes";
  return with_contents(std::move(work), {options.model, compute.kernel, compute.plan_file});
}

/// Copies rows of an array.
Tensor rows_of(const Tensor& all, int64_t first, int64_t count) {
  Shape shape = all.shape();
  const size_t bytes = all.bytes() / static_cast<size_t>(shape[0]);
  shape[0] = count;
  Tensor rows(all.type(), std::move(shape));
  if (rows.bytes() > 0) {
    std::memcpy(rows.raw(), static_cast<const std::byte*>(all.raw()) + static_cast<size_t>(first) * bytes,
                rows.bytes());
  }
  return rows;
}

/// Reduces the inputs to this process's share. Returns the number of images of all shares.
int64_t take_share(const Shard& shard, std::vector<GivenInput>& given, std::vector<std::string>& image_names) {
  const Shape& shape = given[0].tensor.shape();
  const int64_t all = shape.empty() ? 1 : shape[0];
  if (shard.whole()) return all;
  if (given.size() > 1 || shape.empty()) throw bad_input("--shard needs a model with a single input of images");
  const int64_t first = shard.first(all), images = shard.some_images(all);
  given[0].tensor = rows_of(given[0].tensor, first, images);
  if (!image_names.empty()) image_names = {image_names.begin() + first, image_names.begin() + first + images};
  return all;
}

/// Throws Error(bad_input) if options do not fit together, or if the results would neither be printed nor written.
void check_usage(const InferOptions& options, const Output& output) {
  options.images.require_images();
  if (options.stream.resume || options.stream.classes) {
    throw bad_input("{} needs --stream", options.stream.resume ? "--resume" : "--classes");
  }
  if (options.inputs.empty() && options.images.files.empty()) {
    throw bad_input("infer: no input; use --input or --image");
  }
  const bool shown = !options.output.empty() || wants_top(options) || options.repeat > 0 || options.profile ||
                     !options.trace.empty() || output.wants_json();
  if (!shown) throw bad_input("infer: the result would be lost; use --output, --top, --repeat or --json");
}

/// Runs it in bounded memory. Options that print results of each image, or need several passes, are not supported.
void infer_stream(const InferOptions& options, Share& share, Output& output) {
  const std::pair<bool, const char*> given[] = {{options.top > 0, "--top"},
                                                {!options.labels.empty(), "--labels"},
                                                {options.repeat > 0, "--repeat"},
                                                {options.profile, "--profile"},
                                                {!options.trace.empty(), "--trace"}};
  for (const auto& [is_given, name] : given) {
    if (is_given)
      throw bad_input("{} is not supported with --stream, which computes each image once and prints none", name);
  }
  stream_infer({.model = options.model,
                .inputs = options.inputs,
                .images = options.images,
                .output = options.output,
                .compute = options.compute,
                .plan = options.plan,
                .batch = options.batch,
                .options = options.stream,
                .share = share},
               output);
}

/// Makes glibc return freed arrays to the system: otherwise freeing the first large ones would raise its mmap
/// threshold, and it would keep others.
void return_freed_arrays() {
#ifdef __GLIBC__
  constexpr int kLarge = 128 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
#endif
}

/// "x.npy: 1x1x28x28 -> y.npy: 1x10", or a line for each array if there are several inputs or outputs.
void print_arrays(Output& output, const InferResult& result) {
  if (result.inputs.size() == 1 && result.outputs.size() == 1) {
    const NamedArray &from = result.inputs[0], &to = result.outputs[0];
    return output.print("{}: {} -> {}: {}\n", from.file, to_text(from.shape), to.file.empty() ? to.name : to.file,
                        to_text(to.shape));
  }
  for (const NamedArray& each : result.inputs)
    output.print("input '{}' from {}: {}\n", each.name, each.file, to_text(each.shape));
  for (const NamedArray& each : result.outputs) {
    const std::string place = each.file.empty() ? "" : " in " + each.file;
    output.print("output '{}'{}: {}\n", each.name, place, to_text(each.shape));
  }
}

/// "slowest layer: 'fc1' (Gemm): 0.503 of 1.008 ms".
std::string slowest(const std::vector<LayerResult>& layers) {
  double sum = 0;
  for (const LayerResult& layer : layers) sum += layer.seconds;
  const auto most = std::ranges::max_element(layers, {}, &LayerResult::seconds);
  return fmt::format("slowest layer: '{}' ({}): {:.3f} of {:.3f} ms", most->name, most->op, most->seconds * 1e3,
                     sum * 1e3);
}

void print_times(Output& output, const InferResult& result, Device& device, int64_t images) {
  std::optional<Ceilings> ceilings;
  if (device.caps().has_real_times()) ceilings = known_ceilings(device);
  print_layers(output, result.layers, 1, ceilings);
  output.print("\n");
  if (ceilings) {
    output.print("of bound: the roofline time divided by the measured one; Winograd or cached data can exceed 100 %\n");
  }
  output.print("{}\n", slowest(result.layers));
  output.print("{} in {:.3f} ms on {}\n", images == 1 ? "1 image" : fmt::format("{} images", images),
               result.network_seconds * 1e3, device.caps().name);
  if (!device.caps().runs_on_host()) {
    output.print("on the GPU alone, from inputs to outputs in its memory: {:.3f} ms\n",
                 result.device_network_seconds * 1e3);
  }
}

/// Returns the top classes of the first output; none if they were not requested explicitly and the output has no
/// classes.
std::vector<std::vector<TopClass>> find_top(const InferOptions& options, const Tensor& scores,
                                            const std::vector<std::string>& labels) {
  constexpr int64_t kUsual = 5;
  if (options.top == 0 && options.labels.empty() && !has_classes(scores.shape())) return {};
  return top_classes(scores, options.top > 0 ? options.top : kUsual, labels, options.labels);
}

void infer_at_once(const InferOptions& options, const Share& share, Output& output) {
  const Clock::time_point begin = Clock::now();
  check_usage(options, output);
  return_freed_arrays();
  if (!options.output.empty()) require_output(options.output);
  if (!options.trace.empty()) require_writable("--trace", options.trace);
  const std::vector<std::string> labels =
      options.labels.empty() ? std::vector<std::string>() : read_labels(options.labels);
  const bool recorded = options.profile || !options.trace.empty();
  const std::unique_ptr<Recorder> recorder = recorded ? make_recorder(options.compute.device) : nullptr;
  if (recorded) recorder->start();
  const std::unique_ptr<Device> device = options.compute.open(recorder.get());
  std::vector<GivenInput> given = read_inputs(options.inputs);
  const Preparation preparation = options.images.preparation();
  std::vector<Pictures> pictures = read_pictures(options.images, options.compute.threads);
  std::map<std::string, Shape> shapes = shapes_of(given);
  for (const Pictures& each : pictures) shapes[each.name] = input_shape(each.pixels.shape(), preparation.order);
  const int64_t memory_before_kb = resident_memory().now_kb;
  Graph graph = load_for_arrays(options.model, shapes);
  std::vector<std::string> image_names;  // of the classified images
  for (const Pictures& each : pictures) {
    given.push_back(to_input(each, preparation, graph));
    if (image_names.empty()) image_names = each.files;
  }
  pictures.clear();
  given = in_order(graph, std::move(given));
  const int64_t all_images = take_share(share.shard(), given, image_names);
  const OutputPlaces places(graph, options.output);

  const ElementType type = input_type(given);
  InferResult result{.model = options.model,
                     .device = device->caps(),
                     .math = options.compute.math(),
                     .plan = options.plan,
                     .memory_before_kb = memory_before_kb};
  std::vector<Tensor> inputs;
  std::string nan_input;
  for (size_t i = 0; i < given.size(); ++i) {
    require_fitting(graph, graph.inputs[i], given[i].tensor.shape());
    result.inputs.push_back(
        {.name = graph.name_of(graph.inputs[i]), .file = given[i].file, .shape = given[i].tensor.shape()});
    inputs.push_back(given[i].tensor.type() == type ? std::move(given[i].tensor) : converted(given[i].tensor, type));
    if (nan_input.empty() && count_nan(inputs.back()) > 0) nan_input = given[i].file;
  }
  const std::vector<Shape> input_shapes = shapes_of(inputs);
  const int64_t images = images_of(input_shapes);
  EngineOptions engine_options{.plan = options.compute.plan_options(options.plan, type),
                               .batch = options.batch,
                               .observer = recorder.get(),
                               .pipelined = options.repeat > 0 && !recorded,  // a single pass does not pay for it
                               .same_count = true};
  replay_plan_file(options.compute, graph, device->caps(), engine_options);
  ReadyModel model(std::move(graph), input_shapes, *device, engine_options);
  if (!share.shard().whole() && !model.splits()) {
    throw bad_input("{}: --shard is not supported: the model does not process each image independently", options.model);
  }
  note_unused_math(model.plan());
  result.load_seconds = seconds_since(begin);
  std::vector<Tensor> outputs = model.run(inputs);
  std::optional<Recording> recording;
  if (recorded) recording = recorder->stop();
  for (size_t i = 0; i < outputs.size(); ++i) {
    result.outputs.push_back({.name = places.names()[i], .file = places.files()[i], .shape = outputs[i].shape()});
  }
  note_nan(places.names(), outputs, nan_input);
  if (wants_top(options)) result.top = find_top(options, outputs[0], labels);
  places.write(std::move(outputs));
  print_arrays(output, result);
  print_top(output, result.top, image_names);
  if (options.profile) {
    output.print("{}", nvprof_summary(::getpid(), "convlab " + output.command(), summarize(*recording)));
    if (options.repeat == 0)
      output.print("A kernel's time is of all layers together; --repeat 10 shows each layer's\n");
  }
  if (!options.trace.empty()) write_file(options.trace, chrome_trace_text(*recording));
  if (options.repeat > 0 || output.wants_json()) {
    const PassTimes times = time_passes(model, inputs, std::max<int64_t>(options.repeat, 1));
    result.memory_most_kb = resident_memory().most_kb;  // before print_times() needs memory to measure ceilings
    result.network_seconds = times.network_s;
    result.device_network_seconds = times.device_network_s;
    result.layers = describe_layers(model, images, times.steps_s);
    if (options.repeat > 0) print_times(output, result, *device, images);
  }
  write_json(output, result, share, all_images);
}

void infer(InferOptions options, Output& output) {
  const Shard shard = options.sharing.shard();
  options.compute.device = device_of(shard, options.compute.device);
  Share share(shard, shard.whole() ? "" : work_of(options), output);
  if (shard.launched() && !options.output.empty()) options.output = part_path(options.output, shard).string();
  if (!share.done_before(options.stream.resume, output)) {
    options.stream.on ? infer_stream(options, share, output) : infer_at_once(options, share, output);
  }
  share.finish(output);
}

}  // namespace

Action declare_infer(CLI::App& parser) {
  auto options = std::make_shared<InferOptions>();
  require(
      add_text(parser, "MODEL", options->model, "", "a shipped model's name, an .onnx file or an MXNet .params file"));
  add_texts(parser, "--input", options->inputs, 1, kAnyNumber, "[NAME=]X.npy|X.npz",
            "input arrays, with the input's NAME if the model has several; float32 or uint8 pixels, other types are "
            "converted; arrays of a .npz file have names already");
  add_image_options(parser, options->images);
  add_text(parser, "--output", options->output, "Y.npy|Y.npz|FOLDER",
           "where to write the output; several outputs go into a .npz file or a folder, under their names");
  add_int(parser, "--top", options->top, 1, kMostTop,
          "print the N most probable classes of each image (default: 5 with --image or --labels)");
  add_text(parser, "--labels", options->labels, "FILE", "names of the classes, one per line");
  add_stream_options(parser, options->stream);
  add_shard(parser, options->sharing);
  add_compute(parser, options->compute);
  add_plan_file(parser, options->compute);
  add_parsed(parser, "--plan", "layers|fused|folded", "as for 'convlab run' (default: fused)",
             [options](const std::string& text, const std::string& name) { options->plan = parse_plan(text, name); });
  add_int(parser, "--batch", options->batch, 1, kMostInferred, "batch size (default: what fits the caches)");
  add_int(parser, "--repeat", options->repeat, 1, kMostPasses,
          "also time each layer and the network: medians of N passes after the first");
  add_flag(parser, "--profile", options->profile, "also print a profile of the pass, as 'convlab profile' does");
  add_text(parser, "--trace", options->trace, "FILE",
           "also write a trace of the pass for chrome://tracing or Perfetto");
  return [options](Output& output) {
    if (!run_in_guest({options->compute.kernel}, options->compute.device)) infer(*options, output);
  };
}

}  // namespace convlab::app
