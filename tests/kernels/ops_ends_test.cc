// Tests what runs before and after a network on its device (scaling and labels) with every device's kernel, and the
// engine on a GPU, which replays its launches in chunks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "convlab/base/rng.h"
#include "convlab/dataset/fashion_mnist.h"
#include "convlab/dataset/resize.h"
#include "convlab/device/cuda.h"
#include "convlab/device/devices.h"
#include "convlab/device/thread_pool.h"
#include "convlab/engine/engine.h"
#include "convlab/kernels/select.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/rewrite/ends.h"
#include "convlab/session/labels.h"
#include "tests/support/graph_builder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

std::vector<int> placed_labels(std::span<const float> places) {
  std::vector<int> labels(places.size());
  labels_of_places(places, 0, labels);
  return labels;
}

std::vector<std::string> devices() {
  std::vector<std::string> names;
  for (const DeviceListing& each : list_devices()) {
    if (!each.description.starts_with("not available")) names.push_back(each.name);
  }
  return names;
}

/// Runs the device's kernel on x and returns the output's bytes; bytes that were not written are 0xff.
std::vector<uint8_t> run_op(Device& device, const Step& step, const Tensor& x, size_t output_bytes) {
  const Kernel& kernel = choose_kernel(step, device.caps());
  const std::unique_ptr<Stream> stream = device.make_stream();
  const Buffer from = device.allocate(x.bytes()), to = device.allocate(output_bytes);
  const Buffer prepared = device.allocate(prepared_bytes(kernel, step, device.caps()));
  const void* inputs[] = {from.data()};
  void* const outputs[] = {to.data()};
  const Args args{.step = step, .inputs = inputs, .outputs = outputs, .prepared = prepared.data()};
  stream->upload(from.data(), x.raw(), x.bytes());
  stream->fill(to.data(), 0xff, output_bytes);
  if (kernel.prepare != nullptr) kernel.prepare(args, *stream);
  kernel.launch(args, *stream);
  std::vector<uint8_t> result(output_bytes);
  stream->download(result.data(), to.data(), output_bytes);
  stream->synchronize();
  return result;
}

Step scale_step(const Shape& x, int64_t side) {
  return {.op = ScaleOp{side},
          .inputs = {{.shape = x, .format = kRawPixels}},
          .outputs = {{.shape = {x[0], x[1], side, side}, .format = kRawPixels}}};
}

void expect_scaled(Device& device, const Tensor& images, int64_t side) {
  ThreadPool threads(2);
  const Tensor expected = resized(images, side, threads);
  const std::vector<uint8_t> got = run_op(device, scale_step(images.shape(), side), images, expected.bytes());
  EXPECT_EQ(std::memcmp(got.data(), expected.raw(), got.size()), 0)
      << device.caps().description << ": " << to_text(images.shape()) << " to " << side;
}

Tensor noise(const Shape& shape, int least, int most) {
  Tensor images(ElementType::u8, shape);
  Rng rng(11);
  for (uint8_t& pixel : images.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(least, most));
  return images;
}

/// Returns random images with these pixel values.
Tensor chosen(const Shape& shape, const std::vector<uint8_t>& values) {
  Tensor images(ElementType::u8, shape);
  Rng rng(12);
  const auto last = static_cast<int64_t>(values.size()) - 1;
  for (uint8_t& pixel : images.values<uint8_t>()) pixel = values[static_cast<size_t>(rng.integer(0, last))];
  return images;
}

TEST(Scale, OnEveryDeviceGivesTheBytesOfTheHost) {
  for (const std::string& name : devices()) {
    const std::unique_ptr<Device> device = open_device(name, {.threads = 2});
    for (int64_t side = 1; side <= 100; ++side) {
      expect_scaled(*device, noise({2, 1, 28, 28}, 0, 255), side);
      expect_scaled(*device, chosen({1, 1, 28, 28}, {0, 255}), side);
    }
    // From fewer rows and columns than a thread computes, from one, and to more than a block computes.
    for (const Shape& map : {Shape{1, 1}, Shape{1, 9}, Shape{9, 1}, Shape{2, 2}, Shape{7, 11}, Shape{40, 3}}) {
      for (const int64_t side : {1, 2, 3, 5, 8, 17, 70, 150, 201}) {
        expect_scaled(*device, noise({2, 3, map[0], map[1]}, 1, 255), side);
      }
    }
    expect_scaled(*device, noise({1, 1, 76, 80}, 0, 255), 70);
    expect_scaled(*device, noise({1, 1, 3, 2046}, 0, 255), 70);
    expect_scaled(*device, noise({1, 1, 4, 4}, 0, 255), 1021);
    expect_scaled(*device, noise({1, 1, 2, 3}, 0, 255), 1500);
    expect_scaled(*device, noise({1203, 1, 5, 4}, 0, 255), 13);  // so many that threads compute more rows
  }
}

// In exact arithmetic many of these sums are integers: the rounding of doubles decides.
TEST(Scale, OfFlatMapsGivesTheBytesOfTheHost) {
  for (const std::string& name : devices()) {
    const std::unique_ptr<Device> device = open_device(name, {.threads = 2});
    Tensor flat(ElementType::u8, {256, 1, 6, 6});
    for (int64_t i = 0; i < flat.count(); ++i)
      flat.values<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(i / 36);
    for (const int64_t side : {5, 7, 12, 15, 16, 30}) expect_scaled(*device, flat, side);
    for (const int64_t side : {48, 64, 70, 72}) {
      expect_scaled(*device, noise({3, 1, 28, 28}, 255, 255), side);
      expect_scaled(*device, noise({5, 1, 28, 28}, 250, 255), side);
      expect_scaled(*device, chosen({2, 1, 28, 28}, {0, 100, 200}), side);
    }
  }
}

TEST(Scale, OfRealImagesGivesTheBytesOfTheHost) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    GTEST_SKIP() << "Fashion-MNIST is not installed; apt install dataset-fashion-mnist";
  }
  for (const std::string& name : devices()) {
    if (name == "cpu") continue;  // the host scales with the same function
    const std::unique_ptr<Device> device = open_device(name, {.threads = 2});
    const Tensor images = load_fashion_mnist(Split::test, "", name == "simt" ? 200 : 10000).images;
    for (const int64_t side : {48, 64, 70, 72}) expect_scaled(*device, images, side);
  }
}

TEST(Scale, RefusesInWords) {
  Step floats = scale_step({1, 1, 28, 28}, 70);
  floats.inputs[0].format = kNchw;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::simt}) {
    if (find_kernel(scale_step({1, 1, 28, 28}, 70), {.kind = kind}) == nullptr) continue;  // a build without simt
    EXPECT_EQ(find_kernel(floats, {.kind = kind}), nullptr);
  }
  EXPECT_EQ(find_kernel(scale_step({1, 1, 28, 6000}, 70), {.kind = DeviceKind::simt}), nullptr);
  EXPECT_NE(find_kernel(scale_step({1, 1, 28, 6000}, 70), {.kind = DeviceKind::cpu}), nullptr);
}

TEST(ArgMax, OnEveryDeviceIsWhatTheHostFinds) {
  Rng rng(3);
  for (const std::string& name : devices()) {
    const std::unique_ptr<Device> device = open_device(name, {.threads = 2});
    for (const Shape& shape : {Shape{300, 10}, Shape{5, 1}, Shape{7, 3, 2, 1}, Shape{2, 1000}, Shape{4}}) {
      const auto images = static_cast<size_t>(shape[0]);
      Tensor scores(ElementType::f32, shape);
      for (float& score : scores.values<float>()) score = static_cast<float>(rng.integer(-3, 3));  // many ties
      const Step step{.op = ArgMaxOp{}, .inputs = {{shape}}, .outputs = {{{shape[0]}}}};
      const std::vector<uint8_t> bytes = run_op(*device, step, scores, images * sizeof(float));
      std::vector<float> places(images);
      std::memcpy(places.data(), bytes.data(), bytes.size());
      EXPECT_EQ(placed_labels(places), labels_of(scores.values<float>(), scores.count() / shape[0])) << name;
    }
  }
}

