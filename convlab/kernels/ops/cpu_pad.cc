// cpu.pad: pads each dimension, or crops it if a pad is negative. Pads with a constant, the edge value, the mirror
// image without the edge itself, or the array repeated. Cropping comes first, so a mirror is at the cropped edge.
// Threads: a work item is 16 output rows along the last dimension.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <algorithm>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_pad {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<PadOp>(step.op)) return "only Pad is supported";
  return std::nullopt;
}

constexpr int64_t kOutside = -1;

/// Returns the input index for each output index along one dimension, or kOutside for the constant.
std::vector<int64_t> sources_of(PadMode mode, int64_t size, int64_t before, int64_t after) {
  const int64_t first = std::max<int64_t>(-before, 0), last = size - std::max<int64_t>(-after, 0) - 1;
  const int64_t left = last - first;  // after cropping, elements 0 .. left remain
  std::vector<int64_t> sources(static_cast<size_t>(size + before + after), kOutside);
  for (size_t i = 0; i < sources.size(); ++i) {
    int64_t at = static_cast<int64_t>(i) - std::max<int64_t>(before, 0);
    if (mode == PadMode::reflect && left > 0) {
      at = (at % (2 * left) + 2 * left) % (2 * left);  // a mirror at each end: the period is 2 * left
      at = std::min(at, 2 * left - at);
    } else if (mode == PadMode::wrap) {
      at = (at % (left + 1) + left + 1) % (left + 1);
    } else if (mode != PadMode::constant) {
      at = std::clamp<int64_t>(at, 0, std::max<int64_t>(left, 0));
    }
    if (at >= 0 && at <= left) sources[i] = first + at;
  }
  return sources;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<PadOp>(args.step.op);
  const Shape &from = args.step.inputs[0].shape, &to = args.step.outputs[0].shape;
  const int64_t count = element_count(to);
  if (count == 0) return;
  const size_t rank = to.size();
  if (rank == 0) {
    args.output()[0] = args.input(0)[0];
    return;
  }
  std::vector<std::vector<int64_t>> sources;
  for (size_t i = 0; i < rank; ++i) sources.push_back(sources_of(op.mode, from[i], op.pads[i], op.pads[rank + i]));
  const int64_t width = to.back();
  stream.threads()->parallel_for(count / width, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      float* y = args.output() + row * width;
      int64_t at = 0, rest = row, stride = from.back();
      bool outside = false;
      for (size_t i = rank - 1; i-- > 0; rest /= to[i], stride *= from[i]) {
        const int64_t source = sources[i][static_cast<size_t>(rest % to[i])];
        outside |= source == kOutside;
        at += source * stride;
      }
      if (outside) {
        std::fill_n(y, width, op.value);
        continue;
      }
      for (int64_t i = 0; i < width; ++i) {
        const int64_t source = sources.back()[static_cast<size_t>(i)];
        y[i] = source == kOutside ? op.value : args.input(0)[at + source];
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.pad",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "pads or crops row by row, with a table of source indices for each dimension"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_pad
