#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/model/graph.h"
#include "convlab/model/onnx/onnx_value.h"

namespace convlab {

// Support for a dynamic batch size. A model is imported for all batch sizes at once if everything that it computes from
// the batch size is linear in it: a + b * images, an integer for each element. Two trials determine a and b; the
// functions here check that nothing else depends on the batch size. Anything that is not linear throws OpenSize.

/// An input of a model, as its file declares it.
struct DeclaredInput {
  std::string name;
  GraphInput input;  ///< without a value
};

/// Error(bad_input): the model cannot be imported until its dynamic sizes are known. The message is only the reason.
class OpenSize : public FindingError {
 public:
  explicit OpenSize(const std::string& reason, std::vector<Finding> findings = {},
                    std::vector<DeclaredInput> inputs = {})
      : FindingError(ErrorKind::bad_input, reason, std::move(findings)), inputs_(std::move(inputs)) {}

  /// Returns the inputs with dynamic sizes; {} in an error that import_onnx() has not completed.
  const std::vector<DeclaredInput>& inputs() const { return inputs_; }

 private:
  std::vector<DeclaredInput> inputs_;
};

template <class... Args>
OpenSize open_size(fmt::format_string<Args...> format, Args&&... args) {
  return OpenSize(fmt::format(format, std::forward<Args>(args)...));
}

bool same_elements(const Tensor& a, const Tensor& b);

/// Return a linear size or shape for this batch size; nullopt if it is not linear in integers.
std::optional<int64_t> at_images(const ByTrial<int64_t>& trial, int64_t images);
std::optional<Shape> at_images(const ByTrial<Shape>& trial, int64_t images);

/// Returns the same for a tensor, whose shape must not depend on the batch size.
std::optional<Tensor> at_images(const ByTrial<Tensor>& trial, int64_t images);

/// Whether the shape is linear and, for a few and for many images, equal to the result of `rule`. The rule may throw
/// Error for some batch sizes.
bool is_linear(const ByTrial<Shape>& trial, const std::function<Shape(int64_t images)>& rule);

/// Operands of a rule: each is a constant or, if it depends on the batch size, known by trials.
using KnownOperands = std::vector<const OnnxValue*>;

/// Computes a tensor from tensors; returns nullopt if it does not support them.
using KnownRule = std::function<std::optional<Tensor>(const std::vector<const Tensor*>&)>;

/// Returns the result of a rule for operands, one of them known by trials; nullopt if the rule returns nullopt.
/// Throws OpenSize if the result is not linear. A rule that `moves` elements, adds them, or multiplies them by
/// constants keeps them linear even if the number of elements is linear in the batch size.
std::optional<ByTrial<Tensor>> linear_result(const KnownOperands& operands, bool moves, const KnownRule& rule);

}  // namespace convlab
