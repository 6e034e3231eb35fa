// cpu.nchw8c_pool: computes maxima or averages of windows of nchw8c images, with the rules of cpu.pool.
// Threads: a work item is a band of output rows of one block of 8 channels of one image.
// Not supported: inputs or outputs that are not nchw8c.
// Limited by memory bandwidth; averages by conversions to double.

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/kernels/cpu/nchw8c/pool_block.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/cpu/simd/pool_rows.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_pool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_pools(step)) return refusal;
  return refuse_unless_channel_lanes(step);
}

class Launch {
 public:
  Launch(const Args& args, int threads)
      : args_(args),
        x_(args.step.inputs[0].shape),
        y_(args.step.outputs[0].shape),
        pool_(block_pool(std::get<PoolOp>(args.step.op).pool, x_[2], x_[3])),
        blocks_(y_[1] / kChannelLanes) {
    const int64_t wanted = ceil_div(4 * threads, std::max<int64_t>(y_[0] * blocks_, 1));
    rows_ = ceil_div(y_[2], std::min(wanted, y_[2]));
    bands_ = ceil_div(y_[2], rows_);
  }

  int64_t pieces() const { return y_[0] * blocks_ * bands_; }

  void compute(int64_t piece, int) const {
    const int64_t block = piece / bands_ % blocks_, image = piece / bands_ / blocks_;
    const int64_t first = piece % bands_ * rows_, count = std::min(rows_, y_[2] - first);
    pool_block(
        pool_, args_.input(0) + image * input_image_step(args_.step, 0) + block * x_[2] * x_[3] * kChannelLanes, first,
        count,
        args_.output() + image * output_image_step(args_.step) + (block * y_[2] + first) * y_[3] * kChannelLanes);
  }

 private:
  const Args& args_;
  const Shape &x_, &y_;
  BlockPool pool_;
  int64_t blocks_, rows_ = 0, bands_ = 0;
};

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw8c_pool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea =
                 "max and average pooling of nchw8c images: a vector holds 8 channels, so windows need no shuffles"},
    .refuses = refuses,
    .launch = launch_pieces<Launch, Args>,
    .format = kNchw8c,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_pool
