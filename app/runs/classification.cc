// Classifies Fashion-MNIST with one model.

#include "app/runs/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "app/plan_files.h"
#include "app/results/output.h"
#include "app/results/progress_line.h"
#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"
#include "convlab/device/cuda.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/rewrite/ends.h"
#include "convlab/session/labels.h"
#include "convlab/session/timing.h"

namespace convlab::app {
namespace {

/// Returns the side length of the images that the model expects; `wanted` is --size, 0 if it was not given.
int64_t image_side(const Graph& graph, int64_t wanted) {
  const Shape& shape = graph.inputs[0].shape;
  if (shape.size() != 4 || (shape[1] != 1 && shape[1] != -1) || shape[2] != shape[3]) {
    throw bad_input(
        "{}: input is {}, expected square grayscale images like Fashion-MNIST's (Nx1xSxS); use 'convlab infer' for "
        "other inputs",
        graph.name, to_text(graph.inputs[0]));
  }
  constexpr int64_t kOriginalSide = 28;
  const int64_t side = shape[2];
  if (side < 0) return wanted > 0 ? wanted : kOriginalSide;
  if (wanted > 0 && wanted != side) {
    throw bad_input("--size {}: {} expects {}x{} images; omit --size", wanted, graph.name, side, side);
  }
  return side;
}

bool on_gpu(const ClassifyOptions& options) {
  const std::string& device = options.compute.device;
  return device.starts_with("cuda") || (device == "auto" && cuda_present());
}

/// Whether the device scales the images.
bool leaves_scaling(const ClassifyOptions& options) {
  return options.scaling == Scaling::chosen ? on_gpu(options) : options.scaling == Scaling::device;
}

/// A loaded model, and the side length of the images that it expects.
struct ModelFile {
  std::shared_ptr<Graph> graph;
  int64_t side = 0;
};

/// The requested images, or this process's share of them.
struct Data {
  Dataset images;
  int64_t all_images = 0;  ///< number of images of all shares
};

/// Throws Error(bad_input), with the size, if copies need more memory than there is, or if the share has no images.
Data load_images(const ClassifyOptions& options) {
  Dataset once = load_fashion_mnist(options.split, options.data, options.images);
  const int64_t all = checked_mul(std::ssize(once.labels), options.copies);
  if (options.copies == 1 && options.shard.whole()) return {std::move(once), all};
  const int64_t images = options.shard.some_images(all);
  // Besides its pixels, an image needs memory for its label, here and in the Classifier, its predicted label, and its
  // scores.
  constexpr int64_t kOtherBytes = 2 + sizeof(int) + sizeof(float) * kFashionMnistClasses.size();
  const int64_t pixels = once.images.count() / std::ssize(once.labels);
  require_memory(checked_mul(images, pixels + kOtherBytes),
                 fmt::format("--copies {}: {} images need", options.copies, images), "use fewer");
  return {part_of_copies(once, options.shard.first(all), images), all};
}

/// The files of load_classifier(). Other threads read them while it opens the device, which takes longer for a GPU.
struct Reading {
  explicit Reading(const ClassifyOptions& options) {
    model = std::async(std::launch::async, [&options] {
              auto graph = std::make_shared<Graph>(load_model(options.model));
              const int64_t side = image_side(*graph, options.side);
              return ModelFile{std::move(graph), side};
            }).share();
    data = std::async(std::launch::async, [&options] { return std::make_shared<Data>(load_images(options)); }).share();
    images = std::async(std::launch::async, [&options, model = model, data = data] {
      Tensor originals = std::move(data.get()->images.images);
      const int64_t side = leaves_scaling(options) ? originals.shape()[2] : model.get().side;
      // A GPU gets all images at once, from page-locked memory.
      return ScaledImages(std::move(originals), side, static_cast<int>(options.compute.threads), on_gpu(options));
    });
  }

  std::shared_future<ModelFile> model;
  std::shared_future<std::shared_ptr<Data>> data;  ///< for labels; images are only for `images`
  std::future<ScaledImages> images;
};

}  // namespace

PixelScale parse_pixels(const std::string& text, const std::string& name) {
  constexpr double kMost = 255, kLeast = 1e-6;
  if (text == "0..255") return {};
  if (text == "0..1") return {.factor = 1 / kMost};
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() != 2) throw bad_input("{} must be 0..1, 0..255 or MEAN/STD, got '{}'", name, printable(text));
  const double mean = parse_double(parts[0], name, -kMost, kMost),
               deviation = parse_double(parts[1], name, kLeast, kMost);
  return {.factor = 1 / (kMost * deviation), .offset = -mean / deviation};
}

