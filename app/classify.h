#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/options.h"
#include "convlab/conv/problem.h"
#include "convlab/dataset/fashion_mnist.h"
#include "convlab/device/device.h"
#include "convlab/plan/engine.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

/// The main job, classifying Fashion-MNIST with one model, as `run` and the course's commands share it.
struct ClassifyOptions {
  std::string model = "fa19";
  int64_t images = std::numeric_limits<int64_t>::max();  ///< the first so many, or all where there are fewer
  Split split = Split::test;
  std::string data;  ///< folder of the idx files; "": the usual places
  int64_t side = 0;  ///< to which images are scaled; 0: what the model takes
  ComputeOptions compute;
  PlanMode plan = PlanMode::fused;
  int64_t batch = 0;  ///< 0: the engine's choice
};

/// Everything that is there before the first image is classified.
struct Classifier {
  std::string course_model;  ///< "ece408"
  Tensor images;             ///< uint8, N x 1 x side x side
  std::vector<uint8_t> labels;
  std::unique_ptr<Device> device;
  std::unique_ptr<Engine> engine;
  double load_seconds = 0;

  int64_t count() const { return images.shape()[0]; }
};

/// Loads model and data, plans and packs weights. All that can be wrong with the input is found here. `observer` may be
/// null; the engine keeps it.
Classifier load_classifier(const ClassifyOptions& options, StageObserver* observer = nullptr);

/// One step of the plan over all images.
struct LayerResult {
  std::string name, op, kernel;
  std::string problem;     ///< of a convolution: its text, for all images; otherwise ""
  Math math = Math::fp32;  ///< of a convolution: the kernel's
  double seconds = 0;
  double flops = 0;
  double bytes = 0;  ///< that must move at least: inputs and outputs once each
};

struct Classification {
  double accuracy = 0;         ///< right answers / images
  double network_seconds = 0;  ///< images in memory to labels
  std::vector<int> labels;     ///< the class of each image, as the network sees it
  std::vector<LayerResult> layers;
};

/// Classifies all images `repeat` times after a warm-up; times are medians. The engine's observer sees the warm-up, and
/// what is timed is one part to `observer`. Error(wrong_result) where the network computes NaN.
Classification classify(Classifier& classifier, int64_t repeat, StageObserver* observer = nullptr);

/// Right answers / images.
double accuracy_of(const std::vector<int>& found, const Classifier& classifier);

}  // namespace convlab::app
