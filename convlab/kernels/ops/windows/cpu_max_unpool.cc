// cpu.max_unpool: writes maxima back to their original positions, and 0 elsewhere.
// Threads: one, in order: if two indices are equal, the later element wins.
// Supports every case of its operator; an index outside the array throws Error(bad_input).
// Limited by memory bandwidth.

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_max_unpool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<MaxUnpoolOp>(step.op)) return "only MaxUnpool is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream&) {
  const Shape &x = args.step.inputs[0].shape, &y = args.step.outputs[0].shape;
  const Shape inner = unpooled_shape(std::get<MaxUnpoolOp>(args.step.op), x);
  const int64_t places = element_count(inner);
  std::fill_n(args.output(), element_count(y), 0.0f);
  for (int64_t i = 0; i < element_count(x); ++i) {
    const float index = args.input(1)[i];
    if (!(index >= 0 && index < static_cast<float>(places))) {
      throw bad_input("index {} is out of range for an array of shape {}", index, to_text(inner));
    }
    const auto at = static_cast<int64_t>(index);
    const int64_t row = at / inner[3], map = row / inner[2];
    const int64_t image = map / inner[1], channel = map % inner[1];
    args.output()[((image * y[1] + channel) * y[2] + row % inner[2]) * y[3] + at % inner[3]] = args.input(0)[i];
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.max_unpool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea = "writes each maximum back to its index, and zeros elsewhere, on one thread"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_max_unpool
