// convlab run: classifies Fashion-MNIST. Prints the course's lines, each layer's time and what the process used.

#include "app/runs/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/default_model.h"
#include "app/guests/guest_kernels.h"
#include "app/plan_files.h"
#include "app/results/course_lines.h"
#include "app/results/layer_table.h"
#include "app/results/run_json.h"
#include "app/shards/shard_options.h"
#include "app/shards/share.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/dataset/resize.h"
#include "convlab/kernel_file/source.h"
#include "convlab/measure/ceilings.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/profile/startup.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostRepeats = 10000;
constexpr int64_t kMostRunImages = int64_t{1} << 40;
constexpr int64_t kMostCopies = 1000;

/// Returns "cpu (2 threads)" or "2 GPUs (cuda:0: 5008 images, cuda:1: 4992 images)".
std::string place_of(const Classifier& classifier) {
  const std::vector<int64_t> shares = classifier.model->shares(classifier.count());
  const DeviceCaps& caps = classifier.caps();
  if (shares.size() == 1) {
    return fmt::format("{} ({} thread{})", name_of(caps.kind), caps.threads, caps.threads == 1 ? "" : "s");
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < shares.size(); ++i) {
    parts.push_back(fmt::format("{}: {} images", classifier.devices[i]->caps().name, shares[i]));
  }
  return fmt::format("{} GPUs ({})", shares.size(), fmt::join(parts, ", "));
}

void print_foldings(Output& output, PlanMode plan, const std::vector<Folding>& foldings) {
  if (plan != PlanMode::folded) return;
  output.print("\n");
  for (const Folding& each : foldings) {
    output.print("{} {}: {}\n", each.folded ? "folded" : "not folded", each.nodes, each.text);
  }
  if (foldings.empty()) output.print("nothing folded: no two adjacent operators are linear\n");
}

/// Each convolution is part of the network, and the network part of the process: Op Time <= network <= wall. A GPU
/// times operators and network in separate passes, so a disturbance can violate this; then a note says so.
void check_order_of_times(const Classification& result, double elapsed_seconds) {
  constexpr double kTolerance = 1.05;
  for (const LayerResult& layer : result.layers) {
    if (layer.seconds <= result.network_seconds * kTolerance) continue;
    note("{} took {:.3f} ms, but the whole network {:.3f} ms; the timing was disturbed, run again", layer.name,
         layer.seconds * 1e3, result.network_seconds * 1e3);
  }
  if (!(result.network_seconds <= elapsed_seconds)) {
    throw wrong_result("the network took {} s, longer than the whole process ({} s); a clock is wrong",
                       result.network_seconds, elapsed_seconds);
  }
}

/// A network with a wrong kernel still classifies, but fewer images correctly: points to the check of the kernel file.
void note_low_accuracy(const ClassifyOptions& options, double accuracy, int64_t images) {
  const std::string& kernel = options.compute.kernel;
  if (!names_kernel_file(kernel)) return;
  const std::vector<ShippedModel> models = shipped_models();
  const auto model = std::ranges::find(models, options.model, &ShippedModel::name);
  if (model == models.end()) return;
  constexpr double kDeviations = 3;
  const double deviation = std::sqrt(model->accuracy * (1 - model->accuracy) / static_cast<double>(images));
  if (accuracy >= model->accuracy - kDeviations * deviation) return;
  note("{} has an accuracy of {}, so the kernel is probably wrong; try: convlab verify {}", model->name,
       python_repr(model->accuracy), kernel);
}

/// Ends a share. Only the last share of a launch to finish can check the accuracy of all images.
void finish(const Share& share, double expect, Output& output) {
  if (const std::optional<double> accuracy = share.finish(output)) require_accuracy(*accuracy, "all images", expect);
}

/// Describes what a run computes, in the same words for all shares.
std::string work_of(RunOptions options) {
  const ComputeOptions any;
  ComputeOptions& compute = options.classify.compute;
  compute.device = any.device;
  compute.threads = any.threads;
  options.classify.batch = 0;
  options.repeat = 1;
  return with_contents(fmt::format("{}", fmt::join(run_command(options), " ")),
                       {options.classify.model, compute.kernel, compute.plan_file});
}

