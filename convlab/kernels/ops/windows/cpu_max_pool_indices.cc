// cpu.max_pool_indices: computes the indices of the maxima of a max pooling.
// Threads: a work item is a channel of an image.
// Not supported: inputs of more than 2^24 elements, the limit of exact indices in fp32.
// Limited by comparisons.

#include <cmath>

#include "convlab/kernels/ops/windows/windows.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_max_pool_indices {
namespace {

constexpr int64_t kMostNumbers = 1 << 24;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<MaxPoolIndicesOp>(step.op)) return "only the indices of MaxPool are supported";
  if (element_count(step.inputs[0].shape) > kMostNumbers) return "input must have at most 16777216 elements";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<MaxPoolIndicesOp>(args.step.op);
  const int64_t height = args.step.inputs[0].shape[2], width = args.step.inputs[0].shape[3];
  for_each_window({op.pool, op.auto_pad}, args.step, *stream.threads(),
                  [&](int64_t map, int64_t output, const Window& window) {
                    const float* x = args.input(0) + map * height * width;
                    int64_t best = -1, place = 0;
                    for (int64_t r = window.rows.first; r < window.rows.last; ++r) {
                      const int64_t h = window.h + r * op.pool.dilation_h;
                      for (int64_t s = window.columns.first; s < window.columns.last; ++s) {
                        const int64_t w = window.w + s * op.pool.dilation_w, at = h * width + w;
                        const bool first_nan = best >= 0 && std::isnan(x[at]) && !std::isnan(x[best]);
                        if (best >= 0 && !first_nan && !(x[at] > x[best])) continue;
                        best = at;
                        place = op.columns_first ? w * height + h : at;
                      }
                    }
                    args.output()[output] = static_cast<float>(map * height * width + place);
                  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.max_pool_indices",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea = "index of the largest element of each window"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_max_pool_indices
