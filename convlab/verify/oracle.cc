#include "convlab/verify/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

/// One map of one image: values and term sizes before pooling.
struct Map {
  std::vector<double> value, scale;
};

/// The outputs [first, last) whose tap at `offset` (tap * dilation - padding) falls on a pixel in [0, size).
std::pair<int64_t, int64_t> reached(int64_t offset, int64_t stride, int64_t size, int64_t outputs) {
  const int64_t first = offset >= 0 ? 0 : ceil_div(-offset, stride);
  const int64_t last = size - 1 - offset < 0 ? 0 : (size - 1 - offset) / stride + 1;
  return {first, std::min(last, outputs)};
}

/// Adds `weight` times the pixels of one input row to the output row that they reach through filter column `s`.
template <class T>
void scatter_row(const ConvProblem& problem, const T* row, int64_t s, double weight, double* value, double* scale) {
  const int64_t offset = s * problem.dilation_w - problem.pad_left, stride = problem.stride_w;
  const auto [first, last] = reached(offset, stride, problem.w, problem.q());
  const double size = std::abs(weight);
  for (int64_t q = first; q < last; ++q) {
    const double pixel = row[q * stride + offset];
    value[q] += pixel * weight;
    scale[q] += std::abs(pixel) * size;
  }
}

template <class T>
void convolve_map(const ConvProblem& problem, const T* image, const float* filter, int64_t group, Map& map) {
  const int64_t channels = problem.channels_per_group();
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t h = 0; h < problem.h; ++h) {
      const T* row = image + ((group * channels + c) * problem.h + h) * problem.w;
      for (int64_t r = 0; r < problem.r; ++r) {
        const int64_t from_top = h + problem.pad_top - r * problem.dilation_h;
        const int64_t p = from_top / problem.stride_h;
        if (from_top < 0 || from_top % problem.stride_h != 0 || p >= problem.p()) continue;
        const float* taps = filter + (c * problem.r + r) * problem.s;
        for (int64_t s = 0; s < problem.s; ++s) {
          scatter_row(problem, row, s, taps[s], &map.value[p * problem.q()], &map.scale[p * problem.q()]);
        }
      }
    }
  }
}

struct Pixel {
  double value, scale;
};

/// ONNX's MaxPool and AveragePool (operator documentation, opset 19): padding takes no part in a maximum, and in the
/// average's divisor only with count_include_pad; what ceil_mode adds beyond the padding never counts.
Pixel pool_window(const Pool& pool, const Map& map, int64_t height, int64_t width, int64_t p, int64_t q) {
  const int64_t top = p * pool.stride_h - pool.pad_top, left = q * pool.stride_w - pool.pad_left;
  Pixel sum{0, 0}, most{-std::numeric_limits<double>::infinity(), 0};
  int64_t inside = 0, counted = 0;
  for (int64_t h = top; h < top + pool.kernel_h * pool.dilation_h; h += pool.dilation_h) {
    for (int64_t w = left; w < left + pool.kernel_w * pool.dilation_w; w += pool.dilation_w) {
      counted += h < height + pool.pad_bottom && w < width + pool.pad_right;
      if (h < 0 || w < 0 || h >= height || w >= width) continue;
      const double value = map.value[h * width + w], scale = map.scale[h * width + w];
      ++inside;
      sum = {sum.value + value, sum.scale + scale};  // NaN if any is
      most = {std::max(most.value, value), std::max(most.scale, scale)};
    }
  }
  if (std::isnan(sum.value)) return sum;
  if (pool.kind == PoolKind::max) return most;
  const auto divisor = static_cast<double>(pool.count_include_pad ? counted : inside);
  return {sum.value / divisor, sum.scale / divisor};
}

