// Fills arrays with integers, reals or one NaN.

#include "convlab/verify/fills.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/base/rng.h"

namespace convlab {
namespace {

constexpr int64_t kLargestPixel = 255, kLargestBias = 100;

Rng generator(Fill fill, int layer, uint64_t array, uint64_t seed) {
  return Rng(((static_cast<uint64_t>(layer) * 3 + array) * 2 + (fill == Fill::integers ? 0 : 1)) ^ seed);
}

bool raw_pixels(const ConvStep& step, Fill fill) {
  return step.input_format == kRawPixels || (step.problem.c <= 3 && fill != Fill::signed_reals);
}

/// Returns the index of a pixel that some output reads, or -1 if none was found since the filters are in the padding.
int64_t used_pixel(const ConvProblem& problem) {
  Rng rng(7);
  constexpr int kTries = 1000;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const int64_t h = rng.integer(0, problem.p() - 1) * problem.stride_h +
                      rng.integer(0, problem.r - 1) * problem.dilation_h - problem.pad_top;
    const int64_t w = rng.integer(0, problem.q() - 1) * problem.stride_w +
                      rng.integer(0, problem.s - 1) * problem.dilation_w - problem.pad_left;
    if (h < 0 || h >= problem.h || w < 0 || w >= problem.w) continue;
    const int64_t image = rng.integer(0, problem.n - 1), channel = rng.integer(0, problem.c - 1);
    return ((image * problem.c + channel) * problem.h + h) * problem.w + w;
  }
  return -1;
}

}  // namespace

IntegerLimits integer_limits(const ConvStep& step, Math math) {
  int64_t operand_x = 0, operand_w = 0, sum = 0;
  switch (math) {
    case Math::int8:  // no kernel of ConvOp computes in int8
    case Math::fp32:
      operand_x = 4095, operand_w = 2048, sum = int64_t{1} << 24;
      break;
    case Math::tf32:
      operand_x = operand_w = 2048, sum = int64_t{1} << 22;
      break;
    case Math::bf16x2:
    case Math::bf16:
      operand_x = operand_w = 256, sum = int64_t{1} << 22;
      break;
    case Math::fp16:
      operand_x = operand_w = 256, sum = int64_t{1} << 11;
      break;
  }
  if (step.input_format == kRawPixels) operand_x = std::min(operand_x, kLargestPixel);
  IntegerLimits limits{.bias = kLargestBias};
  sum -= step.adds ? 2 * kLargestBias : kLargestBias;
  const int64_t terms = step.problem.terms();
  limits.x = std::clamp<int64_t>(sum / terms, 1, operand_x);
  limits.w = std::clamp<int64_t>(sum / terms / limits.x, 1, operand_w);
  limits.period = ceil_div(terms, sum);
  return limits;
}

Tensor fill_images(const ConvStep& step, Fill fill, const IntegerLimits& limits, uint64_t seed) {
  Tensor x(step.input_format == kRawPixels ? ElementType::u8 : ElementType::f32, step.problem.input_shape());
  Rng rng = generator(fill, 0, 0, seed);
  if (step.input_format == kRawPixels) {
    const int64_t most = fill == Fill::integers ? limits.x : kLargestPixel;
    for (uint8_t& pixel : x.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(0, most));
    return x;
  }
  for (float& pixel : x.values<float>()) {
    if (fill == Fill::integers) {
      pixel = static_cast<float>(rng.integer(-limits.x, limits.x));
    } else {
      pixel = raw_pixels(step, fill) ? static_cast<float>(rng.integer(0, kLargestPixel)) : rng.uniform(-1, 1);
    }
  }
  if (fill == Fill::one_nan) {
    const int64_t pixel = used_pixel(step.problem);
    if (pixel >= 0) x.values<float>()[static_cast<size_t>(pixel)] = std::numeric_limits<float>::quiet_NaN();
  }
  return x;
}

Tensor fill_filters(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer, uint64_t seed) {
  const ConvProblem& problem = step.problem;
  Tensor w(ElementType::f32, problem.filter_shape());
  Rng rng = generator(fill, layer, 1, seed);
  // The root mean square of a uniform pixel is 147 (raw) or 0.58 (in (-1, 1)); that of a uniform filter element is 0.58
  // of its bound. With these bounds, a sum of n random terms has a standard deviation of 1.3 or 1.
  const float root = std::sqrt(static_cast<float>(problem.terms()));
  const float bound = raw_pixels(step, fill) ? 1 / (64 * root) : std::min(1.0f, 3 / root);
  int64_t index = 0;
  for (float& element : w.values<float>()) {
    const int64_t output_channel = index / problem.terms(), term = index % problem.terms();
    ++index;
    if (fill == Fill::integers) {
      const auto value = static_cast<float>(rng.integer(-limits.w, limits.w));
      element = (term + output_channel) % limits.period == 0 ? value : 0;
    } else {
      element = rng.uniform(-bound, bound);
    }
  }
  return w;
}

namespace {

Tensor small_numbers(const Shape& shape, Fill fill, const IntegerLimits& limits, Rng rng) {
  Tensor numbers(ElementType::f32, shape);
  for (float& element : numbers.values<float>()) {
    element =
        fill == Fill::integers ? static_cast<float>(rng.integer(-limits.bias, limits.bias)) : rng.uniform(-0.5f, 0.5f);
  }
  return numbers;
}

}  // namespace

Tensor fill_bias(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer) {
  return small_numbers({step.problem.k}, fill, limits, generator(fill, layer, 2, 0));
}

Tensor fill_added(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer) {
  return small_numbers(step.problem.output_shape(), fill, limits, generator(fill, layer, 3, 0));
}

}  // namespace convlab
