// Implements `convlab infer --stream`.

#include "app/networks/stream_infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "app/interrupt.h"
#include "app/networks/image_source.h"
#include "app/networks/image_stream.h"
#include "app/networks/part_file.h"
#include "app/plan_files.h"
#include "app/results/stream_json.h"
#include "app/usage.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/resources.h"
#include "convlab/base/text.h"
#include "convlab/measure/machine.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/session/ready_model.h"

namespace convlab::app {

namespace fs = std::filesystem;

namespace {

/// Returns the bytes to read, and the bytes to write, at a time. On a host, these are a few batches, so that little is
/// lost if the process is killed; a GPU computes faster, and needs more to stay busy during transfers.
int64_t chunk_bytes(const DeviceCaps& caps) { return int64_t{caps.runs_on_host() ? 8 : 64} << 20; }

void check_usage(const StreamRequest& request) {
  request.images.require_images();
  if (request.inputs.size() + request.images.files.size() != 1) {
    throw bad_input("--stream needs one file, folder or archive: one --input or one --image");
  }
  if (fs::path(request.output).extension() != ".npy") {
    throw bad_input("--stream needs --output Y.npy");
  }
  require_writable("--output", request.output);
}

/// Returns a hash of everything that a model consists of, including its weights.
std::string sum_of_model(const std::string& model, const Graph& graph) {
  const fs::path path(model);
  std::vector<fs::path> files = {path};
  if (path.extension() == ".params") {
    const std::string stem = path.stem().string();
    files.push_back(path.parent_path() / (stem.substr(0, stem.rfind('-')) + "-symbol.json"));
  } else if (path.extension() != ".onnx") {
    files = {find_resource("models") / (model + ".onnx")};
  }
  Fingerprint sum;
  for (const fs::path& file : files) sum.add_file(file);
  for (const auto& [value, tensor] : graph.constants) {  // weights may be in other files
    sum.add({static_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  return sum.hex();
}

/// Returns the shape of an image's row, the model's output for it.
Shape row_shape(const ReadyModel& ready, const std::string& model) {
  Shape shape = ready.output_shapes(1)[0];
  if (shape.empty() || shape[0] != 1)
    throw bad_input("{}: output {} does not have one row per image", model, to_text(shape));
  return shape;
}

/// Returns the model for chunks of images. Throws Error(bad_input) if it would need all images at once.
std::unique_ptr<ReadyModel> make_ready(Graph graph, const ImageSource& source, Device& device,
                                       const EngineOptions& options) {
  Shape input = source.shape();
  const int64_t fit =
      chunk_bytes(device.caps()) / (image_element_count(input) * static_cast<int64_t>(size_of(source.type())));
  input[0] = std::min(input[0], std::max({int64_t{1}, fit, options.batch}));
  const std::string name = graph.name;
  auto model = std::make_unique<ReadyModel>(std::move(graph), input, device, options);
  if (!model->splits())
    throw bad_input("{}: --stream is not supported: the model does not process each image independently", name);
  return model;
}

/// Returns the number of images per chunk: whole batches, as many as fit.
int64_t chunk_of(const ReadyModel& model, const ImageSource& source, const Shape& row, const DeviceCaps& caps) {
  const auto bytes = std::max(image_element_count(source.shape()) * static_cast<int64_t>(size_of(source.type())),
                              image_element_count(row) * static_cast<int64_t>(sizeof(float)));
  return std::max<int64_t>(1, chunk_bytes(caps) / bytes / model.batch()) * model.batch();
}

Facts facts_of(const StreamRequest& request, const ImageSource& source, const std::string& model_sum, DeviceKind device,
               int64_t batch) {
  const ComputeOptions& compute = request.compute;
  std::string kernels = compute.plan_file.empty() ? compute.kernel : compute.plan_file;
  if (fs::is_regular_file(kernels)) {
    Fingerprint sum;
    sum.add_file(kernels);
    kernels += " with the sum " + sum.hex();
  }
  Facts facts = {{"convlab", this_build().version},
                 {"model", fmt::format("{} with the sum {}", request.model, model_sum)}};
  for (auto& each : source.facts()) facts.push_back(each);
  facts.insert(facts.end(), {{"share", fmt::format("{}/{}", request.share.shard().index, request.share.shard().count)},
                             {"results", request.options.classes ? "classes" : "outputs"},
                             {"device", std::string(name_of(device))},
                             {"math", std::string(name_of(compute.math()))},
                             {"plan", std::string(name_of(request.plan))},
                             {"kernels", kernels},
                             {"batch", std::to_string(batch)}});
  return facts;
}

std::string where_it_stands(const PartFile& part, int64_t total) {
  return fmt::format("{} of {} rows are in {}; continue with --resume", part.rows(), total, part.part());
}

void print_result(Output& output, const StreamResult& result) {
  output.print("{}: {} -> {}: {}\n", result.input, to_text(result.input_shape), result.output,
               to_text(result.output_shape));
  if (result.resumed > 0) output.print("{} rows were already computed\n", result.resumed);
  output.print("{} images in {:.3f} s: {:.0f} images/s; the engine alone {:.0f} images/s; peak memory {} MB\n",
               result.images, result.seconds, rate_of(result.images, result.seconds),
               rate_of(result.images, result.engine_seconds), result.memory_most_kb / 1000);
}

}  // namespace

void add_stream_options(CLI::App& parser, StreamOptions& options) {
  add_flag(parser, "--stream", options.on,
           "read, compute and write images in chunks, for files larger than memory; --input can also be an idx file, "
           "--image a folder or tar archive of images");
  add_flag(parser, "--resume", options.resume, "with --stream: continue an interrupted run");
  add_flag(parser, "--classes", options.classes, "with --stream: write the class of each image instead of its scores");
}

void stream_infer(const StreamRequest& request, Output& output) {
  const Clock::time_point begin = Clock::now();
  check_usage(request);
  // These must outlive on_interrupt, which must be created before any thread.
  std::unique_ptr<PartFile> part;
  std::atomic<PartFile*> interrupted = nullptr;
  int64_t total = 0;
  const OnInterrupt on_interrupt([&] {
    PartFile* const results = interrupted;
    if (results == nullptr) return;
    results->keep();
    note("interrupted: {}", where_it_stands(*results, total));
  });
  const std::unique_ptr<Device> device = request.compute.open();
  const DeviceCaps& caps = device->caps();
  StreamResult result{.model = request.model,
                      .output = request.output,
                      .device = caps,
                      .math = request.compute.math(),
                      .plan = request.plan,
                      .memory_before_kb = resident_memory().now_kb};
  const bool pictures = !request.images.files.empty();
  const NamedFile place = parse_named_file(pictures ? request.images.files[0] : request.inputs[0]);
  const std::unique_ptr<ImageSource> source =
      pictures ? open_pictures(place, request.images, request.compute.threads) : open_array(place);
  std::map<std::string, Shape> shapes;
  if (source->shape().size() != 3) shapes.emplace(place.name, source->shape());  // with 3, a channel may be missing
  Graph graph = load_for_arrays(request.model, shapes);
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
    throw bad_input("{}: model has {} inputs and {} outputs; --stream needs one of each", graph.name,
                    graph.inputs.size(), graph.outputs.size());
  }
  source->fit(graph);
  EngineOptions engine_options{.plan = request.compute.plan_options(request.plan, source->type()),
                               .batch = request.batch,
                               .labels = request.options.classes};
  replay_plan_file(request.compute, graph, caps, engine_options);
  const std::string model_sum = sum_of_model(request.model, graph);
  const std::unique_ptr<ReadyModel> model = make_ready(std::move(graph), *source, *device, engine_options);

  const Shape row = row_shape(*model, request.model);
  result.input = place.file;
  result.input_shape = source->shape();
  result.output_shape = row;
  const int64_t all = source->shape()[0], first = request.share.shard().first(all);
  result.output_shape[0] = total = request.share.shard().images(all);
  result.batch = model->batch();
  result.chunk = chunk_of(*model, *source, row, caps);
  const ElementType type = request.options.classes ? ElementType::i64 : model->output_types()[0];
  part = std::make_unique<PartFile>(request.output, type, result.output_shape,
                                    facts_of(request, *source, model_sum, caps.kind, result.batch),
                                    request.options.resume);
  result.resumed = part->rows();
  // Restart at the beginning of a batch, so that each image is in the same batch as without the interruption.
  if (result.resumed < total) result.resumed -= result.resumed % result.batch;
  part->go_back(result.resumed);
  result.images = total - result.resumed;
  result.load_seconds = seconds_since(begin);
  const Clock::time_point first_read = Clock::now();
  interrupted = part.get();
  if (!part->whole()) {
    try {
      result.engine_seconds = run_stream({.source = *source,
                                          .model = *model,
                                          .results = *part,
                                          .chunk = result.chunk,
                                          .type = type,
                                          .classes = request.options.classes},
                                         first + result.resumed, first + total);
      part->finish();
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}; {}", error.what(), where_it_stands(*part, total)));
    }
  }
  interrupted = nullptr;
  result.seconds = seconds_since(first_read);
  result.memory_most_kb = resident_memory().most_kb;
  print_result(output, result);
  write_json(output, result, request.share, all);
}

}  // namespace convlab::app
