// Convolves 8-bit integers exactly: unrolls pixels (im2col), then multiplies matrices.

#include "convlab/kernels/ops/quantized/integer_conv.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/quantized/integer_product.h"

namespace convlab {
namespace {

constexpr int64_t kMostUnrolled = int64_t{1} << 21;  // floats of the unrolled matrix at a time

int64_t pixels_together(const ConvProblem& problem) {
  return std::clamp<int64_t>(kMostUnrolled / problem.terms(), 256, std::max<int64_t>(256, problem.p() * problem.q()));
}

int64_t filters_count(const ConvProblem& problem) { return round_up(problem.filter_count(), kFloatsOfLine); }

int64_t unrolled_count(const ConvProblem& problem) {
  return round_up(checked_mul(problem.terms(), pixels_together(problem)), kFloatsOfLine);
}

/// Writes row `term` of the unrolled matrix: the pixels that this filter element multiplies for outputs [first, first +
/// count).
void unroll(const IntegerConv& conv, const float* x, int64_t term, int64_t first, int64_t count, float* to) {
  const ConvProblem& problem = conv.problem;
  const int64_t taps = problem.r * problem.s, width = problem.q();
  const int64_t r = term % taps / problem.s, s = term % problem.s;
  const float* plane = x + term / taps * problem.h * problem.w;
  for (int64_t i = 0; i < count;) {
    const int64_t p = (first + i) / width, q = (first + i) % width, run = std::min(width - q, count - i);
    const int64_t h = p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
    const int64_t w = q * problem.stride_w + s * problem.dilation_w - problem.pad_left;
    for (int64_t j = 0; j < run; ++j) {
      const int64_t column = w + j * problem.stride_w;
      const bool inside = h >= 0 && h < problem.h && column >= 0 && column < problem.w;
      to[i + j] = inside ? plane[h * problem.w + column] - conv.x_zero : 0.0f;
    }
    i += run;
  }
}

}  // namespace

int64_t integer_conv_workspace_count(const ConvProblem& problem) {
  return filters_count(problem) + unrolled_count(problem) +
         integer_workspace_count(pixels_together(problem), problem.terms());
}

void integer_conv(const IntegerConv& conv, float* workspace, ThreadPool& threads, const TakeMapSums& take) {
  const ConvProblem& problem = conv.problem;
  const int64_t terms = problem.terms(), maps = problem.maps_per_group(), area = problem.p() * problem.q();
  const int64_t together = pixels_together(problem);
  float* filters = workspace;
  float* unrolled = filters + filters_count(problem);
  float* scratch = unrolled + unrolled_count(problem);
  threads.parallel_for(problem.k, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      const float zero =
          conv.w_zeros.empty() ? 0 : conv.w_zeros[conv.w_zeros.size() == 1 ? 0 : static_cast<size_t>(map)];
      for (int64_t i = map * terms; i < (map + 1) * terms; ++i) filters[i] = conv.w[i] - zero;
    }
  });
  for (int64_t piece = 0; piece < problem.n * problem.groups; ++piece) {
    const int64_t group = piece % problem.groups;
    const float* x = conv.x + piece * problem.channels_per_group() * problem.h * problem.w;
    for (int64_t first = 0; first < area; first += together) {
      const int64_t count = std::min(together, area - first);
      threads.parallel_for(terms, 8, [&](int64_t begin, int64_t end, int) {
        for (int64_t term = begin; term < end; ++term) unroll(conv, x, term, first, count, unrolled + term * count);
      });
      integer_product({maps, count, terms, filters + group * maps * terms, unrolled}, scratch, threads,
                      [&](int64_t row, int64_t column, int64_t width, const double* sums) {
                        take(group * maps + row, (piece * maps + row) * area + first + column, width, sums);
                      });
    }
  }
}

}  // namespace convlab
