// cpu.nhwc_bf16_elementwise: elementwise functions of one bf16 nhwc array, of two of the same shape, or of an array and
// a scalar. Each chunk is converted to fp32, computed by the kernel for plain arrays, and converted back to bf16, all
// in L1. Threads: a work item is a range of pixels. Refuses other shapes, and inputs or outputs that are not bf16 nhwc.
// Limited by the same resource as that kernel.

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_rows.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"

namespace convlab::cpu_nhwc_bf16_elementwise {
namespace {

constexpr int64_t kPiece = 2048;  // elements; at least one pixel

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_elementwise(step)) return refusal;
  return refuse_unless_rows(step, kNhwcBf16);
}

/// Calls move(first pixel, elements) for each contiguous range of pixels.
template <class Move>
void for_together(int64_t step, int64_t channels, int64_t pixels, const Move& move) {
  const int64_t together = step == channels ? pixels : 1;
  for (int64_t i = 0; i < pixels; i += together) move(i, together * channels);
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const int64_t channels = step.outputs[0].shape[1],
                pixels = step.outputs[0].shape[0] * step.outputs[0].shape[2] * step.outputs[0].shape[3];
  const int64_t at_once = std::max<int64_t>(1, kPiece / channels), y_step = output_pixel_step(step);
  const Kernel& kernel = choose_kernel(elements_of(step, at_once * channels), stream.caps());
  stream.threads()->parallel_for(ceil_div(pixels, at_once), 1, [&](int64_t begin, int64_t end, int) {
    std::vector<std::vector<float>> floats(step.inputs.size() + 1,
                                           std::vector<float>(static_cast<size_t>(at_once * channels)));
    std::vector<float>& results = floats.back();
    for (int64_t first = begin * at_once; first < std::min(pixels, end * at_once); first += at_once) {
      const int64_t count = std::min(at_once, pixels - first);
      std::vector<const void*> inputs(args.inputs.begin(), args.inputs.end());
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (is_number(step, i)) continue;
        const int64_t x_step = input_pixel_step(step, i);
        const uint16_t* const x = half_input(args, i) + first * x_step;
        for_together(x_step, channels, count, [&](int64_t pixel, int64_t elements) {
          halves_to_floats(x + pixel * x_step, elements, floats[i].data() + pixel * channels);
        });
        inputs[i] = floats[i].data();
      }
      void* const output = results.data();
      kernel.launch({elements_of(step, count * channels), inputs, {&output, 1}}, stream);
      uint16_t* const y = half_output(args) + first * y_step;
      for_together(y_step, channels, count, [&](int64_t pixel, int64_t elements) {
        floats_to_halves(results.data() + pixel * channels, elements, y + pixel * y_step);
      });
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_bf16_elementwise",
             .device = DeviceKind::cpu,
             .family = Family::elementwise,
             .math = Math::bf16,
             .idea = "elementwise functions of bf16 nhwc images: in L1, to fp32, by the kernel for nchw, and back"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwcBf16,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_elementwise