void run(const RunOptions& options, const ShardOptions& sharing, double expect, Output& output) {
  if (sharing.resume && options.classify.shard.whole()) {
    throw bad_input("--resume needs --shard, mpirun or srun");
  }
  const Shard& shard = options.classify.shard;
  Share share(shard, shard.whole() ? "" : work_of(options), output);
  if (share.done_before(sharing.resume, output)) return finish(share, expect, output);
  StageLog log;
  std::unique_ptr<Classifier> classifier = load_classifier(options.classify, &log);
  output.print("{}{}{}", kLoadingData, kLoadingModel, kNewInference);
  const Classification result = classify(*classifier, options.repeat, &log);
  std::vector<Math> maths;
  for (const LayerResult& layer : result.layers) maths.push_back(layer.math);
  note_unused_math(options.classify.compute.math(), maths, "");
  print_op_times(output, result);
  print_correctness(output, result, classifier->course_model);

  std::shared_ptr<Json> json;
  const double json_began_s = monotonic_s();
  if (output.wants_json()) {
    json = run_json(options.classify, *classifier, result, output);
    share.add_to(*json, classifier->all_images, classifier->caps().name);
  }
  const double json_seconds = monotonic_s() - json_began_s;
  const int64_t images = classifier->count();
  const double load_seconds = classifier->load_seconds;
  const Usage usage = usage_so_far();
  check_order_of_times(result, usage.elapsed_s);
  const std::string place = place_of(*classifier);
  const size_t shares = classifier->model->shares(images).size();
  const std::vector<Folding> foldings = classifier->model->foldings();
  const std::vector<std::unique_ptr<Device>> devices = std::move(classifier->devices);
  {
    const Observed part(&log, {Stage::release});
    classifier.reset();  // frees its memory before the ceilings are measured
  }

  const DeviceCaps& caps = devices.front()->caps();
  std::optional<Ceilings> ceilings;
  if (caps.has_real_times()) {
    const Observed part(&log, {Stage::ceilings});
    ceilings = known_ceilings(*devices.front());
  }
  print_layers(output, result.layers, shares, ceilings);
  print_foldings(output, options.classify.plan, foldings);
  output.print("(an Op Time is the time of one convolution in seconds)\n");
  output.print("\n{} image{} to labels in {:.3f} ms on {}, after {:.3f} ms of loading\n", images,
               images == 1 ? "" : "s", result.network_seconds * 1e3, place, load_seconds * 1e3);
  if (!caps.runs_on_host()) {
    output.print("on {}, from images to labels in its memory: {:.3f} ms\n",
                 shares > 1 ? "the GPU that took longest" : "the GPU alone", result.device_network_seconds * 1e3);
  }
  if (ceilings) {
    output.print("bound: {:.0f} GFLOP/s fp32 and {:.1f} GB/s memory bandwidth{}, measured here\n",
                 ceilings->flops_per_second(Math::fp32) * 1e-9, ceilings->memory_bytes * 1e-9,
                 shares > 1 ? " of each GPU" : "");
  }
  output.print("{}\n", usage_text(usage));
  if (json) write_json(output, *json, log, json_seconds);
  note_low_accuracy(options.classify, result.accuracy, images);
  if (share.shard().whole()) return require_accuracy(result.accuracy, fmt::format("{} images", images), expect);
  finish(share, expect, output);
}

}  // namespace