std::unique_ptr<Classifier> load_classifier(const ClassifyOptions& options, StageObserver* observer) {
  const Clock::time_point begin = Clock::now();
  auto classifier = std::make_unique<Classifier>();
  Classifier& loaded = *classifier;
  Reading reading(options);
  loaded.devices = options.compute.open_all(observer);
  Graph graph = [&] {
    const Observed part(observer, {Stage::model});
    return std::move(*reading.model.get().graph);
  }();
  loaded.course_model = course_model_name(graph);
  {
    const Observed part(observer, {Stage::data});
    loaded.labels = reading.data.get()->images.labels;
    loaded.all_images = reading.data.get()->all_images;
  }
  const int64_t count = std::ssize(loaded.labels);
  if (options.images != ClassifyOptions().images && options.images > loaded.all_images / options.copies) {
    note("--images {}: the data set has only {}; using all of them", options.images,
         loaded.all_images / options.copies);
  }
  {
    const Observed part(observer, {Stage::scaling});
    loaded.images = reading.images.get();
  }

  // A GPU scales the images and finds the labels: transferring scaled images and scores would take longer.
  loaded.finds_labels = !loaded.caps().runs_on_host();
  EngineOptions engine{.plan = options.compute.plan_options(options.plan, ElementType::u8),
                       .batch = options.batch,
                       .observer = observer,
                       .scale_to = reading.model.get().side,
                       .labels = loaded.finds_labels,
                       .pipelined = options.pipelined};
  replay_plan_file(options.compute, graph, loaded.caps(), engine);
  const std::string name = graph.name;
  const PixelScale scale = parse_pixels(options.pixels, "--scale-pixels");
  if (scale.factor != 1) scale_values(graph, static_cast<float>(scale.factor), static_cast<float>(scale.offset));
  loaded.model = std::make_unique<ReadyModel>(std::move(graph), loaded.images.shape(), loaded.devices, engine);
  constexpr auto kClasses = static_cast<int64_t>(kFashionMnistClasses.size());
  const Shape scores = loaded.model->scores_shape(count);
  if (scores.empty() || scores[0] != count || element_count(scores) != count * kClasses) {
    throw bad_input("{}: output is {} for {} images, expected a score for each of {} classes", name, to_text(scores),
                    count, kClasses);
  }
  {
    const Observed part(observer, {Stage::memory});
    if (loaded.images.ready()) {
      loaded.locked_images = loaded.model->page_lock(loaded.images.from(0, count),
                                                     static_cast<size_t>(element_count(loaded.images.shape())));
    }
  }
  loaded.load_seconds = seconds_since(begin);
  return classifier;
}

void Classifier::find_labels(std::span<const float> output, int64_t first, std::span<int> labels) const {
  if (finds_labels) return labels_of_places(output, first, labels);
  std::ranges::copy(labels_of(output, static_cast<int64_t>(output.size() / labels.size()), first), labels.begin());
}

int64_t right_answers(const std::vector<int>& found, const Classifier& classifier) {
  int64_t right = 0;
  for (size_t i = 0; i < found.size(); ++i) right += found[i] == classifier.labels[i];
  return right;
}

Classification classify(Classifier& classifier, int64_t repeat, StageObserver* observer) {
  ReadyModel& model = *classifier.model;
  const int64_t count = classifier.count();
  const int64_t outputs = element_count(model.output_shapes(count)[0]) / count;  // per image
  ScaledImages& images = classifier.images;
  std::vector<float> output(static_cast<size_t>(count * outputs));
  const Buffer locked = model.page_lock(output.data(), output.size() * sizeof(float));
  const size_t steps = model.plan().steps.size();

  // To show progress, or if not all images are scaled in advance, run a host batch by batch, as the model does anyway.
  const bool on_host = classifier.caps().runs_on_host();
  const bool by_batch = on_host && (Progress::visible() || !images.ready());
  const int64_t chunk = by_batch ? std::min(model.batch(), count) : count;
  Progress progress("classifying", count * repeat);

  // Warm-up: allocates memory and loads code outside of the timing. One batch suffices on a host; a GPU needs all
  // images to reach its clock rate, and is fast.
  const int64_t some = on_host ? std::min(model.batch(), count) : count;
  model.run(images.from(0, some), some, output.data());
  model.observe(nullptr);

  const Observed part(observer, {Stage::passes});

  std::vector<int> labels(static_cast<size_t>(count));
  const auto find_labels = [&](int64_t begin, int64_t n) {
    const auto of = [](auto& all, int64_t from, int64_t size) {
      return std::span(all).subspan(static_cast<size_t>(from), static_cast<size_t>(size));
    };
    classifier.find_labels(of(output, begin * outputs, n * outputs), begin, of(labels, begin, n));
  };
  // Returns the seconds of a pass, without scaling. Finds a device's labels as soon as it is done.
  const auto run = [&](std::vector<double>* step_seconds) {
    double passed = 0;
    if (step_seconds != nullptr) step_seconds->assign(steps, 0);
    for (int64_t at = 0; at < count; at += chunk) {
      const int64_t n = std::min(chunk, count - at);
      const uint8_t* from = images.from(at, n);
      float* to = output.data() + at * outputs;
      const Clock::time_point begin = Clock::now();
      if (step_seconds != nullptr) {
        const std::vector<double> seconds = model.run_timed(from, n, to);
        for (size_t i = 0; i < steps; ++i) (*step_seconds)[i] += seconds[i];
        if (on_host) find_labels(at, n);  // a GPU's come from the pass that is not timed step by step
      } else {
        model.run(from, n, to,
                  [&](int64_t first_image, int64_t some_of_n) { find_labels(at + first_image, some_of_n); });
      }
      passed += seconds_since(begin);
      if (step_seconds != nullptr) progress.advance(n);
    }
    return passed;
  };
  const auto on_device = [&] { return model.time_on_device(images.from(0, count), count, output.data()); };
  const PassTimes times = time_passes(classifier.caps(), repeat, {.run = run, .on_device = on_device});

  Classification result{.network_seconds = times.network_s, .device_network_seconds = times.device_network_s};
  result.right = right_answers(labels, classifier);
  result.accuracy = static_cast<double>(result.right) / static_cast<double>(count);
  result.labels = std::move(labels);
  result.layers = describe_layers(model, count, times.steps_s);
  for (LayerResult& layer : result.layers) layer.early = computes_in_prolog(layer.kernel);
  return result;
}

}  // namespace convlab::app
