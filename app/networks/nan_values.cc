// Reports NaN in a network's inputs and outputs.

#include "app/networks/nan_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/results/output.h"

namespace convlab::app {

int64_t count_nan(const Tensor& tensor) {
  const auto count = [](const Tensor& floats) {
    return std::ranges::count_if(floats.values<float>(), [](float value) { return std::isnan(value); });
  };
  switch (tensor.type()) {
    case ElementType::f32:
      return count(tensor);
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::f64:
      return count(converted(tensor, ElementType::f32));
    default:
      return 0;
  }
}

std::string nan_text(const Tensor& tensor) {
  const int64_t count = count_nan(tensor);
  return count == 0 ? "" : fmt::format("{} of {} values are NaN", count, tensor.count());
}

void note_nan(const std::vector<std::string>& names, const std::vector<Tensor>& outputs, const std::string& nan_input) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string text = nan_text(outputs[i]);
    if (text.empty()) continue;
    note("output '{}': {}; {}", names[i], text,
         nan_input.empty() ? "the input has none: a layer computes them, possibly because values are too large"
                           : fmt::format("check the input: {} has NaN, too", nan_input));
  }
}

}  // namespace convlab::app
