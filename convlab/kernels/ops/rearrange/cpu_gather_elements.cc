// cpu.gather_elements: gathers elements: an index selects the position along one axis, and the other positions are
// those of the output.
// Threads: a work item is 16 rows of indices along the last dimension.
// Supports every case of its operator; an index outside the axis throws Error(bad_input).
// Limited by memory bandwidth.

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/rearrange/indices.h"
#include "convlab/kernels/ops/strided_copy.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_gather_elements {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GatherElementsOp>(step.op)) return "only GatherElements is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape &x = args.step.inputs[0].shape, &y = args.step.outputs[0].shape;
  const auto axis = static_cast<size_t>(normalized_axis(std::get<GatherElementsOp>(args.step.op).axis, std::ssize(x)));
  const std::vector<int64_t> strides = dense_strides(x);
  const int64_t width = y.back();
  const bool along_rows = axis + 1 == x.size();
  stream.threads()->parallel_for(element_count(y) / width, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* from = args.input(0);
      int64_t rest = row;
      for (size_t i = y.size() - 1; i-- > 0; rest /= y[i]) from += i == axis ? 0 : rest % y[i] * strides[i];
      for (int64_t i = 0; i < width; ++i) {
        const int64_t place = place_of(args.input(1)[row * width + i], x[axis]);
        args.output()[row * width + i] = from[place * strides[axis] + (along_rows ? 0 : i)];
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.gather_elements",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies single elements whose positions along an axis are indices"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_gather_elements
