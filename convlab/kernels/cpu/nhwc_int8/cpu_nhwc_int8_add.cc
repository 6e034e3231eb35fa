// cpu.nhwc_int8_add: adds two arrays of quantized values and quantizes the sum with another scale.
// Threads: a work item is kPiece bytes.
// Not supported: layouts other than nhwc4.
// Limited by conversions between quantized values and floats.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_int8_add {
namespace {

constexpr int64_t kPiece = 16384;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ByteAddOp>(step.op)) return "only QLinearAdd on bytes is supported";
  return refuse_unless_bytes(step);
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<ByteAddOp>(args.step.op);
  const ByteSum sum = sum_of(op, op.a_zero);
  const int64_t count = element_count(args.step.outputs[0].shape, kNhwc4U8);
  stream.threads()->parallel_for(count, kPiece, [&](int64_t begin, int64_t end, int) {
    add_levels(byte_input(args, 0) + begin, byte_input(args, 1) + begin, end - begin, sum, byte_output(args) + begin);
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_int8_add",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .math = Math::int8,
             .idea = "sum of two quantized arrays: scaled and added in fp32, rounded to bytes with another scale"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwc4U8,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_add
