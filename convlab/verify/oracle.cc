// Computes reference outputs on the host and caches them.

#include "convlab/verify/oracle.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

std::atomic<int64_t> planes_done{0};

/// Returns the outputs [first, last) whose tap at `offset` (tap * dilation - padding) is a pixel in [0, size).
std::pair<int64_t, int64_t> reached(int64_t offset, int64_t stride, int64_t size, int64_t outputs) {
  const int64_t first = offset >= 0 ? 0 : ceil_div(-offset, stride);
  const int64_t last = size - 1 - offset < 0 ? 0 : (size - 1 - offset) / stride + 1;
  return {first, std::min(last, outputs)};
}

/// Adds `weight` times the pixels of one input row to the output row that reads them through filter column `s`.
template <class T>
void scatter_row(const ConvProblem& problem, const T* row, int64_t s, double weight, double* value, double* scale) {
  const int64_t offset = s * problem.dilation_w - problem.pad_left;
  const auto [first, last] = reached(offset, problem.stride_w, problem.w, problem.q());
  const double size = std::abs(weight);
  const auto add = [=, begin = first, end = last](auto stride) {
    for (int64_t q = begin; q < end; ++q) {
      const double pixel = row[q * stride + offset];
      value[q] += pixel * weight;
      scale[q] += std::abs(pixel) * size;
    }
  };
  if (problem.stride_w == 1) {
    add(std::integral_constant<int64_t, 1>());  // compilers vectorize this
  } else {
    add(problem.stride_w);
  }
}

template <class T>
void convolve_plane(const ConvProblem& problem, const T* image, const float* filter, int64_t group, double* value,
                    double* scale) {
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
          scatter_row(problem, row, s, taps[s], value + p * problem.q(), scale + p * problem.q());
        }
      }
    }
  }
}

template <class T>
Expected convolve_as(const ConvProblem& problem, const Tensor& x, const Tensor& w, ThreadPool& threads) {
  Expected sums{.shape = problem.output_shape()};
  sums.value.resize(static_cast<size_t>(problem.output_count()));
  sums.scale.resize(sums.value.size());
  const int64_t plane = problem.p() * problem.q();
  threads.parallel_for(problem.n * problem.k, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<double> scale;
    for (int64_t plane_index = begin; plane_index < end; ++plane_index) {
      const int64_t n = plane_index / problem.k, k = plane_index % problem.k;
      scale.assign(static_cast<size_t>(plane), 0);
      convolve_plane(problem, x.values<T>().data() + n * problem.c * problem.h * problem.w,
                     w.values<float>().data() + k * problem.terms(), k / problem.maps_per_group(),
                     &sums.value[plane_index * plane], scale.data());
      std::transform(scale.begin(), scale.end(), sums.scale.begin() + plane_index * plane,
                     [](double each) { return static_cast<float>(each); });
      ++planes_done;
    }
  });
  return sums;
}

struct Pixel {
  double value, scale;
};

/// Pools one window as ONNX's MaxPool and AveragePool (operator documentation, opset 19): padding never counts in a
/// maximum, and counts in the average's divisor only with count_include_pad; what ceil_mode adds beyond the padding
/// never counts.
Pixel pool_window(const Pool& pool, const double* values, const float* scales, int64_t height, int64_t width, int64_t p,
                  int64_t q) {
  const int64_t top = p * pool.stride_h - pool.pad_top, left = q * pool.stride_w - pool.pad_left;
  Pixel sum{0, 0}, most{-std::numeric_limits<double>::infinity(), 0};
  int64_t inside = 0, counted = 0;
  for (int64_t h = top; h < top + pool.kernel_h * pool.dilation_h; h += pool.dilation_h) {
    for (int64_t w = left; w < left + pool.kernel_w * pool.dilation_w; w += pool.dilation_w) {
      counted += h < height + pool.pad_bottom && w < width + pool.pad_right;
      if (h < 0 || w < 0 || h >= height || w >= width) continue;
      const double value = values[h * width + w], scale = scales[h * width + w];
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

int64_t bytes_of(const Expected& expected) {
  return static_cast<int64_t>(expected.value.size() * (sizeof(double) + sizeof(float)));
}

}  // namespace

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
    case ActivationKind::swish:
      return value / (1 + std::exp(-value));
    case ActivationKind::hard_swish:
      return value * std::min(std::max(value + 3, 0.0), 6.0) / 6;
  }
  return value;
}

Expected convolve(const ConvStep& step, const Tensor& x, const Tensor& w, ThreadPool& threads) {
  return step.input_format == kRawPixels ? convolve_as<uint8_t>(step.problem, x, w, threads)
                                         : convolve_as<float>(step.problem, x, w, threads);
}

Expected finish(const ConvStep& step, const Expected& sums, const Tensor& bias, const Tensor& added,
                ThreadPool& threads) {
  const Epilogue& epilogue = step.epilogue;
  Expected expected{.shape = step.output_shape()};
  const int64_t height = step.problem.p(), width = step.problem.q(), sums_plane = height * width;
  const int64_t pooled_width = expected.shape[3], plane = expected.shape[2] * pooled_width;
  expected.value.resize(static_cast<size_t>(element_count(expected.shape)));
  expected.scale.resize(expected.value.size());
  threads.parallel_for(step.problem.n * step.problem.k, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<double> values(static_cast<size_t>(sums_plane));
    std::vector<float> scales(values.size());
    for (int64_t plane_index = begin; plane_index < end; ++plane_index) {
      const double offset = epilogue.bias ? bias.values<float>()[plane_index % step.problem.k] : 0;
      for (int64_t i = 0; i < sums_plane; ++i) {
        const double other = step.adds ? added.values<float>()[plane_index * sums_plane + i] : 0;
        values[i] = sums.value[plane_index * sums_plane + i] + offset + other;
        scales[i] = sums.scale[plane_index * sums_plane + i] + static_cast<float>(std::abs(offset) + std::abs(other));
      }
      for (int64_t i = 0; i < plane; ++i) {
        const Pixel pixel = epilogue.pool ? pool_window(*epilogue.pool, values.data(), scales.data(), height, width,
                                                        i / pooled_width, i % pooled_width)
                                          : Pixel{values[i], scales[i]};
        expected.value[plane_index * plane + i] = activate(epilogue.activation, pixel.value);
        expected.scale[plane_index * plane + i] = static_cast<float>(pixel.scale);
      }
      ++planes_done;
    }
  });
  return expected;
}

int64_t oracle_progress() { return planes_done; }

Oracle::Oracle(int threads, int64_t kept_bytes) : threads_(threads), kept_bytes_(kept_bytes) {}

std::shared_ptr<const OracleLayer> Oracle::layer(const ConvStep& step, Fill fill, const IntegerLimits& limits,
                                                 int layer) {
  if (step.problem != problem_ || held_bytes_ > kept_bytes_) {
    convolved_.clear();
    layers_.clear();
    held_bytes_ = 0;
    problem_ = step.problem;
  }
  const Key key{step.input_format == kRawPixels, fill, fill == Fill::integers ? limits : IntegerLimits{}, layer};
  for (const KeptLayer& kept : layers_) {
    if (kept.key == key && kept.epilogue == step.epilogue && kept.adds == step.adds) return kept.layer;
  }
  const std::shared_ptr<const Convolved> convolved = convolve_once(step, key);
  auto made = std::make_shared<OracleLayer>();
  made->convolved = convolved;
  if (step.epilogue.bias) made->bias = fill_bias(step, fill, key.limits, layer);
  if (step.adds) made->added = fill_added(step, fill, key.limits, layer);
  if (!step.epilogue.empty() || step.adds) {
    made->finished = finish(step, convolved->sums, made->bias, made->added, threads_);
    held_bytes_ += bytes_of(*made->finished);
  }
  layers_.push_back({key, step.epilogue, step.adds, made});
  return made;
}

std::shared_ptr<const Convolved> Oracle::convolve_once(const ConvStep& step, const Key& key) {
  std::shared_ptr<const Tensor> images;
  for (const auto& [kept_key, convolved] : convolved_) {
    if (kept_key == key) return convolved;
    const bool same_images =
        kept_key.pixels == key.pixels && kept_key.fill == key.fill && kept_key.limits == key.limits;
    if (same_images) images = convolved->x;
  }
  auto made = std::make_shared<Convolved>();
  made->x = images ? images : std::make_shared<const Tensor>(fill_images(step, key.fill, key.limits));
  made->w = fill_filters(step, key.fill, key.limits, key.layer);
  made->sums = convolve(step, *made->x, made->w, threads_);
  held_bytes_ += bytes_of(made->sums) + static_cast<int64_t>(made->x->bytes() + made->w.bytes());
  convolved_.emplace_back(key, made);
  return made;
}

}  // namespace convlab
