// Checks that everything a model computes from the batch size is linear in it, so that the model can be imported for
// any batch size.

#include "convlab/model/onnx/onnx_images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace convlab {
namespace {

/// Small and large batch sizes: for one of them, a remainder, a rounded quotient, or the smaller of two sizes differs
/// from a linear rule. The last one is exact in float32, too.
constexpr int64_t kSomeImages[] = {1, 2, 3, int64_t{1} << 24};

constexpr int64_t kBetween = kTrialImages[1] - kTrialImages[0];

constexpr const char* kNotLinear = "the result is not a linear function of the batch size";

constexpr const char* kTooMany = "the node compares too many values with the batch size";

/// The function a + b * images.
struct Line {
  double a, b;

  bool operator<(const Line& other) const { return a != other.a ? a < other.a : b < other.b; }
};

const Tensor& at_trial(const OnnxValue& value, size_t trial) {
  return value.trial ? (*value.trial)[trial] : *value.constant;
}

void add_lines(const OnnxValue& value, std::set<Line>& lines) {
  const Tensor first = converted(at_trial(value, 0), ElementType::f64);
  const Tensor second = converted(at_trial(value, 1), ElementType::f64);
  for (int64_t i = 0; i < first.count(); ++i) {
    const double low = first.values<double>()[static_cast<size_t>(i)];
    const double slope = (second.values<double>()[static_cast<size_t>(i)] - low) / static_cast<double>(kBetween);
    lines.insert({low - slope * static_cast<double>(kTrialImages[0]), slope});
  }
}

/// Returns the batch sizes for which a rule is evaluated: some fixed ones, and all for which one of its numbers equals
/// another one or 0, because a comparison may have another result for exactly that batch size.
std::vector<int64_t> images_to_ask(const KnownOperands& operands) {
  constexpr size_t kMostLines = 64;
  std::set<Line> lines{{0, 0}};
  for (const OnnxValue* operand : operands) {
    add_lines(*operand, lines);
    if (lines.size() > kMostLines) throw open_size("{}", kTooMany);
  }
  std::set<int64_t> images(std::begin(kSomeImages), std::end(kSomeImages));
  for (const Line& one : lines) {
    for (const Line& other : lines) {
      const double crossing = std::round((other.a - one.a) / (one.b - other.b));
      if (crossing >= 1 && crossing <= 0x1p40) images.insert(static_cast<int64_t>(crossing));
    }
  }
  return {images.begin(), images.end()};
}

}  // namespace

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

std::optional<int64_t> at_images(const ByTrial<int64_t>& trial, int64_t images) {
  if ((trial[1] - trial[0]) % kBetween != 0) return std::nullopt;
  return trial[0] + (trial[1] - trial[0]) / kBetween * (images - kTrialImages[0]);
}

std::optional<Shape> at_images(const ByTrial<Shape>& trial, int64_t images) {
  if (trial[0].size() != trial[1].size()) return std::nullopt;
  Shape shape;
  for (size_t i = 0; i < trial[0].size(); ++i) {
    const std::optional<int64_t> size = at_images({trial[0][i], trial[1][i]}, images);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

std::optional<Tensor> at_images(const ByTrial<Tensor>& trial, int64_t images) {
  const ElementType type = trial[0].type();
  if (trial[0].shape() != trial[1].shape() || trial[1].type() != type) return std::nullopt;
  const ElementType wide = is_real(type) ? ElementType::f64 : ElementType::i64;
  const Tensor first = converted(trial[0], wide), second = converted(trial[1], wide);
  Tensor result(wide, first.shape());
  for (size_t i = 0; i < static_cast<size_t>(result.count()); ++i) {
    if (is_real(type)) {
      const double low = first.values<double>()[i], high = second.values<double>()[i];
      result.values<double>()[i] = low + (high - low) / kBetween * static_cast<double>(images - kTrialImages[0]);
    } else {
      const std::optional<int64_t> value = at_images({first.values<int64_t>()[i], second.values<int64_t>()[i]}, images);
      if (!value) return std::nullopt;
      result.values<int64_t>()[i] = *value;
    }
  }
  return converted(result, type);
}

bool is_linear(const ByTrial<Shape>& trial, const std::function<Shape(int64_t images)>& rule) {
  for (const int64_t images : kSomeImages) {
    const std::optional<Shape> wanted = at_images(trial, images);
    if (!wanted) return false;
    try {
      if (rule(images) != *wanted) return false;
    } catch (const Error&) {
      continue;  // running the network with this batch size reports the error
    }
  }
  return true;
}

std::optional<ByTrial<Tensor>> linear_result(const KnownOperands& operands, bool moves, const KnownRule& rule) {
  const auto result_for = [&](const std::function<const Tensor*(const OnnxValue&)>& tensor) {
    std::vector<const Tensor*> tensors;
    for (const OnnxValue* operand : operands) tensors.push_back(tensor(*operand));
    try {
      return rule(tensors);
    } catch (const Error& error) {
      throw open_size("the result depends on the batch size and fails for some batch sizes: {}", error.what());
    }
  };
  ByTrial<Tensor> results;
  for (size_t trial = 0; trial < results.size(); ++trial) {
    std::optional<Tensor> result = result_for([trial](const OnnxValue& value) { return &at_trial(value, trial); });
    if (!result) return std::nullopt;
    results[trial] = *std::move(result);
  }
  const bool fixed_shapes = std::ranges::all_of(
      operands, [](const OnnxValue* value) { return at_trial(*value, 0).shape() == at_trial(*value, 1).shape(); });
  const bool linear_shape = at_images({results[0].shape(), results[1].shape()}, 1).has_value();
  if (moves && linear_shape) return results;
  if (moves || !fixed_shapes) throw open_size("{}", kNotLinear);
  const std::vector<int64_t> all_images = images_to_ask(operands);
  constexpr int64_t kMostWork = int64_t{1} << 24;  // elements of all results
  if (std::ssize(all_images) * std::max(results[0].count(), at_trial(*operands[0], 0).count()) > kMostWork) {
    throw open_size("{}", kTooMany);
  }
  for (const int64_t images : all_images) {
    std::vector<Tensor> given;
    given.reserve(operands.size());
    const std::optional<Tensor> result = result_for([&](const OnnxValue& value) {
      if (!value.trial) return &*value.constant;
      std::optional<Tensor> tensor = at_images(*value.trial, images);
      if (!tensor) throw open_size("'{}' is not a linear function of the batch size", value.name);
      return const_cast<const Tensor*>(&given.emplace_back(*std::move(tensor)));
    });
    const std::optional<Tensor> wanted = at_images(results, images);
    if (!result || !wanted || !same_elements(*result, *wanted)) {
      throw open_size("{}", kNotLinear);
    }
  }
  return results;
}

}  // namespace convlab
