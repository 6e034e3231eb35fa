#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "convlab/dataset/fashion_mnist.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// One layer's feature maps for one image: C maps of H x W.
struct FeatureMaps {
  std::string name;  ///< "conv1: Conv"
  Tensor maps;       ///< fp32, 1 x C x H x W
};

/// A network's outputs on the test images, computed by the engine on the CPU.
struct Answers {
  static constexpr int kClasses = static_cast<int>(kFashionMnistClasses.size());

  std::string model, layers;  ///< "fa19", "conv 12@5x5, tanh, ..."
  Dataset data;               ///< unscaled, 28 x 28
  std::vector<int> predicted;
  std::vector<float> scores;  ///< kClasses per image

  std::vector<FeatureMaps> features;  ///< of the first image
  std::vector<std::string> problems;  ///< the network's convolutions for one image: "c1h70w70_k12r5s5"
  std::vector<std::string> names;     ///< of these layers: "conv1"

  /// Returns the fraction of the first n images that are labeled correctly.
  double accuracy(int64_t n) const;

  /// Number of images by class (first index) and predicted label (second).
  using Confusion = std::array<std::array<int, kClasses>, kClasses>;
  Confusion confusion() const;

  /// Returns the indices of the first `most` images of a class that are labeled correctly or, if not `right`,
  /// incorrectly.
  std::vector<int64_t> examples(int label, bool right, size_t most) const;
};

/// Classifies all test images; `folder` as for load_fashion_mnist(). The model must be a shipped one, or accept such
/// images. Throws Error(bad_input) if the model or the data cannot be read.
Answers answer(const std::string& model, const std::string& folder);

}  // namespace convlab
