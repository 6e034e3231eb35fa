#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Two numbers of images for which the importer works out what a model leaves open until it runs. What comes out is
/// linear in their number (see onnx_images.h), so that what comes out alike does not depend on it. Both can be divided
/// by many numbers, and an index for each element of each image's last map is not too long a list.
inline constexpr std::array<int64_t, 2> kTrialImages{240, 480};

/// Something for each of kTrialImages.
template <class T>
using ByTrial = std::array<T, 2>;

/// What the importer knows about a value while it reads a model.
struct OnnxValue {
  std::string name;
  int32_t onnx_type = 1;                       ///< ONNX's number of its type: 1 is float32
  ElementType type = ElementType::f32;         ///< in which it is kept: see element_type()
  std::optional<int64_t> rank;                 ///< unknown after a Squeeze that does not say what it squeezes
  std::optional<ByTrial<Shape>> shapes;        ///< where all sizes are known but the number of images
  std::optional<Tensor> constant;              ///< of a constant, as `type`
  std::shared_ptr<const WholeConstant> whole;  ///< what a constant was made of, or null
  std::optional<ByTrial<Tensor>> trial;        ///< of a value that depends on the number of images alone
  ValueId id = -1;                             ///< in the graph; -1 for a constant that none of its nodes has used
  bool refused = false;                        ///< its node is, and so nothing is known of it
};

/// A size that may depend on the number of images, and then is linear in it.
struct OnnxSize {
  ByTrial<int64_t> by_trial;

  bool fixed() const { return by_trial[0] == by_trial[1]; }
  int64_t value() const { return by_trial[0]; }  ///< of a fixed one

  /// Whether it is at least as large as the other one for any number of images.
  bool covers(const OnnxSize& other) const {
    const int64_t first = by_trial[0] - other.by_trial[0], second = by_trial[1] - other.by_trial[1];
    const int64_t per_image = (second - first) / (kTrialImages[1] - kTrialImages[0]);
    return per_image >= 0 && first - per_image * (kTrialImages[0] - 1) >= 0;
  }

  /// How many times the number of images it is; 0 where it is no multiple of that.
  int64_t per_image() const {
    const int64_t times = by_trial[0] / kTrialImages[0];
    return by_trial == ByTrial<int64_t>{times * kTrialImages[0], times * kTrialImages[1]} ? times : 0;
  }
};

}  // namespace convlab
