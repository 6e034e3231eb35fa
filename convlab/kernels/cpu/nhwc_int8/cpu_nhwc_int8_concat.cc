// cpu.nhwc_int8_concat: concatenates channels of quantized values, each input requantized by a table.
// Threads: a work item is kPixels pixels.
// Not supported: layouts other than nhwc4.
// Limited by memory, or by table lookups.

#include <algorithm>
#include <array>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nhwc_int8_concat {
namespace {

constexpr int64_t kPixels = 64;

using Table = std::array<uint8_t, 256>;

/// The requantized value of each value.
Table table_of(const ByteConcatOp& op, const ByteConcatOp::Part& part) {
  Table table;
  for (size_t i = 0; i < table.size(); ++i) {
    const float value = static_cast<float>(static_cast<int>(i) - part.zero) * part.scale;
    table[i] = level_of(value / op.scale, rule_of(op));
  }
  return table;
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ByteConcatOp>(step.op)) return "only QLinearConcat on bytes is supported";
  return refuse_unless_bytes(step);
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const auto& op = std::get<ByteConcatOp>(step.op);
  std::vector<Table> tables;
  std::vector<bool> unchanged;  // needs no table
  for (const ByteConcatOp::Part& part : op.parts) {
    tables.push_back(table_of(op, part));
    unchanged.push_back(part.scale == op.scale && part.zero == op.zero && op.low == 0 && op.high == 255);
  }
  const int64_t y_step = pixel_bytes(step.outputs[0].shape[1]);
  stream.threads()->parallel_for(step.outputs[0].shape[0] * pixels_of(step.outputs[0].shape), kPixels,
                                 [&](int64_t begin, int64_t end, int) {
                                   uint8_t* y = byte_output(args) + begin * y_step;
                                   for (size_t i = 0; i < tables.size(); ++i) {
                                     const int64_t channels = step.inputs[i].shape[1], x_step = pixel_bytes(channels);
                                     const uint8_t* const x = byte_input(args, i);
                                     for (int64_t pixel = begin; pixel < end; ++pixel) {
                                       const uint8_t* const from = x + pixel * x_step;
                                       uint8_t* const to = y + (pixel - begin) * y_step;
                                       if (unchanged[i]) {
                                         std::copy_n(from, channels, to);
                                       } else {
                                         for (int64_t c = 0; c < channels; ++c) to[c] = tables[i][from[c]];
                                       }
                                     }
                                     y += channels;
                                   }
                                 });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.nhwc_int8_concat",
             .device = DeviceKind::cpu,
             .family = Family::quantized,
             .math = Math::int8,
             .idea = "concatenates quantized channels; a table of 256 bytes per input converts between scales"},
    .refuses = refuses,
    .launch = launch,
    .format = kNhwc4U8,
}};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_concat
