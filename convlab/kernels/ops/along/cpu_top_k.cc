// cpu.top_k: computes the largest or smallest elements along an axis, in order, or their indices.
// Threads: a work item is several lines along the axis; each is sorted as far as needed.
// Not supported: axes of more than 2^24 elements, the limit of exact indices in fp32.
// Limited by comparisons.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/along/lines.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_top_k {
namespace {

constexpr int64_t kMostNumbers = 1 << 24;

Refusal refuses(const Step& step, const DeviceCaps&) {
  const auto* op = std::get_if<TopKOp>(&step.op);
  if (op == nullptr) return "only TopK is supported";
  if (Lines(step.inputs[0].shape, op->axis).count > kMostNumbers) return "axis must have at most 16777216 elements";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<TopKOp>(args.step.op);
  const Lines lines(args.step.inputs[0].shape, op.axis), results(args.step.outputs[0].shape, op.axis);
  stream.threads()->parallel_for(lines.lines(), lines.grain(), [&](int64_t begin, int64_t end, int) {
    std::vector<int64_t> order(static_cast<size_t>(lines.count));
    for (int64_t line = begin; line < end; ++line) {
      const float* x = args.input(0) + lines.begin_of(line);
      const auto before = [&](int64_t i, int64_t j) {
        const float a = x[i * lines.inner], b = x[j * lines.inner];
        const bool below = a < b || (std::isnan(b) && !std::isnan(a)),
                   above = b < a || (std::isnan(a) && !std::isnan(b));
        return below == above ? i < j : op.largest ? above : below;
      };
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + op.k, order.end(), before);
      float* y = args.output() + results.begin_of(line);
      for (int64_t i = 0; i < op.k; ++i) {
        const int64_t place = order[static_cast<size_t>(i)];
        y[i * results.inner] = op.indices ? static_cast<float>(place) : x[place * lines.inner];
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.top_k",
             .device = DeviceKind::cpu,
             .family = Family::reduction,
             .idea = "largest or smallest elements of each line along an axis, or their indices, by a partial sort"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_top_k
