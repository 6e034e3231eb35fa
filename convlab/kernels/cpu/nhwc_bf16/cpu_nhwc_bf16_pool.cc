// cpu.nhwc_bf16_pool: max and average pooling of bf16 nhwc images; plain fp32 output if it is 1x1.
// Threads: a work item is a band of output rows of an image.
// Refuses other inputs and outputs that are not bf16 nhwc.
// Limited by memory, and by conversions of the input.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_windows.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/cpu/simd/pool_rows.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_bf16_pool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_pools(step)) return refusal;
  return refuse_unless_from_rows(step, kNhwcBf16);
}

class Launch {
 public:
  Launch(const Args& args, int threads)
      : args_(args),
        x_(args.step.inputs[0].shape),
        y_(args.step.outputs[0].shape),
        pool_(block_pool(std::get<PoolOp>(args.step.op).pool, x_[2], x_[3])) {
    const int64_t wanted = ceil_div(4 * threads, std::max<int64_t>(y_[0], 1));
    rows_ = ceil_div(y_[2], std::min(wanted, y_[2]));
    bands_ = ceil_div(y_[2], rows_);
  }

  int64_t pieces() const { return y_[0] * bands_; }

  void compute(int64_t piece, int) const {
    const int64_t image = piece / bands_, first = piece % bands_ * rows_;
    const bool plain = args_.step.outputs[0].format.order == Order::nchw;
    HalfWindows windows{.pool = pool_, .channels = y_[1], .first = first, .count = std::min(rows_, y_[2] - first)};
    windows.x_step = input_pixel_step(args_.step, 0);
    windows.x = half_input(args_, 0) + image * x_[2] * x_[3] * windows.x_step;
    windows.y_step = output_pixel_step(args_.step);
    const int64_t at = (image * y_[2] + first) * y_[3] * windows.y_step;
    if (plain) {
      windows.plain = args_.output() + at;
    } else {
      windows.y = half_output(args_) + at;
    }
    compute_windows(windows);
  }

 private:
  const Args& args_;
  const Shape &x_, &y_;
  BlockPool pool_;
  int64_t rows_ = 0, bands_ = 0;
};

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_bf16_pool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .math = Math::bf16,
             .idea =
                 "max and average pooling of bf16 nhwc images: maxima as 16-bit integers, shared columns reduced once"},
    .refuses = refuses,
    .launch = launch_pieces<Launch, Args>,
    .format = kNhwcBf16,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_bf16_pool