void add_run_options(CLI::App& parser, RunOptions& options) {
  ClassifyOptions& classify = options.classify;
  add_text(
      parser, "MODEL", options.model, "",
      "a shipped model's name, an .onnx file, an MXNet NAME-NNNN.params with NAME-symbol.json in the same folder, or a "
      "kernel file, as for --kernel (default: that of the kernel file's semester, otherwise fa19)");
  add_int(parser, "-n,--images", classify.images, 1, kMostRunImages, "the first N images (default: all)");
  add_int(parser, "--copies", classify.copies, 1, kMostCopies,
          "repeat the images N times, for more work than the data set has (default: 1)");
  add_parsed(parser, "--split", "test|train", "test has 10000 images, train 60000 (default: test)",
             [&classify](const std::string& text, const std::string&) { classify.split = parse_split(text); });
  add_text(parser, "--data", classify.data, "DIR",
           "folder of the four idx files (default: /usr/share/datasets/fashion-mnist, then ./data)");
  add_int(parser, "--size", classify.side, 1, kMostSide,
          "scale images to this side length (default: that of the model)");
  add_parsed(parser, "--scale", "host|device",
             "scale images on the host while loading, or on the device as the network's first, timed step (default: "
             "device on a GPU, else host)",
             [&classify](const std::string& text, const std::string& name) {
               if (text != "host" && text != "device") {
                 throw bad_input("{} must be one of host, device, got '{}'", name, text);
               }
               classify.scaling = text == "host" ? Scaling::host : Scaling::device;
             });
  add_parsed(
      parser, "--scale-pixels", "0..255|0..1|MEAN/STD",
      "range of the network's input pixels: 0..255, 0..1, or 0..1 minus MEAN and divided by STD (default: 0..255, as "
      "shipped models expect)",
      [&classify](const std::string& text, const std::string& name) {
        parse_pixels(text, name);
        classify.pixels = text;
      });
  add_compute(parser, classify.compute, "auto, cpu, cuda, cuda:1, cuda:all (all GPUs) or simt");
  add_plan_file(parser, classify.compute);
  add_parsed(
      parser, "--plan", "layers|fused|folded",
      "layers: one step per operator; fused: convolution, bias, pooling and activation in one step; folded: also "
      "merge chains of linear operators (default: fused)",
      [&classify](const std::string& text, const std::string& name) { classify.plan = parse_plan(text, name); });
  add_int(parser, "--batch", classify.batch, 1, kMostRunImages,
          "batch size on each device (default: what fits the caches)");
  add_int(parser, "--repeat", options.repeat, 1, kMostRepeats, "print medians of N passes (default: 1)");
}

void choose_model(RunOptions& options) {
  ClassifyOptions& classify = options.classify;
  std::string& kernel = classify.compute.kernel;
  const bool is_file = has_source_suffix(options.model);
  if (is_file && kernel != "auto") {
    throw bad_input("{} and --kernel {}: only one kernel is supported", options.model, kernel);
  }
  if (is_file) kernel = options.model;
  classify.model = is_file || options.model.empty() ? default_model({kernel}) : options.model;
}

std::vector<std::string> run_command(const RunOptions& options) {
  const ClassifyOptions& classify = options.classify;
  const ClassifyOptions defaults;
  std::vector<std::string> words{"convlab", "run", classify.model};
  const auto add = [&](const char* name, std::string_view value, std::string_view standard) {
    if (value == standard) return;
    words.emplace_back(name);
    words.emplace_back(value);
  };
  const auto add_number = [&](const char* name, int64_t value, int64_t standard) {
    add(name, std::to_string(value), std::to_string(standard));
  };
  add_number("--images", classify.images, defaults.images);
  add_number("--copies", classify.copies, defaults.copies);
  if (classify.split == Split::train) add("--split", "train", "");
  add("--data", classify.data, defaults.data);
  add_number("--size", classify.side, defaults.side);
  if (classify.scaling != Scaling::chosen) add("--scale", classify.scaling == Scaling::host ? "host" : "device", "");
  add("--scale-pixels", classify.pixels, defaults.pixels);
  add("--device", classify.compute.device, defaults.compute.device);
  add("--kernel", classify.compute.kernel, defaults.compute.kernel);
  add("--plan-file", classify.compute.plan_file, defaults.compute.plan_file);
  if (classify.compute.asked_math) add("--math", name_of(*classify.compute.asked_math), "");
  add("--plan", name_of(classify.plan), name_of(defaults.plan));
  add_number("--threads", classify.compute.threads, defaults.compute.threads);
  add_number("--batch", classify.batch, defaults.batch);
  add_number("--repeat", options.repeat, RunOptions().repeat);
  return words;
}

Action declare_run(CLI::App& parser) {
  auto options = std::make_shared<RunOptions>();
  auto sharing = std::make_shared<ShardOptions>();
  auto expect = std::make_shared<double>(0);
  add_run_options(parser, *options);
  add_real(parser, "--expect", *expect, 0, 1,
           "exit with status 1 if the accuracy is below X; with --shard, pass it to 'convlab merge'");
  add_shard(parser, *sharing);
  add_flag(parser, "--resume", sharing->resume, "skip shares whose Records an earlier, interrupted launch wrote");
  return [options, sharing, expect](Output& output) {
    choose_model(*options);
    ClassifyOptions& classify = options->classify;
    classify.shard = sharing->shard();
    classify.compute.device = device_of(classify.shard, classify.compute.device);
    if (!run_in_guest({classify.compute.kernel}, classify.compute.device)) run(*options, *sharing, *expect, output);
  };
}

}  // namespace convlab::app
