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
#include "convlab/engine/engine_group.h"
#include "convlab/measure/contention.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

/// Where images are scaled to the model's side: on the host while they are loaded, or on the device as the network's
/// first step, which sends fewer bytes over the bus to a GPU.
enum class Scaling { chosen, host, device };

/// The main job, classifying Fashion-MNIST with one model, which `run` and the course's commands share.
struct ClassifyOptions {
  std::string model = "fa19";
  int64_t images = std::numeric_limits<int64_t>::max();  ///< the first so many, or all if there are fewer
  int64_t copies = 1;                                    ///< of these images, one after the other
  Split split = Split::test;
  std::string data;  ///< folder of the idx files; "": the usual places
  int64_t side = 0;  ///< to which images are scaled; 0: the model's
  ComputeOptions compute;
  PlanMode plan = PlanMode::fused;
  int64_t batch = 0;                  ///< on each device; 0: the engine's choice
  std::string pixels = "0..255";      ///< see parse_pixels()
  Scaling scaling = Scaling::chosen;  ///< chosen: on the device if that is a GPU
  bool pipelined = true;              ///< see EngineOptions
  Shard shard;                        ///< of these images
};

/// What becomes of a pixel from 0 to 255: pixel * factor + offset.
struct PixelScale {
  double factor = 1, offset = 0;
};

/// "0..255", "0..1", or "MEAN/STD": from 0 to 1, less the mean, divided by the deviation. `name` is the option's.
PixelScale parse_pixels(const std::string& text, const std::string& name);

/// Everything that exists before the first image is classified.
struct Classifier {
  std::string course_model;  ///< "ece408"
  ScaledImages images;       ///< to the model's side, or originals where the device scales
  std::vector<uint8_t> labels;
  int64_t all_images = 0;                        ///< of all shares together
  std::vector<std::unique_ptr<Device>> devices;  ///< of one kind
  Buffer locked_images;                          ///< while it lives, the images keep their place in memory
  std::unique_ptr<EngineGroup> engines;
  bool finds_labels = false;  ///< the engines give a label an image, not scores
  double load_seconds = 0;
  Contention contention;  ///< since the loading began

  int64_t count() const { return images.count(); }

  const DeviceCaps& caps() const { return devices.front()->caps(); }

  /// The classes that the engines' output stands for, for some images from `first` on. Error(wrong_result) where the
  /// network computes NaN.
  void find_labels(std::span<const float> output, int64_t first, std::span<int> labels) const;
};

/// Loads model and data, plans and packs weights. Finds everything that can be wrong with the input. `observer` may be
/// null; the first device's engine keeps it.
std::unique_ptr<Classifier> load_classifier(const ClassifyOptions& options, StageObserver* observer = nullptr);

struct Classification {
  int64_t right = 0;                  ///< answers
  double accuracy = 0;                ///< right answers / images
  double network_seconds = 0;         ///< images in the host's memory to labels there
  double device_network_seconds = 0;  ///< images in the device's memory to labels (or scores) there, by its own clock;
                                      ///< of several devices the one that took longest
  std::vector<int> labels;            ///< the class of each image, as the network sees it
  std::vector<LayerResult> layers;
};

/// Classifies all images `repeat` times after a warm-up; times are medians. The engines' observer sees the warm-up, and
/// `observer` gets all that is timed as one part. Error(wrong_result) where the network computes NaN.
Classification classify(Classifier& classifier, int64_t repeat, StageObserver* observer = nullptr);

/// How many of the classes found are the images' own.
int64_t right_answers(const std::vector<int>& found, const Classifier& classifier);

}  // namespace convlab::app
