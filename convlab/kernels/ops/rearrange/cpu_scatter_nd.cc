// cpu.scatter_nd: copies an array and replaces or updates slices that tuples of indices select.
// Threads: a work item is kPiece elements of a slice, for which it applies all updates, in order.
// Supports every case of its operator; an index outside its axis throws Error(bad_input).
// Limited by memory bandwidth.

#include "convlab/kernels/ops/rearrange/indices.h"
#include "convlab/kernels/ops/rearrange/scatter.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_scatter_nd {
namespace {

constexpr int64_t kPiece = 8192;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ScatterNdOp>(step.op)) return "only ScatterND is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const ScatterReduction reduction = std::get<ScatterNdOp>(args.step.op).reduction;
  const Shape &x = args.step.outputs[0].shape, &indices = args.step.inputs[1].shape;
  copy_all(args.input(0), args.output(), element_count(x), *stream.threads());
  const int64_t length = indices.back(), tuples = element_count(indices) / length;
  const int64_t inner = element_count({x.begin() + length, x.end()});
  stream.threads()->parallel_for(inner, kPiece, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = 0; i < tuples; ++i) {
      int64_t slice = 0;
      for (int64_t j = 0; j < length; ++j) {
        const int64_t size = x[static_cast<size_t>(j)];
        slice = slice * size + place_of(args.input(1)[i * length + j], size);
      }
      float* y = args.output() + slice * inner;
      const float* update = args.input(2) + i * inner;
      for (int64_t at = begin; at < end; ++at) y[at] = scattered(reduction, y[at], update[at]);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.scatter_nd",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies an array, then updates slices: each thread applies all updates, to its part of a slice"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_scatter_nd