TEST(ArgMax, OfNanIsNan) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const float scores[] = {kNan, 1,          2,          1,          kNan, 2,         1,        2,
                          kNan, -kInfinity, -kInfinity, -kInfinity, 1,    kInfinity, kInfinity};
  const Step step{.op = ArgMaxOp{}, .inputs = {{{5, 3}}}, .outputs = {{{5}}}};
  for (const std::string& name : devices()) {
    const std::unique_ptr<Device> device = open_device(name, {.threads = 1});
    const Tensor x = Tensor::of<float>({5, 3}, scores);
    float places[5];
    std::memcpy(places, run_op(*device, step, x, sizeof places).data(), sizeof places);
    EXPECT_THAT(places, testing::ElementsAre(testing::IsNan(), testing::IsNan(), testing::IsNan(), 0, 1)) << name;
  }
}

// A softmax turns these into NaN, so dropping it must still produce NaN.
TEST(ArgMax, OfWhatASoftmaxMakesNanIsNan) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const float scores[] = {1,         kInfinity, 2, -kInfinity, -kInfinity, -kInfinity, -kInfinity, -3, -2,
                          kInfinity, kNan,      1, 3e38F,      -3e38F,     3e38F,      kInfinity,  1,  kInfinity};
  const Shape shape{6, 3};
  const Tensor x = Tensor::of<float>(shape, scores);
  for (const std::string& name : devices()) {
    const std::unique_ptr<Device> device = open_device(name, {.threads = 1});
    const auto floats = [&](const Step& step, const Tensor& input, size_t count) {
      const std::vector<uint8_t> bytes = run_op(*device, step, input, count * sizeof(float));
      std::vector<float> values(count);
      std::memcpy(values.data(), bytes.data(), bytes.size());
      return values;
    };
    const std::vector<float> places =
        floats({.op = ArgMaxOp{.finite = true}, .inputs = {{shape}}, .outputs = {{{6}}}}, x, 6);
    const auto nan = testing::IsNan();
    EXPECT_THAT(places, testing::ElementsAre(nan, nan, 2, nan, 0, nan)) << name;
    for (const bool log : {false, true}) {
      const Step softmax{.op = SoftmaxOp{.axis = 1, .log = log}, .inputs = {{shape}}, .outputs = {{shape}}};
      const Tensor distribution = Tensor::of<float>(shape, floats(softmax, x, 18));
      const Step plain{.op = ArgMaxOp{}, .inputs = {{shape}}, .outputs = {{{6}}}};
      const std::vector<float> expected = floats(plain, distribution, 6);
      for (size_t i = 0; i < places.size(); ++i) EXPECT_EQ(std::isnan(places[i]), std::isnan(expected[i])) << name << i;
    }
  }
}

/// Returns the operators of a one-operator network after its output becomes labels.
std::vector<std::string> labelled(const Op& op, const Shape& input) {
  GraphBuilder builder(input);
  builder.add(op, {builder.input()});
  Graph graph = builder.take();
  label_output(graph, input);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(name_of(node.op));
  EXPECT_EQ(std::get<ArgMaxOp>(graph.nodes.back().op).finite, names.size() == 1);
  EXPECT_EQ(graph.nodes.back().inputs[0], names.size() == 1 ? graph.inputs[0].value : graph.nodes[0].output);
  return names;
}

TEST(LabelOutput, DropsASoftmaxOfAllScoresOfAnImage) {
  using testing::ElementsAre;
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 1}, {4, 10}), ElementsAre("ArgMax"));
  EXPECT_THAT(labelled(SoftmaxOp{.axis = -1, .log = true}, {4, 10}), ElementsAre("ArgMax"));
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 1}, {4, 10, 1, 1}), ElementsAre("ArgMax"));
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 1, .flattened = true}, {4, 3, 2}), ElementsAre("ArgMax"));
  // These change which score of an image is the largest.
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 1}, {4, 3, 2}), ElementsAre("Softmax", "ArgMax"));
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 2, .flattened = true}, {4, 3, 2}), ElementsAre("Softmax", "ArgMax"));
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 0}, {4, 10}), ElementsAre("Softmax", "ArgMax"));
  EXPECT_THAT(labelled(SoftmaxOp{.axis = 0, .flattened = true}, {4, 10}), ElementsAre("Softmax", "ArgMax"));
  EXPECT_THAT(labelled(ActivationOp{{ActivationKind::tanh}}, {4, 10}), ElementsAre("Tanh", "ArgMax"));
}

TEST(EngineEnds, OnlyScoresNeedTheSoftmax) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  for (const bool finds_labels : {false, true}) {
    const Engine engine(load_model("fa19"), Shape{2, 1, 70, 70}, *device, {.labels = finds_labels});
    const bool has_softmax =
        std::ranges::any_of(engine.plan().steps, [](const PlanStep& step) { return step.op_name() == "Softmax"; });
    EXPECT_EQ(has_softmax, !finds_labels);
  }
}

TEST(Labels, OfPlacesAreTheClassesAndNanIsAWrongResult) {
  const float places[] = {3, 0, 9};
  EXPECT_THAT(placed_labels(places), testing::ElementsAre(3, 0, 9));
  const float broken[] = {3, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THAT(error_message(ErrorKind::wrong_result, [&] { placed_labels(broken); }), testing::HasSubstr("image 1 "));
  std::vector<int> labels(2);
  EXPECT_THAT(error_message(ErrorKind::wrong_result, [&] { labels_of_places(broken, 500, labels); }),
              testing::HasSubstr("image 501 "));
}

/// Returns fa19's labels for images of 28 x 28 noise, with scaling and labels on the device as the options say.
std::vector<int> labels(Device& device, const Tensor& images, EngineOptions options, int passes = 1) {
  options.plan.input = ElementType::u8;
  Engine engine(load_model("fa19"), images.shape(), device, options);
  const int64_t n = images.shape()[0];
  std::vector<float> output(static_cast<size_t>(element_count(engine.output_shape(n))));
  EXPECT_EQ(engine.scores_shape(n), (Shape{n, 10}));
  for (int pass = 0; pass < passes; ++pass) {
    std::ranges::fill(output, -1.0F);
    engine.run(images.raw(), n, output.data());
  }
  return options.labels ? placed_labels(output) : labels_of(output, 10);
}

TEST(EngineEnds, ScaleAndLabelOnTheDeviceAsOnTheHost) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 2});
  ThreadPool threads(2);
  const Tensor images = noise({40, 1, 28, 28}, 0, 255), scaled = resized(images, 70, threads);
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused, PlanMode::folded}) {
    for (const int64_t batch : {40, 16}) {
      const std::vector<int> expected = labels(*device, scaled, {.plan = {.mode = mode}, .batch = batch});
      EXPECT_EQ(labels(*device, images, {.plan = {.mode = mode}, .batch = batch, .scale_to = 70}), expected);
      EXPECT_EQ(labels(*device, scaled, {.plan = {.mode = mode}, .batch = batch, .labels = true}), expected);
      const EngineOptions both{.plan = {.mode = mode}, .batch = batch, .scale_to = 70, .labels = true};
      EXPECT_EQ(labels(*device, images, both), expected);
    }
  }
}

TEST(EngineEnds, OnlyPixelsAreScaled) {
  const std::unique_ptr<Device> device = open_device("cpu", {.threads = 1});
  EXPECT_THAT(bad_input_message([&] {
                Engine(load_model("fa19"), Shape{2, 1, 28, 28}, *device, {.scale_to = 70});
              }),
              testing::HasSubstr("float32"));
}

TEST(EngineOnGpu, ReplaysInChunksWhatItComputesPlainly) {
  if (!cuda_present()) GTEST_SKIP() << "there is no GPU";
  const std::unique_ptr<Device> device = open_device("cuda", {});
  const Tensor images = noise({6000, 1, 28, 28}, 0, 255);
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused, PlanMode::folded}) {
    for (const int64_t batch : {6000, 2500}) {
      EngineOptions options{.plan = {.mode = mode}, .batch = batch, .scale_to = 70, .labels = true, .pipelined = false};
      const std::vector<int> expected = labels(*device, images, options);
      options.pipelined = true;
      const std::vector<std::vector<int64_t>> ways{{}, {3000, 2000, 1000}, {16, 5984}, {500, 1000, 1000}};
      for (const std::vector<int64_t>& chunks : ways) {
        options.chunks = chunks;
        EXPECT_EQ(labels(*device, images, options, 3), expected) << testing::PrintToString(chunks);
      }
    }
  }
}

}  // namespace
}  // namespace convlab
