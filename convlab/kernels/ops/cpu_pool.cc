// cpu.pool: maxima or averages of windows over the last two dimensions.
// Threads: each map of each image is one piece of work. The course's pooling, maxima of disjoint 2x2 squares, has
// vector code; a row of other maxima is built tap by tap, so that the innermost loop runs over neighbouring outputs;
// averages are summed in double.
// A maximum is NaN where one of its window is. A window that lies in padding alone has the maximum -infinity.
// Refuses nothing of its operator.
// Limited by memory.

#include <algorithm>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// One dimension of the windows: `outputs` of them over `size` elements.
struct Axis {
  int64_t size, outputs, kernel, stride, dilation, pad_before, pad_after;

  /// The outputs [first, last) whose tap number `tap` lies inside.
  std::pair<int64_t, int64_t> outputs_inside(int64_t tap) const {
    const int64_t shift = tap * dilation - pad_before;  // of the tap's element against output * stride
    const int64_t first = shift >= 0 ? 0 : ceil_div(-shift, stride);
    const int64_t last = shift >= size ? 0 : (size - 1 - shift) / stride + 1;
    return {std::min(first, outputs), std::max(std::min(last, outputs), std::min(first, outputs))};
  }

  /// Taps of an output's window that count: those inside and, if padding counts, those in padding. What ceil_mode adds
  /// beyond the padding never does.
  int64_t counted(int64_t output, bool padding_counts) const {
    int64_t count = 0;
    for (int64_t tap = 0; tap < kernel; ++tap) {
      const int64_t at = output * stride + tap * dilation - pad_before;
      count += padding_counts ? at < size + pad_after : at >= 0 && at < size;
    }
    return count;
  }
};

struct Windows {
  Axis h, w;
};

Windows windows_of(const OpStep& step) {
  const Pool& pool = std::get<PoolOp>(step.op).pool;
  const Shape& x = step.inputs[0];
  return {{x[2], step.output[2], pool.kernel_h, pool.stride_h, pool.dilation_h, pool.pad_top, pool.pad_bottom},
          {x[3], step.output[3], pool.kernel_w, pool.stride_w, pool.dilation_w, pool.pad_left, pool.pad_right}};
}

/// Calls each(x, q, count, stride) for every row of input under output row p and every tap of it: the outputs q, ...,
/// q + count - 1 take x[0], x[stride], ...
template <class Each>
void for_taps(const Windows& windows, const float* map, int64_t p, Each each) {
  for (int64_t r = 0; r < windows.h.kernel; ++r) {
    const int64_t row = p * windows.h.stride + r * windows.h.dilation - windows.h.pad_before;
    if (row < 0 || row >= windows.h.size) continue;
    for (int64_t s = 0; s < windows.w.kernel; ++s) {
      const auto [first, last] = windows.w.outputs_inside(s);
      const int64_t column = first * windows.w.stride + s * windows.w.dilation - windows.w.pad_before;
      if (first < last) each(map + row * windows.w.size + column, first, last - first, windows.w.stride);
    }
  }
}

float larger_or_nan(float most, float value) { return value > most || value != value ? value : most; }

void largest(const Windows& windows, const float* map, int64_t p, float* y) {
  std::fill(y, y + windows.w.outputs, -std::numeric_limits<float>::infinity());
  for_taps(windows, map, p, [&](const float* x, int64_t q, int64_t count, int64_t stride) {
    float* most = y + q;
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i) most[i] = larger_or_nan(most[i], x[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) most[i] = larger_or_nan(most[i], x[stride * i]);
    }
  });
}

float average(const Windows& windows, const float* map, int64_t p, int64_t q, bool padding_counts) {
  double sum = 0;
  for (int64_t r = 0; r < windows.h.kernel; ++r) {
    const int64_t row = p * windows.h.stride + r * windows.h.dilation - windows.h.pad_before;
    if (row < 0 || row >= windows.h.size) continue;
    for (int64_t s = 0; s < windows.w.kernel; ++s) {
      const int64_t column = q * windows.w.stride + s * windows.w.dilation - windows.w.pad_before;
      if (column >= 0 && column < windows.w.size) sum += map[row * windows.w.size + column];
    }
  }
  const int64_t counted = windows.h.counted(p, padding_counts) * windows.w.counted(q, padding_counts);
  return static_cast<float>(sum / static_cast<double>(counted));
}

Refusal refuses(const OpStep& step) {
  const auto* op = std::get_if<PoolOp>(&step.op);
  if (op == nullptr) return "computes MaxPool and AveragePool";
  if (op->auto_pad != AutoPad::explicit_pads) return "takes padding as numbers";
  return std::nullopt;
}

void launch(const OpArgs& args, Stream& stream) {
  const Pool& pool = std::get<PoolOp>(args.step.op).pool;
  const Windows windows = windows_of(args.step);
  const int64_t in = windows.h.size * windows.w.size, rows = windows.h.outputs, columns = windows.w.outputs;
  stream.threads()->parallel_for(args.step.output[0] * args.step.output[1], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      const float* x = args.inputs[0] + map * in;
      for (int64_t p = 0; p < rows; ++p) {
        float* y = args.output + (map * rows + p) * columns;
        if (pool.is_max_2x2()) {
          const float* above = x + 2 * p * windows.w.size;
          max_of_squares(above, above + windows.w.size, y, columns);
        } else if (pool.kind == PoolKind::max) {
          largest(windows, x, p, y);
        } else {
          for (int64_t q = 0; q < columns; ++q) y[q] = average(windows, x, p, q, pool.count_include_pad);
        }
      }
    }
  });
}

const RegisterOpKernel registered{{
    .info = {.name = "cpu.pool", .device = DeviceKind::cpu},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab
