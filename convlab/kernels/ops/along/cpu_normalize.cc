// cpu.normalize: layer, group, instance and RMS normalization: less the mean, over the deviation, scaled and shifted.
// Threads: each stretch that is normalized by itself is a piece of work. Mean and variance are summed in double, the
// variance about the mean.
// Refuses nothing of its operator.
// Limited by memory: a stretch is read three times, mostly from a cache.

#include <cmath>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/along/sums.h"
#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_normalize {
namespace {

Refusal refuses(const OpStep& step) {
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

/// Where an element's scale or bias lies: in a stretch, and for the stretch itself.
struct Factors {
  const float* values = nullptr;
  std::vector<int64_t> places;   ///< by element of a stretch
  std::vector<int64_t> strides;  ///< by dimension before a stretch
  bool dense = false;

  Factors(const OpArgs& args, size_t input, size_t axis) {
    if (input >= args.inputs.size()) return;
    values = args.inputs[input];
    const Shape& x = args.step.output;
    strides = broadcast_strides(args.step.inputs[input], x);
    const Shape inner(x.begin() + static_cast<std::ptrdiff_t>(axis), x.end());
    const int64_t count = element_count(inner);
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0, rest = i;
      for (size_t d = inner.size(); d-- > 0; rest /= inner[d]) at += rest % inner[d] * strides[axis + d];
      places.push_back(at);
    }
    dense = true;
    for (int64_t i = 0; dense && i < count; ++i) dense = places[static_cast<size_t>(i)] == i;
    strides.resize(axis);
  }

  const float* of(const Shape& shape, int64_t stretch) const {
    int64_t at = 0;
    for (size_t d = strides.size(); d-- > 0; stretch /= shape[d]) at += stretch % shape[d] * strides[d];
    return values + at;
  }
};

template <class Function>
void combine(const Factors& factors, const Shape& shape, int64_t stretch, float* y, int64_t count, Function function) {
  if (factors.values == nullptr) return;
  const float* values = factors.of(shape, stretch);
  if (factors.dense) {
    for (int64_t i = 0; i < count; ++i) y[i] = function(y[i], values[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = function(y[i], values[factors.places[static_cast<size_t>(i)]]);
  }
}

void normalize(const float* x, const Moments& moments, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>((x[i] - moments.mean) * moments.inverse);
}

void normalize_layers(const NormalizeOp& op, const OpArgs& args, ThreadPool& threads) {
  const Shape& shape = args.step.inputs[0];
  const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(shape)));
  const int64_t stretches = element_count({shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis)});
  const int64_t count = element_count(shape) / stretches;
  const auto stretch_at = [&](int64_t stretch) { return args.inputs[0] + stretch * count; };
  if (op.part != NormalizePart::result) {
    threads.parallel_for(stretches, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        const Moments moments = moments_of(op, stretch_at(i), count);
        args.output[i] = static_cast<float>(op.part == NormalizePart::mean ? moments.mean : moments.inverse);
      }
    });
    return;
  }
  const Factors scale(args, 1, axis), bias(args, 2, axis);
  threads.parallel_for(stretches, std::max<int64_t>(1, 4096 / count), [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      float* y = args.output + i * count;
      normalize(stretch_at(i), moments_of(op, stretch_at(i), count), y, count);
      combine(scale, shape, i, y, count, [](float a, float b) { return a * b; });
      combine(bias, shape, i, y, count, [](float a, float b) { return a + b; });
    }
  });
}

void normalize_groups(const NormalizeOp& op, const OpArgs& args, ThreadPool& threads) {
  const Shape& shape = args.step.output;
  const int64_t channels = shape[1] / op.groups, pixels = element_count(shape) / (shape[0] * shape[1]);
  const int64_t count = channels * pixels;
  threads.parallel_for(shape[0] * op.groups, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t stretch = begin; stretch < end; ++stretch) {
      const float* x = args.inputs[0] + stretch * count;
      const Moments moments = moments_of(op, x, count);
      float* y = args.output + stretch * count;
      normalize(x, moments, y, count);
      if (args.inputs.size() < 2) continue;
      for (int64_t i = 0; i < channels; ++i) {
        const int64_t channel = stretch % op.groups * channels + i;
        const float scale = args.inputs[1][channel], bias = args.inputs.size() > 2 ? args.inputs[2][channel] : 0;
        for (int64_t j = i * pixels; j < (i + 1) * pixels; ++j) y[j] = y[j] * scale + bias;
      }
    }
  });
}

void launch(const OpArgs& args, Stream& stream) {
  const auto& op = std::get<NormalizeOp>(args.step.op);
  if (op.groups == 0) {
    normalize_layers(op, args, *stream.threads());
  } else {
    normalize_groups(op, args, *stream.threads());
  }
}

const RegisterOpKernel registered{{
    .info = {.name = "cpu.normalize", .device = DeviceKind::cpu},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_normalize
