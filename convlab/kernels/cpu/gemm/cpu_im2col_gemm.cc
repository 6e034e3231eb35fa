// cpu.im2col_gemm: convolution by im2col into a small buffer and a matrix multiply.

#include <algorithm>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_im2col_gemm {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.im2col_gemm",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 1,
    .idea = "im2col into a small buffer, then a matrix multiply in register tiles",
    .after = "cpu.reference",
    .threads =
        "A work item is a band of output rows of a range of output channels, of one image or, if images are small, of "
        "several.",
    .cost =
        "C * R * S fused multiply-adds; C * R * S floats of the unrolled matrix are written and read, shared by all "
        "output channels.",
    .refuses = "Nothing. At most kGemmDepth x kColumns elements are unrolled at a time, which stay in L2.",
    .limit = "Unrolling: one store per element of the matrix, for (output channels / 32) vector multiply-adds.",
};

constexpr int64_t kColumns = 256;        // unrolled at a time
constexpr int64_t kPieceColumns = 1024;  // pixels per work item, if there are enough work items for the threads

/// How a step is partitioned into work items.
struct Pieces {
  int64_t images = 1, rows = 1;  ///< images and output rows per work item; more than one image only with all rows
  int64_t image_blocks = 1, bands = 1;
  int64_t columns = 1;  ///< maximum convolution pixels of a work item

  int64_t count(const ConvProblem& problem) const { return image_blocks * problem.groups * bands; }
};

Pieces pieces_of(const ConvStep& step, int threads) {
  const ConvProblem& problem = step.problem;
  const int64_t height = step.output_shape()[2];
  const int64_t pieces_wanted = ceil_div(2 * threads, problem.groups);
  Pieces pieces;
  const int64_t whole = rows_under(step, 0, height).count * problem.q();
  if (whole * 2 <= kPieceColumns) {
    pieces.images =
        std::clamp<int64_t>(kPieceColumns / std::max<int64_t>(whole, 1), 1, ceil_div(problem.n, pieces_wanted));
  }
  pieces.image_blocks = ceil_div(problem.n, pieces.images);
  pieces.rows = height;
  if (pieces.images == 1) {
    const int64_t bands = std::max(ceil_div(whole, kPieceColumns), ceil_div(pieces_wanted, pieces.image_blocks));
    pieces.rows = ceil_div(height, std::min(bands, height));
  }
  pieces.bands = ceil_div(height, pieces.rows);
  for (int64_t first = 0; first < height; first += pieces.rows) {
    const int64_t rows = rows_under(step, first, std::min(pieces.rows, height - first)).count;
    pieces.columns = std::max(pieces.columns, pieces.images * rows * problem.q());
  }
  return pieces;
}

/// A run of consecutive pixels of one output row in a panel.
struct Run {
  int64_t image, p, q, column, count;
};

/// Writes one row of a run: the pixels of channel plane `plane` that filter element (r, s) reads, 0 outside the image.
template <class Pixel>
void unroll_run(const ConvProblem& problem, const Pixel* plane, int64_t r, int64_t s, const Run& run, float* to) {
  const int64_t h = run.p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
  if (h < 0 || h >= problem.h) {
    std::fill(to, to + run.count, 0.0f);
    return;
  }
  const int64_t w = run.q * problem.stride_w + s * problem.dilation_w - problem.pad_left, stride = problem.stride_w;
  const int64_t begin = w < 0 ? std::min(ceil_div(-w, stride), run.count) : 0;
  const int64_t end = w < problem.w ? std::clamp(ceil_div(problem.w - w, stride), begin, run.count) : begin;
  const Pixel* from = plane + h * problem.w + w;
  std::fill(to, to + begin, 0.0f);
  if (stride == 1) {
    std::copy(from + begin, from + end, to + begin);
  } else {
    for (int64_t i = begin; i < end; ++i) to[i] = from[i * stride];
  }
  std::fill(to + end, to + run.count, 0.0f);
}

