// cpu.resize: computes Resize and Upsample axis by axis, the last one first, and only those that change.
// Threads: a work item is several rows of the result along an axis.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <algorithm>
#include <utility>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/windows/resize_taps.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_resize {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ResizeOp>(step.op)) return "only Resize is supported";
  return std::nullopt;
}

/// One pass along an axis: outer x from x inner becomes outer x to x inner.
struct Pass {
  size_t axis;
  int64_t outer, from, to, inner;

  int64_t count() const { return checked_product({outer, to, inner}); }
};

std::vector<Pass> passes_of(const std::vector<ResizedAxis>& axes, const Shape& x) {
  std::vector<Pass> passes;
  int64_t inner = 1, outer = element_count(x);
  for (size_t i = x.size(); i-- > 0;) {
    outer /= x[i];
    if (axes[i].changes) passes.push_back({i, outer, x[i], axes[i].size, inner});
    inner = checked_mul(inner, axes[i].size);
  }
  return passes;
}

/// Returns the floats of one intermediate array; two such arrays alternate between passes.
int64_t between_count(const std::vector<Pass>& passes) {
  constexpr int64_t kAlignment = 16;
  int64_t most = 0;
  for (size_t i = 0; i + 1 < passes.size(); ++i) most = std::max(most, passes[i].count());
  return round_up(most, kAlignment);
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const Shape& x = step.inputs[0].shape;
  const std::vector<ResizedAxis> axes = resized_axes(std::get<ResizeOp>(step.op), x);
  return static_cast<size_t>(checked_mul(2 * sizeof(float), between_count(passes_of(axes, x))));
}

/// Resizes the last axis: each output element is a separate sum.
void resize_rows(const Pass& pass, const ResizeTaps& taps, float outside, const float* x, float* y,
                 ThreadPool& threads) {
  threads.parallel_for(pass.outer, std::max<int64_t>(1, 8192 / pass.to), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = x + row * pass.from;
      float* to = y + row * pass.to;
      for (int64_t place = 0; place < pass.to; ++place) {
        float sum = taps.outside(place) ? outside : 0;
        for (auto t = static_cast<size_t>(taps.begin(place)); t < static_cast<size_t>(taps.end(place)); ++t) {
          sum += taps.weights[t] * from[taps.elements[t]];
        }
        to[place] = sum;
      }
    }
  });
}

void resize_axis(const Pass& pass, const ResizeTaps& taps, float outside, const float* x, float* y,
                 ThreadPool& threads) {
  const int64_t inner = pass.inner;
  const int64_t grain = std::max<int64_t>(1, 8192 / inner);
  threads.parallel_for(pass.outer * pass.to, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t place = row % pass.to;
      const float* from = x + row / pass.to * pass.from * inner;
      float* to = y + row * inner;
      if (taps.outside(place)) {
        std::fill_n(to, inner, outside);
        continue;
      }
      for (int64_t t = taps.begin(place); t < taps.end(place); ++t) {
        const float* source = from + taps.elements[static_cast<size_t>(t)] * inner;
        const float weight = taps.weights[static_cast<size_t>(t)];
        if (t > taps.begin(place)) {
          for (int64_t i = 0; i < inner; ++i) to[i] += weight * source[i];
        } else if (weight == 1) {
          std::copy_n(source, inner, to);
        } else {
          for (int64_t i = 0; i < inner; ++i) to[i] = weight * source[i];
        }
      }
    }
  });
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<ResizeOp>(args.step.op);
  const Shape& x = args.step.inputs[0].shape;
  const std::vector<ResizedAxis> axes = resized_axes(op, x);
  const std::vector<Pass> passes = passes_of(axes, x);
  if (passes.empty()) std::copy_n(args.input(0), element_count(x), args.output());
  float* between = static_cast<float*>(args.workspace);
  float* other = between + between_count(passes);
  const float* from = args.input(0);
  for (size_t i = 0; i < passes.size(); ++i) {
    float* to = i + 1 == passes.size() ? args.output() : between;
    const ResizeTaps taps = resize_taps(op, axes[passes[i].axis], passes[i].from);
    const auto resize = passes[i].inner == 1 ? resize_rows : resize_axis;
    resize(passes[i], taps, op.extrapolation_value, from, to, *stream.threads());
    from = to;
    std::swap(between, other);
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.resize",
             .device = DeviceKind::cpu,
             .family = Family::sampling,
             .idea = "resizes one axis after another, only those that change, with a table of weights for each"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_resize
