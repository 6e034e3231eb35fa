// cpu.scale: scales uint8 images to a square, the course's resize as a step of a plan; see resize_maps().
// Threads: a work item is a range of planes (a channel of an image each).
// Limited by arithmetic in double, which the course's exact bytes require.

#include "convlab/dataset/resize.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_scale {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ScaleOp>(step.op)) return "only image scaling is supported";
  if (step.inputs[0].format != kRawPixels) return "input must be uint8, got float32";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  resize_maps(args.input<uint8_t>(0), x, std::get<ScaleOp>(args.step.op).side, args.output<uint8_t>(),
              *stream.threads());
}

const RegisterKernel registered{{
    .info = {.name = "cpu.scale",
             .device = DeviceKind::cpu,
             .family = Family::sampling,
             .idea = "scales uint8 images to a square, byte for byte as the course did, in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_scale
