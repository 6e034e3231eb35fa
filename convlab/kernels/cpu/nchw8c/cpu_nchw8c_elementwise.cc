// cpu.nchw8c_elementwise: applies functions of one array, of two arrays of the same shape, or of an array and a
// scalar, to nchw8c images. They do not depend on the order of elements, so the kernel for nchw computes ranges of
// images.
// Threads: a work item is kPiece elements of one image.
// Not supported: other shapes, and inputs or outputs that are not nchw8c.
// Limited as that kernel is.

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"

namespace convlab::cpu_nchw8c_elementwise {
namespace {

constexpr int64_t kPiece = 16384;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_elementwise(step)) return refusal;
  // The scalar may be the first input; the second then has the output's shape.
  if (step.inputs[0].format != kNchw8c || step.outputs[0].format != kNchw8c) {
    return "input and output must be nchw8c";
  }
  if (!has_channel_lanes(step.outputs[0].shape)) return "channels must be a multiple of 8";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const int64_t size = step.outputs[0].shape[1] * step.outputs[0].shape[2] * step.outputs[0].shape[3];
  const int64_t pieces = ceil_div(size, kPiece);
  const Kernel& kernel = choose_kernel(elements_of(step, kPiece), stream.caps());
  stream.threads()->parallel_for(step.outputs[0].shape[0] * pieces, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / pieces, first = i % pieces * kPiece;
      const Step piece = elements_of(step, std::min(kPiece, size - first));
      std::vector<const void*> inputs(args.inputs.begin(), args.inputs.end());
      for (size_t input = 0; input < inputs.size(); ++input) {
        if (is_number(step, input)) continue;
        inputs[input] = args.input(input) + image * input_image_step(step, input) + first;
      }
      void* const output = args.output() + image * output_image_step(step) + first;
      kernel.launch({piece, inputs, {&output, 1}}, stream);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw8c_elementwise",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .idea =
                 "elementwise functions of nchw8c images, by the kernel for nchw: the order of elements is irrelevant"},
    .refuses = refuses,
    .launch = launch,
    .format = kNchw8c,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_elementwise