double activate(const Activation& activation, double value) {
  if (std::isnan(value)) return value;
  switch (activation.kind) {
    case ActivationKind::none:
      return value;
    case ActivationKind::relu:
      return std::max(value, 0.0);
    case ActivationKind::leaky_relu:
      return value * (value >= 0 ? 1 : static_cast<double>(activation.alpha));
    case ActivationKind::clip:
      return std::min(std::max(value, static_cast<double>(activation.alpha)), static_cast<double>(activation.beta));
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-value));
    case ActivationKind::tanh:
      return 1 - 2 / (std::exp(2 * value) + 1);
  }
  return value;
}

template <class T>
Expected evaluate_as(const ConvStep& step, const Tensor& x, const Tensor& w, const Tensor& bias, ThreadPool& threads) {
  const ConvProblem& problem = step.problem;
  Expected expected{.shape = step.output_shape()};
  const int64_t height = expected.shape[2], width = expected.shape[3], plane = height * width;
  expected.value.resize(static_cast<size_t>(element_count(expected.shape)));
  expected.scale.resize(expected.value.size());
  threads.parallel_for(problem.n * problem.k, 1, [&](int64_t begin, int64_t end, int) {
    Map map;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t n = index / problem.k, k = index % problem.k;
      const double start = step.epilogue.bias ? bias.values<float>()[k] : 0;
      map.value.assign(problem.p() * problem.q(), start);
      map.scale.assign(problem.p() * problem.q(), std::abs(start));
      convolve_map(problem, x.values<T>().data() + n * problem.c * problem.h * problem.w,
                   w.values<float>().data() + k * problem.terms(), k / problem.maps_per_group(), map);
      for (int64_t i = 0; i < plane; ++i) {
        const Pixel pixel = step.epilogue.pool
                                ? pool_window(*step.epilogue.pool, map, problem.p(), problem.q(), i / width, i % width)
                                : Pixel{map.value[i], map.scale[i]};
        expected.value[index * plane + i] = activate(step.epilogue.activation, pixel.value);
        expected.scale[index * plane + i] = static_cast<float>(pixel.scale);
      }
    }
  });
  return expected;
}

int64_t bytes_of(const OracleLayer& layer) {
  return static_cast<int64_t>(layer.x->bytes() + layer.w.bytes() + layer.expected.value.size() * 12);
}

}  // namespace

Expected evaluate(const ConvStep& step, const Tensor& x, const Tensor& w, const Tensor& bias, ThreadPool& threads) {
  return step.input == ElementType::u8 ? evaluate_as<uint8_t>(step, x, w, bias, threads)
                                       : evaluate_as<float>(step, x, w, bias, threads);
}

Oracle::Oracle(int threads, int64_t kept_bytes) : threads_(threads), kept_bytes_(kept_bytes) {}

std::shared_ptr<const OracleLayer> Oracle::layer(const ConvStep& step, Fill fill, const IntegerLimits& limits,
                                                 int layer) {
  if (step.problem != problem_ || held_bytes_ > kept_bytes_) {
    kept_.clear();
    held_bytes_ = 0;
    problem_ = step.problem;
  }
  const IntegerLimits used = fill == Fill::integers ? limits : IntegerLimits{};
  std::shared_ptr<const Tensor> images;
  for (const Kept& kept : kept_) {
    if (kept.input != step.input || kept.fill != fill) continue;
    if (kept.limits == used && kept.epilogue == step.epilogue && kept.layer == layer) return kept.values;
    if (kept.limits.x == used.x) images = kept.values->x;
  }
  auto made = std::make_shared<OracleLayer>();
  made->x = images ? images : std::make_shared<const Tensor>(fill_images(step, fill, used));
  made->w = fill_filters(step, fill, used, layer);
  made->bias = fill_bias(step, fill, used, layer);
  made->expected = evaluate(step, *made->x, made->w, made->bias, threads_);
  held_bytes_ += bytes_of(*made);
  kept_.push_back({step.epilogue, step.input, fill, used, layer, made});
  return made;
}

}  // namespace convlab
