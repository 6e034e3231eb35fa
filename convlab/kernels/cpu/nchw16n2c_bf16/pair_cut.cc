// Partitions a convolution in bf16x2 pairs into work items and computes its scratch sizes.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_cut.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_filters.h"

namespace convlab {
namespace {

constexpr int64_t kCopiedBytes = int64_t{256} << 10;  // target size of a band's copied pixels
constexpr int64_t kRunOutputs = 36;                   // outputs at a time if the output is nchw
constexpr int64_t kFloatPixel = kImageLanes * sizeof(float);

}  // namespace

PairCut pair_cut(const ConvStep& step, Math math, int threads) {
  const ConvProblem& problem = step.problem;
  PairCut cut;
  cut.pooled = step.epilogue.pool.has_value();
  cut.phases = takes_phases(step);
  cut.copies = step.input_format.order == Order::nchw || problem.padded();
  cut.split = math == Math::bf16x2 && step.input_format != kRawPixels;
  cut.to_plain = step.output_format.order == Order::nchw;
  cut.window = cut.pooled ? 2 : 1;
  cut.step_h = cut.window * problem.stride_h;
  cut.grid_h = problem.p() / cut.window;
  cut.grid_w = problem.q() / cut.window;
  cut.blocks = ceil_div(problem.n, kImageLanes);
  cut.channel_pairs = ceil_div(problem.c, 2);
  const int64_t columns = problem.pad_left + problem.w + problem.pad_right;
  const int64_t across = cut.pooled ? cut.grid_w : ceil_div(problem.q(), 2);  // pairs of outputs
  cut.held_w = cut.phases ? across + problem.s / 2 : columns;

  // As many rows as fit in the cache, but enough bands to keep all threads busy.
  const int64_t planes = cut.split ? 2 : 1, row = checked_mul(cut.held_row(), planes);
  const int64_t fitting = (kCopiedBytes / row - cut.rows_below(problem, 1)) / cut.step_h + 1;
  const int64_t for_cache = cut.copies ? ceil_div(cut.grid_h, std::max<int64_t>(fitting, 1)) : 1;
  const int64_t for_threads = ceil_div(2 * threads, cut.blocks);
  cut.rows = ceil_div(cut.grid_h, std::clamp<int64_t>(std::max(for_cache, for_threads), 1, cut.grid_h));
  cut.bands = ceil_div(cut.grid_h, cut.rows);
  cut.held_h = cut.copies ? cut.rows_below(problem, cut.rows) : problem.h;
  cut.run = cut.phases ? cut.grid_w : cut.to_plain ? kRunOutputs : cut.rows * cut.grid_w;
  cut.places = cut.phases ? across * cut.window : cut.rows * cut.grid_w * cut.window * cut.window;
  if (cut.copies) {
    cut.pixels_bytes = round_up(checked_product({row, cut.held_h}), kPairBytes);
    cut.lanes_bytes = cut.phases ? 0 : 2 * checked_mul(columns, kFloatPixel);
  }
  if (cut.phases) cut.window_bytes = checked_product({cut.window, cut.held_w, problem.r, kPairBytes});
  if (cut.to_plain) cut.sums_bytes = checked_product({problem.k, cut.run, kFloatPixel});
  return cut;
}

}  // namespace convlab
