// Partitions a convolution in bf16 nhwc into work items and computes its scratch sizes.

#include "convlab/kernels/cpu/nhwc_bf16/half_cut.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/map_panels.h"

namespace convlab {
namespace {

constexpr int64_t kBlockBytes = int64_t{128} << 10;   // input and output of a block of rows
constexpr int64_t kPooledBytes = int64_t{768} << 10;  // same with pooling: larger, because blocks then overlap
constexpr int64_t kStayingBytes = int64_t{1} << 20;   // weights that stay in cache from block to block
constexpr int64_t kPassingBytes = int64_t{2} << 20;   // weights above which no cache keeps them from image to image
constexpr int64_t kStackBytes = int64_t{768} << 10;   // copy and output of images that share one pass over such weights
constexpr int64_t kLargeMap = 256;    // pixels above which threads split the pixels rather than the output channels
constexpr int64_t kLeastPlaces = 48;  // positions per block

/// Returns the elements of a block's input copy, for all images of a stack.
int64_t copy_count(const HalfSource& source, const HalfCut& cut) {
  const int64_t lines = cut.most_summed();
  return source.count(lines) + (cut.most_images - 1) * source.rows_under(lines) * source.row();
}

}  // namespace

HalfFilters::HalfFilters(const ConvProblem& problem, const HalfSource& source)
    : columns(source.together() ? 1 : problem.s),
      pairs(source.channels() / 2 * (source.together() ? problem.s : 1)),
      terms(pairs),
      panels(ceil_div(problem.maps_per_group(), kPanelMaps)),
      places((panels - 1) * kPanelMaps + panel_maps(problem.maps_per_group() - (panels - 1) * kPanelMaps)) {}

HalfCut::HalfCut(const ConvStep& step, const HalfSource& source, int64_t panels, int threads) : step_(step) {
  const ConvProblem& problem = step.problem;
  const bool joined = source.joins_images();
  stacks = joined ? 1 : problem.n;
  lines = joined ? problem.n * problem.p() * problem.q() : step.output_shape()[2];
  line_places = joined ? 1 : source.flows() ? source.width() : problem.q();
  const int64_t weights = problem.filter_count() / problem.groups * 2;
  if (weights > kPassingBytes && source.copied() && !pools()) {
    const int64_t image = source.count(lines) + problem.output_count() / problem.n / problem.groups;
    most_images = std::clamp<int64_t>(kStackBytes / (2 * image), 1, ceil_div(problem.n, threads));
    stacks = ceil_div(problem.n, most_images);
    most_images = ceil_div(problem.n, stacks);
  }
  const int64_t group = stacks * problem.groups, wanted = threads == 1 ? 1 : ceil_div(2 * threads, group);
  const int64_t bytes = (problem.input_count() + problem.output_count() * (step.adds ? 2 : 1)) / group * 2;
  if (weights <= kStayingBytes) blocks = ceil_div(bytes, pools() ? kPooledBytes : kBlockBytes);
  if (most_images == 1 && lines * line_places > kLargeMap) blocks = std::max(blocks, wanted);
  if (blocks > 1 && group % threads != 0) blocks = round_up(blocks, threads);  // equally many per thread
  blocks = std::clamp<int64_t>(blocks, 1, std::max<int64_t>(1, lines * line_places / kLeastPlaces));
  blocks = std::min(blocks, lines);
  parts = pools() ? 1 : std::min(ceil_div(wanted, blocks), panels);
}

RowRange HalfCut::lines_of(int64_t block) const {
  const int64_t first = lines * block / blocks;
  return {first, lines * (block + 1) / blocks - first};
}

RowRange HalfCut::summed_for(RowRange some) const {
  const std::optional<Pool>& pool = step_.epilogue.pool;
  if (!pool) return some;
  const RowRange rows = rows_pooled_into(*pool, some, step_.problem.p());
  return rows.count > 0 ? rows : RowRange{std::min(rows.first, step_.problem.p() - 1), 1};  // all in padding
}

int64_t HalfCut::most_summed() const {
  const int64_t most = ceil_div(lines, blocks);
  const std::optional<Pool>& pool = step_.epilogue.pool;
  if (!pool) return most;
  const int64_t window = (pool->kernel_h - 1) * pool->dilation_h + 1;
  return std::min(step_.problem.p(), (most - 1) * pool->stride_h + window);
}

HalfScratch::HalfScratch(const ConvProblem& problem, const HalfSource& source, const HalfCut& cut)
    : places(round_up(cut.most_images * cut.most_summed() * cut.line_places * 4, 64)),
      pooled(cut.pools() ? round_up(cut.most_summed() * problem.q() * problem.maps_per_group() * 2, 64) : 0),
      copy(source.copied() ? round_up(copy_count(source, cut) * 2, 64) : 0),
      shared(cut.parts > 1 ? cut.stacks * problem.groups * cut.blocks * copy : 0) {}

}  // namespace convlab
