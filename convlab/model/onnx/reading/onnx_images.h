#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/model/onnx/reading/onnx_value.h"

namespace convlab {

// What depends on a number of images that the model leaves open. A model is read for all of them at once where what it
// computes from their number is linear in it: a + b * images, whole numbers in each place. Two trials say what a and b
// are; here is checked that there is nothing else to know. Whatever is not linear is an OpenSize.

/// Error(bad_input): the model cannot be read until the sizes are known that it leaves open. The message is the reason
/// alone.
class OpenSize : public FindingError {
 public:
  explicit OpenSize(const std::string& reason, std::vector<Finding> findings = {})
      : FindingError(ErrorKind::bad_input, reason, std::move(findings)) {}
};

template <class... Args>
OpenSize open_size(fmt::format_string<Args...> format, Args&&... args) {
  return OpenSize(fmt::format(format, std::forward<Args>(args)...));
}

bool same_elements(const Tensor& a, const Tensor& b);

/// A linear size for so many images; nullopt where it is not linear in whole numbers.
std::optional<int64_t> at_images(const ByTrial<int64_t>& trial, int64_t images);
std::optional<Shape> at_images(const ByTrial<Shape>& trial, int64_t images);

/// The same of a tensor, whose shape must not depend on the number of images.
std::optional<Tensor> at_images(const ByTrial<Tensor>& trial, int64_t images);

/// Whether the shape is linear, and, for a few and for many images, what `rule` says. A rule may refuse some numbers.
bool is_linear(const ByTrial<Shape>& trial, const std::function<Shape(int64_t images)>& rule);

/// Operands of a rule: each a constant or, where it depends on the number of images, known by trials.
using KnownOperands = std::vector<const OnnxValue*>;

/// What a rule makes of tensors; nullopt where it does not know.
using KnownRule = std::function<std::optional<Tensor>(const std::vector<const Tensor*>&)>;

/// What the rule makes of operands of which one is known by trials; nullopt where it does not know. OpenSize where that
/// is not linear. A rule that `moves` makes something linear also of operands whose number of elements is linear: it
/// moves elements, adds them, or multiplies them by constants.
std::optional<ByTrial<Tensor>> linear_result(const KnownOperands& operands, bool moves, const KnownRule& rule);

}  // namespace convlab
