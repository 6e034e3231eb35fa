#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Two batch sizes for which the importer evaluates what a model leaves open until it runs. Results are linear in the
/// batch size (see onnx_images.h), so equal results do not depend on it. Both have many divisors, and both are small
/// enough for a list with one index for each element of each image's last feature map.
inline constexpr std::array<int64_t, 2> kTrialImages{240, 480};

/// One T for each of kTrialImages.
template <class T>
using ByTrial = std::array<T, 2>;

/// What the importer knows about a value while it imports a model.
struct OnnxValue {
  std::string name;
  int32_t onnx_type = 1;                       ///< ONNX type: 1 is float32
  ElementType type = ElementType::f32;         ///< the type that stores it: see element_type()
  std::optional<int64_t> rank;                 ///< unknown after a Squeeze without axes
  std::optional<ByTrial<Shape>> shapes;        ///< if all sizes but the batch size are known
  std::optional<Tensor> constant;              ///< of a constant, stored as `type`
  std::shared_ptr<const WholeConstant> whole;  ///< the integers from which a constant was computed, or null
  std::optional<ByTrial<Tensor>> trial;        ///< of a value that depends on the batch size alone
  ValueId id = -1;                             ///< in the graph; -1 for a constant that no node of the graph uses yet
  bool refused = false;                        ///< its node is unsupported, so nothing is known about it
};

/// A size that may depend on the batch size, linearly.
struct OnnxSize {
  ByTrial<int64_t> by_trial;

  bool fixed() const { return by_trial[0] == by_trial[1]; }
  int64_t value() const { return by_trial[0]; }  ///< of a fixed size

  /// Whether it is at least as large as the other size for any batch size.
  bool covers(const OnnxSize& other) const {
    const int64_t first = by_trial[0] - other.by_trial[0], second = by_trial[1] - other.by_trial[1];
    const int64_t per_image = (second - first) / (kTrialImages[1] - kTrialImages[0]);
    return per_image >= 0 && first - per_image * (kTrialImages[0] - 1) >= 0;
  }

  /// Returns the size divided by the batch size; 0 if it is not a multiple of the batch size.
  int64_t per_image() const {
    const int64_t times = by_trial[0] / kTrialImages[0];
    return by_trial == ByTrial<int64_t>{times * kTrialImages[0], times * kTrialImages[1]} ? times : 0;
  }
};

}  // namespace convlab