/// Unrolls K indices [first_term, first_term + depth) of `count` pixels from `column` on into panels for gemm_block().
/// Pixels are counted row by row from (image, row 0 of `rows`), and from image to image.
template <class Pixel>
void unroll(const ConvProblem& problem, const Pixel* x, int64_t first_channel, int64_t image, RowRange rows,
            int64_t column, int64_t count, int64_t first_term, int64_t depth, float* panels) {
  const int64_t width = problem.q(), plane = problem.h * problem.w, taps = problem.r * problem.s;
  for (int64_t done = 0; done < count; done += kGemmPanel, panels += kGemmPanel * depth) {
    Run runs[kGemmPanel];
    int64_t run_count = 0;
    for (int64_t i = 0, end = std::min(kGemmPanel, count - done); i < end;) {
      const int64_t at = column + done + i, row = at / width;
      Run& run = runs[run_count++];
      run = {.image = image + row / rows.count, .p = rows.first + row % rows.count, .q = at % width, .column = i};
      run.count = std::min(width - run.q, end - i);
      i += run.count;
    }
    float* to = panels;
    for (int64_t term = first_term; term < first_term + depth; ++term, to += kGemmPanel) {
      const int64_t channel = first_channel + term / taps, r = term % taps / problem.s, s = term % problem.s;
      for (int64_t i = 0; i < run_count; ++i) {
        const Pixel* from = x + (runs[i].image * problem.c + channel) * plane;
        unroll_run(problem, from, r, s, runs[i], to + runs[i].column);
      }
    }
  }
}

int64_t unrolled_count() { return kGemmDepth * kColumns; }

/// Floats of scratch per thread: a part of the unrolled matrix, and the sums of a work item.
int64_t scratch_count(const ConvStep& step, int threads) {
  const int64_t sums = checked_mul(step.problem.maps_per_group(), pieces_of(step, threads).columns);
  return checked_add(unrolled_count(), round_up(sums, 16));
}

void convolve_piece(const ConvArgs& args, const Pieces& pieces, int64_t piece, float* scratch) {
  const ConvStep& step = args.step;
  const ConvProblem& problem = step.problem;
  const Shape output = step.output_shape();
  const int64_t band = piece % pieces.bands, group = piece / pieces.bands % problem.groups;
  const int64_t image = piece / pieces.bands / problem.groups * pieces.images;
  const int64_t images = std::min(pieces.images, problem.n - image);
  const int64_t first = band * pieces.rows, count = std::min(pieces.rows, output[2] - first);
  const RowRange rows = rows_under(step, first, count);
  const int64_t pixels = rows.count * problem.q(), columns = images * pixels;
  const int64_t maps = problem.maps_per_group(), first_map = group * maps;
  const int64_t plane = output[2] * output[3];
  float* y = args.y + (image * problem.k + first_map) * plane;

  // Without pooling, the sums of one image are computed in place.
  const bool in_place = !step.epilogue.pool && images == 1;
  float* sums = in_place ? y + first * output[3] : scratch + unrolled_count();
  const int64_t pitch = in_place ? plane : columns;
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t width = std::min(kColumns, columns - column);
    for (int64_t term = 0; term < problem.terms(); term += kGemmDepth) {
      const int64_t depth = std::min(kGemmDepth, problem.terms() - term);
      const auto unroll_from = [&](const auto* x) {
        unroll(problem, x, group * problem.channels_per_group(), image, rows, column, width, term, depth, scratch);
      };
      if (step.input_format == kRawPixels) {
        unroll_from(static_cast<const uint8_t*>(args.x));
      } else {
        unroll_from(static_cast<const float*>(args.x));
      }
      gemm_block({.rows = maps,
                  .columns = width,
                  .depth = depth,
                  .a = args.w + first_map * problem.terms() + term,
                  .lda = problem.terms(),
                  .panels = {scratch},
                  .c = sums + column,
                  .ldc = pitch,
                  .add = term > 0});
    }
  }
  for (int64_t i = 0; i < images; ++i) {
    for (int64_t map = 0; map < maps; ++map) {
      const float bias = step.epilogue.bias ? args.bias[first_map + map] : 0;
      finish_rows(step, sums + map * pitch + i * pixels, rows, bias, first, count, y + (i * problem.k + map) * plane);
    }
  }
}

Refusal refuses(const ConvStep&, const DeviceCaps&) { return std::nullopt; }

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  return static_cast<size_t>(checked_product({scratch_count(step, caps.threads), caps.threads, sizeof(float)}));
}

void launch(const ConvArgs& args, Stream& stream) {
  ThreadPool& threads = *stream.threads();
  const Pieces pieces = pieces_of(args.step, threads.size());
  const int64_t scratch = scratch_count(args.step, threads.size());
  threads.parallel_for(pieces.count(args.step.problem), 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t piece = begin; piece < end; ++piece) {
      convolve_piece(args, pieces, piece, static_cast<float*>(args.workspace) + thread * scratch);
    }
  });
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .launch = of_conv<launch>,
}};

}  // namespace
}  // namespace convlab::cpu_im2col_gemm
