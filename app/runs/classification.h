#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/compute_options.h"
#include "app/runs/layer_result.h"
#include "app/runs/scaled_images.h"
#include "app/shards/shard.h"
#include "convlab/conv/problem.h"
#include "convlab/dataset/fashion_mnist.h"
#include "convlab/device/device.h"
#include "convlab/measure/contention.h"
#include "convlab/plan/plan.h"
#include "convlab/session/ready_model.h"

namespace convlab::app {

/// Where images are scaled to the model's side length: on the host while they are loaded, or on the device as the
/// network's first step, which uploads fewer bytes to a GPU.
enum class Scaling { chosen, host, device };

/// The options for classifying Fashion-MNIST with one model, which `run` and the course's commands share.
struct ClassifyOptions {
  std::string model = "fa19";
  int64_t images = std::numeric_limits<int64_t>::max();  ///< the first N, or all if there are fewer
  int64_t copies = 1;                                    ///< the images are repeated so often
  Split split = Split::test;
  std::string data;  ///< folder of the idx files; "": the default folders
  int64_t side = 0;  ///< side length in pixels to scale images to; 0: the model's
  ComputeOptions compute;
  PlanMode plan = PlanMode::fused;
  int64_t batch = 0;                  ///< on each device; 0: the engine's choice
  std::string pixels = "0..255";      ///< see parse_pixels()
  Scaling scaling = Scaling::chosen;  ///< chosen: on the device if that is a GPU
  bool pipelined = true;              ///< see EngineOptions
  Shard shard;                        ///< of these images
};

/// Maps a pixel from 0 to 255 to pixel * factor + offset.
struct PixelScale {
  double factor = 1, offset = 0;
};

/// Parses "0..255", "0..1", or "MEAN/STD", which scales to 0..1, subtracts the mean and divides by the standard
/// deviation. `name` is the option's.
PixelScale parse_pixels(const std::string& text, const std::string& name);

/// A loaded model with its images and devices.
struct Classifier {
  std::string course_model;  ///< "ece408"
  ScaledImages images;       ///< scaled to the model's side length, or originals if the device scales
  std::vector<uint8_t> labels;
  int64_t all_images = 0;                        ///< number of images of all shares
  std::vector<std::unique_ptr<Device>> devices;  ///< all of one kind
  Buffer locked_images;                          ///< keeps the images page-locked
  std::unique_ptr<ReadyModel> model;
  bool finds_labels = false;  ///< the model returns one label per image, not scores
  double load_seconds = 0;
  Contention contention;  ///< since loading began

  int64_t count() const { return images.count(); }

  const DeviceCaps& caps() const { return devices.front()->caps(); }

  /// Converts the model's output for the images from `first` on to labels. Throws Error(wrong_result) if the network
  /// computed NaN.
  void find_labels(std::span<const float> output, int64_t first, std::span<int> labels) const;
};

/// Loads the model and the data, plans, and packs weights. Detects all errors in the input. `observer` may be null; the
/// model keeps it.
std::unique_ptr<Classifier> load_classifier(const ClassifyOptions& options, StageObserver* observer = nullptr);

struct Classification {
  int64_t right = 0;                  ///< number of correct labels
  double accuracy = 0;                ///< correct labels / images
  double network_seconds = 0;         ///< from images to labels in host memory
  double device_network_seconds = 0;  ///< images to labels (or scores) in device memory, by the slowest device's clock
  std::vector<int> labels;            ///< the predicted class of each image
  std::vector<LayerResult> layers;
};

/// Classifies all images `repeat` times after a warm-up; times are medians. The model's observer sees the warm-up;
/// `observer` receives everything that is timed as one stage. Throws Error(wrong_result) if the network computes NaN.
Classification classify(Classifier& classifier, int64_t repeat, StageObserver* observer = nullptr);

/// Returns how many of the predicted classes are correct.
int64_t right_answers(const std::vector<int>& found, const Classifier& classifier);

}  // namespace convlab::app
