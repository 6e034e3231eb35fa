// cpu.conv_transpose: computes transposed convolutions: each input pixel adds a multiple of each filter to the output.
// Threads: for each image and group, filters times pixels is one matrix product on all threads. Then a work item is an
// output channel, which sums the products that fall on each of its pixels (col2im).
// Supports every case of its operator.
// Limited by fused multiply-adds if filters have many channels, otherwise by memory bandwidth.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/ops/windows/steps_inside.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_conv_transpose {
namespace {

constexpr int64_t kMostProducts = int64_t{1} << 22;  // floats; a part of them fits in L2

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ConvTransposeOp>(step.op)) return "only ConvTranspose is supported";
  return std::nullopt;
}

/// A group's product: (maps * taps) x channels times channels x pixels, computed for some output channels (`maps`) at a
/// time.
struct Sizes {
  int64_t channels, maps, taps, pixels;
  int64_t maps_together;
  int64_t filters, packed, products, scratch;  ///< floats in the workspace's four parts

  explicit Sizes(const Step& step) {
    constexpr int64_t kAlignment = 16;
    const Shape &x = step.inputs[0].shape, &w = step.inputs[1].shape;
    channels = x[1] / std::get<ConvTransposeOp>(step.op).groups;
    maps = w[1];
    taps = checked_mul(w[2], w[3]);
    pixels = checked_mul(x[2], x[3]);
    maps_together = std::clamp<int64_t>(kMostProducts / checked_mul(taps, pixels), 1, maps);
    filters = round_up(checked_product({maps, taps, channels}), kAlignment);
    packed = round_up(packed_b_count(channels, pixels), kAlignment);
    products = round_up(checked_product({maps_together, taps, pixels}), kAlignment);
    scratch = gemm_workspace_count(maps_together * taps, pixels, channels);
    // The last product may have fewer output channels, and then need more scratch.
    if (maps % maps_together != 0) {
      scratch = std::max(scratch, gemm_workspace_count(maps % maps_together * taps, pixels, channels));
    }
  }
};

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const Sizes sizes(step);
  return static_cast<size_t>(sizes.filters + sizes.packed + sizes.products + sizes.scratch) * sizeof(float);
}

/// Sums an output channel: y[h * stride + r * dilation - pad] += products[r][s][h][w], and the same for columns.
void add_up(const Step& step, const TransposedConv& conv, const float* products, float bias, float* y) {
  const auto& op = std::get<ConvTransposeOp>(step.op);
  const Shape &x = step.inputs[0].shape, &w = step.inputs[1].shape;
  std::fill_n(y, conv.output_h * conv.output_w, bias);
  for (int64_t r = 0; r < w[2]; ++r) {
    const int64_t top = r * op.dilation_h - conv.pad_top;
    const Inside rows(top, op.stride_h, x[2], conv.output_h);
    for (int64_t s = 0; s < w[3]; ++s) {
      const int64_t left = s * op.dilation_w - conv.pad_left;
      const Inside columns(left, op.stride_w, x[3], conv.output_w);
      const float* tap = products + (r * w[3] + s) * x[2] * x[3];
      for (int64_t h = rows.first; h < rows.last; ++h) {
        const float* from = tap + h * x[3];
        float* to = y + (h * op.stride_h + top) * conv.output_w + left;
        if (op.stride_w == 1) {
          for (int64_t i = columns.first; i < columns.last; ++i) to[i] += from[i];
        } else {
          for (int64_t i = columns.first; i < columns.last; ++i) to[i * op.stride_w] += from[i];
        }
      }
    }
  }
}

void launch(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const auto& op = std::get<ConvTransposeOp>(step.op);
  const TransposedConv conv = transposed_conv(op, step.inputs[0].shape, step.inputs[1].shape);
  const Sizes sizes(step);
  ThreadPool& threads = *stream.threads();
  float* filters = static_cast<float*>(args.workspace);
  float* packed = filters + sizes.filters;
  float* products = packed + sizes.packed;
  float* scratch = products + sizes.products;
  const int64_t rows = sizes.maps * sizes.taps, area = conv.output_h * conv.output_w;
  for (int64_t group = 0; group < op.groups; ++group) {
    const float* w = args.input(1) + group * sizes.channels * rows;
    threads.parallel_for(rows, 64, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t c = 0; c < sizes.channels; ++c) filters[i * sizes.channels + c] = w[c * rows + i];
      }
    });
    for (int64_t image = 0; image < step.inputs[0].shape[0]; ++image) {
      const int64_t place = image * op.groups + group;
      const float* x = args.input(0) + place * sizes.channels * sizes.pixels;
      pack_b(x, sizes.channels, sizes.pixels, false, 1, packed, threads);
      for (int64_t first = 0; first < sizes.maps; first += sizes.maps_together) {
        const int64_t maps = std::min(sizes.maps_together, sizes.maps - first);
        gemm({.m = maps * sizes.taps,
              .n = sizes.pixels,
              .k = sizes.channels,
              .a = filters + first * sizes.taps * sizes.channels,
              .b = {packed},
              .c = products},
             scratch, threads);
        threads.parallel_for(maps, 1, [&](int64_t begin, int64_t end, int) {
          for (int64_t map = begin; map < end; ++map) {
            const float bias = args.inputs.size() > 2 ? args.input(2)[group * sizes.maps + first + map] : 0;
            add_up(step, conv, products + map * sizes.taps * sizes.pixels, bias,
                   args.output() + (place * sizes.maps + first + map) * area);
          }
        });
      }
    }
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.conv_transpose",
             .device = DeviceKind::cpu,
             .family = Family::transposed_convolution,
             .idea =
                 "transposed convolution as one matrix product, whose results are then added up per pixel (col2im)"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_conv_transpose
