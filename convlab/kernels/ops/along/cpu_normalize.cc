// cpu.normalize: computes layer, group, instance and RMS normalization: subtracts the mean, divides by the standard
// deviation, scales and shifts.
// Threads: a work item is one or more ranges. Each range is normalized separately. Mean and variance are summed in
// double, the variance about the mean.
// Supports every case of its operator.
// Limited by memory bandwidth: a range is read three times, mostly from a cache.

#include <cmath>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/along/sums.h"
#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_normalize {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<NormalizeOp>(step.op)) return "only layer, group and RMS normalization are supported";
  return std::nullopt;
}

struct Moments {
  double mean = 0, inverse = 1;
};

Moments moments_of(const NormalizeOp& op, const float* x, int64_t count) {
  const auto terms = static_cast<double>(count);
  const double mean = op.center ? sum_of(x, count, [](double value) { return value; }) / terms : 0;
  const double variance = sum_of(x, count, [=](double value) { return (value - mean) * (value - mean); }) / terms;
  return {mean, 1 / std::sqrt(variance + static_cast<double>(op.epsilon))};
}

/// The scale or bias of elements: offsets within a range, and the offset of the range.
struct Factors {
  const float* values = nullptr;
  std::vector<int64_t> offsets;  ///< per element of a range
  std::vector<int64_t> strides;  ///< per dimension before a range
  bool dense = false;

  Factors(const Args& args, size_t input, size_t axis) {
    if (input >= args.inputs.size()) return;
    values = args.input(input);
    const Shape& x = args.step.outputs[0].shape;
    strides = broadcast_strides(args.step.inputs[input].shape, x);
    const Shape inner(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
    const int64_t count = element_count(inner);
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0, rest = i;
      for (size_t d = inner.size(); d-- > 0; rest /= inner[d]) at += rest % inner[d] * strides[axis + d];
      offsets.push_back(at);
    }
    dense = true;
    for (int64_t i = 0; dense && i < count; ++i) dense = offsets[static_cast<size_t>(i)] == i;
    strides.resize(axis);
  }

  const float* of(const Shape& shape, int64_t range) const {
    int64_t at = 0;
    for (size_t d = strides.size(); d-- > 0; range /= shape[d]) at += range % shape[d] * strides[d];
    return values + at;
  }
};

template <class Function>
void combine(const Factors& factors, const Shape& shape, int64_t range, float* y, int64_t count, Function function) {
  if (factors.values == nullptr) return;
  const float* values = factors.of(shape, range);
  if (factors.dense) {
    for (int64_t i = 0; i < count; ++i) y[i] = function(y[i], values[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = function(y[i], values[factors.offsets[static_cast<size_t>(i)]]);
  }
}

void normalize(const float* x, const Moments& moments, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>((x[i] - moments.mean) * moments.inverse);
}

void normalize_layers(const NormalizeOp& op, const Args& args, ThreadPool& threads) {
  const Shape& shape = args.step.inputs[0].shape;
  const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(shape)));
  const int64_t ranges = element_count({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)});
  const int64_t count = element_count(shape) / ranges;
  const auto range_at = [&](int64_t range) { return args.input(0) + range * count; };
  if (op.part != NormalizePart::result) {
    threads.parallel_for(ranges, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const Moments moments = moments_of(op, range_at(i), count);
        args.output()[i] = static_cast<float>(op.part == NormalizePart::mean ? moments.mean : moments.inverse);
      }
    });
    return;
  }
  const Factors scale(args, 1, axis), bias(args, 2, axis);
  threads.parallel_for(ranges, std::max<int64_t>(1, 4096 / count), [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      float* y = args.output() + i * count;
      normalize(range_at(i), moments_of(op, range_at(i), count), y, count);
      combine(scale, shape, i, y, count, [](float a, float b) { return a * b; });
      combine(bias, shape, i, y, count, [](float a, float b) { return a + b; });
    }
  });
}

void normalize_groups(const NormalizeOp& op, const Args& args, ThreadPool& threads) {
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t channels = shape[1] / op.groups, pixels = element_count(shape) / (shape[0] * shape[1]);
  const int64_t count = channels * pixels;
  threads.parallel_for(shape[0] * op.groups, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t range = begin; range < end; ++range) {
      const float* x = args.input(0) + range * count;
      const Moments moments = moments_of(op, x, count);
      float* y = args.output() + range * count;
      normalize(x, moments, y, count);
      if (args.inputs.size() < 2) continue;
      for (int64_t i = 0; i < channels; ++i) {
        const int64_t channel = range % op.groups * channels + i;
        const float scale = args.input(1)[channel], bias = args.inputs.size() > 2 ? args.input(2)[channel] : 0;
        for (int64_t j = i * pixels; j < (i + 1) * pixels; ++j) y[j] = y[j] * scale + bias;
      }
    }
  });
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<NormalizeOp>(args.step.op);
  if (op.groups == 0) {
    normalize_layers(op, args, *stream.threads());
  } else {
    normalize_groups(op, args, *stream.threads());
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.normalize",
             .device = DeviceKind::cpu,
             .family = Family::normalization,
             .idea = "layer, group, instance and RMS normalization: the variance about the mean, summed in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_normalize
