// Convolution of bf16 nhwc images, for every multiply unit: packs filters, copies input, sums and pools.

#include "convlab/kernels/cpu/nhwc_bf16/half_conv.h"

#include <algorithm>

#include "convlab/base/bf16.h"
#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_cut.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_sums.h"
#include "convlab/kernels/cpu/nhwc_bf16/half_windows.h"
#include "convlab/kernels/cpu/nhwc_bf16/halves.h"
#include "convlab/kernels/cpu/simd/map_panels.h"
#include "convlab/kernels/cpu/simd/pieces.h"

namespace convlab {
namespace {

class Launch {
 public:
  Launch(const ConvArgs& args, Bf16Unit unit, int threads)
      : args_(args),
        unit_(unit),
        step_(args.step),
        problem_(step_.problem),
        source_(step_),
        filters_(problem_, source_),
        cut_(step_, source_, filters_.panels, threads),
        scratch_(problem_, source_, cut_) {
    if (cut_.pools()) windows_ = block_pool(*step_.epilogue.pool, problem_.p(), problem_.q());
  }

  int64_t pieces() const { return cut_.stacks * problem_.groups * cut_.blocks * cut_.parts; }

  void compute(int64_t piece, int thread) const {
    const Block block = block_of(piece / cut_.parts);
    std::byte* const scratch = workspace() + scratch_.shared + thread * scratch_.thread_bytes();
    const HalfSums sums = sums_of(block, scratch);
    if (cut_.pools()) {
      sum_and_pool(sums, block, reinterpret_cast<uint16_t*>(scratch + 2 * scratch_.places));
    } else {
      sum_part(sums, block, piece % cut_.parts);
    }
  }

  /// Copies the input that work items share, if they do, in sharing_steps() steps. Any thread may run any step.
  int64_t sharing_steps() const { return scratch_.shared > 0 ? pieces() : 0; }
  void share(int64_t step) const {
    const Block block = block_of(step / cut_.parts);
    const int64_t rows = rows_of(block), part = step % cut_.parts;
    copy_rows(block, rows * part / cut_.parts, rows * (part + 1) / cut_.parts, shared_copy(block));
  }

 private:
  /// Some lines of a group, of `image` and, if images are stacked, of the images that follow.
  struct Block {
    int64_t number, image, images, group;
    int64_t first, count;  ///< lines of the convolution's output
    RowRange lines;        ///< lines of the step's output
  };

  Block block_of(int64_t number) const {
    const int64_t block = number % cut_.blocks, of_groups = number / cut_.blocks;
    const RowRange lines = cut_.lines_of(block), summed = cut_.summed_for(lines);
    const int64_t stack = of_groups / problem_.groups, all = source_.joins_images() ? 1 : problem_.n;
    const int64_t image = all * stack / cut_.stacks, images = all * (stack + 1) / cut_.stacks - image;
    return {number, image, images, of_groups % problem_.groups, summed.first, summed.count, lines};
  }

  /// Returns the rows of a block's copy: those of the first image, then the next image's.
  int64_t rows_of(const Block& block) const { return block.images * source_.rows_under(block.count); }

  std::byte* workspace() const { return static_cast<std::byte*>(args_.workspace); }
  uint16_t* shared_copy(const Block& block) const {
    return reinterpret_cast<uint16_t*>(workspace() + block.number * scratch_.copy);
  }

  /// Returns the address of an image, in its own layout.
  template <class Element>
  const Element* image_of(int64_t image) const {
    const bool plain = step_.input_format.order == Order::nchw;
    const int64_t step = plain ? problem_.c : pixel_step(step_.input_step, problem_.input_shape());
    return static_cast<const Element*>(args_.x) + image * problem_.h * problem_.w * step;
  }

  /// Copies rows [begin, end) of all rows of a block and, with the last row, its padding.
  void copy_rows(const Block& block, int64_t begin, int64_t end, uint16_t* copy) const {
    const int64_t rows = source_.rows_under(block.count);
    for (int64_t i = begin / rows; i * rows < end; ++i) {
      copy_rows_of(block.image + i, block, std::max<int64_t>(begin - i * rows, 0), std::min(end - i * rows, rows),
                   copy + i * rows * source_.row());
    }
    if (end == rows_of(block)) source_.pad_behind(copy + end * source_.row());
  }

  void copy_rows_of(int64_t number, const Block& block, int64_t begin, int64_t end, uint16_t* copy) const {
    const void* image = nullptr;
    if (step_.input_format.order != Order::nchw) {
      image = image_of<uint16_t>(number);
    } else if (step_.input_format == kRawPixels) {
      image = image_of<uint8_t>(number);
    } else {
      image = image_of<float>(number);
    }
    source_.copy(image, block.group, {block.first, block.count}, begin, end, copy);
  }

  /// Fills in all positions of a block. Tiles may include positions between the ends of rows, which are not written.
  void fill_places(const Block& block, int32_t* x_at, int32_t* y_at, HalfSums& sums) const {
    const int64_t lines = block.count, image_rows = source_.rows_under(lines) * source_.row();
    const bool flows = unit_ != Bf16Unit::avx512_bf16 && !source_.joins_images() && source_.flows();
    const int64_t columns = source_.joins_images() ? 1 : problem_.q();
    const int64_t line = source_.joins_images() ? source_.pixel() : source_.output_row();
    int64_t places = 0;
    for (int64_t image = 0; image < block.images; ++image) {
      for (int64_t i = 0; i < lines; ++i) {
        const int64_t width = flows && i + 1 < lines ? source_.width() : columns;
        for (int64_t j = 0; j < width; ++j, ++places) {
          x_at[places] = static_cast<int32_t>(image * image_rows + i * line + j * source_.output_column());
          y_at[places] = static_cast<int32_t>(j < columns ? (image * lines + i) * columns + j : -1);
        }
      }
    }
    sums.x_at = x_at;
    sums.y_at = y_at;
    sums.count = places;
    sums.row_places = flows || source_.joins_images() ? places / block.images : columns;
  }

  /// Returns the input and the positions of a block's sums.
  HalfSums sums_of(const Block& block, std::byte* scratch) const {
    HalfSums sums{.unit = unit_, .place_step = source_.output_column()};
    if (!source_.copied()) {
      sums.x = image_of<uint16_t>(block.image) + block.group * problem_.channels_per_group() +
               block.first * (source_.joins_images() ? source_.pixel() : source_.output_row());
    } else if (scratch_.shared > 0) {
      sums.x = shared_copy(block);
    } else {
      auto* const copy = reinterpret_cast<uint16_t*>(scratch + 2 * scratch_.places + scratch_.pooled);
      copy_rows(block, 0, rows_of(block), copy);
      sums.x = copy;
    }
    sums.row_step = problem_.dilation_h * source_.width() * source_.pixel();
    sums.column_step = problem_.dilation_w * source_.pixel();
    sums.phases = source_.phases();
    sums.phase_column_step = source_.plane(block.count);
    sums.phase_row_step = source_.phases() * sums.phase_column_step;
    fill_places(block, reinterpret_cast<int32_t*>(scratch), reinterpret_cast<int32_t*>(scratch + scratch_.places),
                sums);
    return sums;
  }

  /// Sums a range of a block's panels into the output.
  void sum_part(HalfSums sums, const Block& block, int64_t part) const {
    const int64_t pixels = problem_.p() * problem_.q(), columns = source_.joins_images() ? 1 : problem_.q();
    const int64_t pixel = block.image * pixels + block.first * columns;
    const int64_t first = filters_.panels * part / cut_.parts, end = filters_.panels * (part + 1) / cut_.parts;
    const int64_t map = block.group * problem_.maps_per_group() + first * kPanelMaps;
    const Shape shape = problem_.output_shape();
    sums.added_step = pixel_step(step_.added_step, shape);
    if (step_.adds) sums.added = reinterpret_cast<const uint16_t*>(args_.added) + pixel * sums.added_step + map;
    sums.y_step = pixel_step(step_.output_step, shape);
    sums.y = reinterpret_cast<uint16_t*>(args_.y) + pixel * sums.y_step + map;
    sum(sums, block.group, first, end);
  }

  /// Sums all panels of a block into `summed` and pools them into the output.
  void sum_and_pool(HalfSums sums, const Block& block, uint16_t* summed) const {
    const int64_t maps = problem_.maps_per_group();
    const Shape shape = step_.output_shape();
    sums.y = summed;
    sums.y_step = maps;
    sum(sums, block.group, 0, filters_.panels);
    HalfWindows windows{.pool = windows_, .channels = maps, .x = summed, .x_step = maps, .x_row = block.first};
    windows.first = block.lines.first;
    windows.count = block.lines.count;
    windows.y_step = pixel_step(step_.output_step, shape);
    windows.y = reinterpret_cast<uint16_t*>(args_.y) +
                (block.image * shape[2] + block.lines.first) * shape[3] * windows.y_step + block.group * maps;
    compute_windows(windows);
  }

  /// Sums panels [first, end) of a group.
  void sum(HalfSums sums, int64_t group, int64_t first, int64_t end) const {
    const int64_t maps = problem_.maps_per_group(), map = group * maps + first * kPanelMaps;
    sums.rows = problem_.r;
    sums.columns = filters_.columns;
    sums.pairs = filters_.pairs;
    sums.w = static_cast<const uint16_t*>(args_.prepared) +
             (group * filters_.places + first * kPanelMaps) * filters_.map_count(problem_);
    sums.maps = std::min(maps, end * kPanelMaps) - first * kPanelMaps;
    sums.bias = step_.epilogue.bias ? args_.bias + map : nullptr;
    sums.activation = step_.epilogue.activation;
    sum_halves(sums);
  }

  const ConvArgs& args_;
  Bf16Unit unit_;
  const ConvStep& step_;
  const ConvProblem& problem_;
  HalfSource source_;
  HalfFilters filters_;
  HalfCut cut_;
  HalfScratch scratch_;
  BlockPool windows_;  ///< if it pools
};

}  // namespace

Refusal refuse_half_conv(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  const bool plain = step.input_format.order == Order::nchw;
  if (step.output_format != kNhwcBf16 || (!plain && step.input_format != kNhwcBf16)) {
    return "input must be nchw or nhwc bfloat16, and output nhwc bfloat16";
  }
  if (problem.k % kChannelLanes != 0) return "output channels must be a multiple of 8";
  if (!plain && problem.c % kChannelLanes != 0) return "input channels must be a multiple of 8";
  if (!plain && problem.channels_per_group() % 2 != 0) return "input channels per group must be even";
  if (step.epilogue.pool && step.epilogue.pool->kind != PoolKind::max) return "fused average pooling is not supported";
  if (step.epilogue.pool && (step.adds || problem.maps_per_group() % kChannelLanes != 0)) {
    return "fused pooling requires no addition and a multiple of 8 output channels per group";
  }
  const HalfSource source(step);
  const int64_t reach = source.count(problem.p()) + source.row() * problem.h * problem.n;
  if (reach > INT32_MAX || problem.output_count() > INT32_MAX) {
    return "input and output must have fewer than 2^31 elements";
  }
  return std::nullopt;
}

size_t half_conv_prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  const HalfFilters filters(step.problem, HalfSource(step));
  return static_cast<size_t>(
      checked_product({step.problem.groups, filters.places, filters.map_count(step.problem), 2}));
}

void prepare_half_conv(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  const HalfSource source(args.step);
  const HalfFilters filters(problem, source);
  const int64_t maps = problem.maps_per_group(), channels = problem.channels_per_group();
  auto* to = static_cast<uint16_t*>(args.prepared);
  const auto weight = [&](int64_t group, int64_t map, int64_t r, int64_t column, int64_t term) -> uint16_t {
    const int64_t s = filters.columns > 1 ? column : term / source.channels(), c = term % source.channels();
    if (map >= maps || c >= channels) return 0;
    return to_bf16(args.w[(((group * maps + map) * channels + c) * problem.r + r) * problem.s + s]);
  };
  for (int64_t group = 0; group < problem.groups; ++group) {
    for (int64_t first = 0, count = 0; first < maps; first += count) {
      count = panel_maps(maps - first);
      for (int64_t at = 0; at < problem.r * filters.columns * filters.terms.held(); ++at) {
        const int64_t row = at % filters.terms.depth, tile = at / filters.terms.depth % filters.terms.tiles;
        const int64_t tap = at / filters.terms.depth / filters.terms.tiles;
        const int64_t pair = filters.terms.first(tile) + row;
        const bool again = filters.terms.is_again(tile, row);
        for (int64_t i = 0; i < 2 * count; ++i) {
          *to++ =
              again ? 0 : weight(group, first + i / 2, tap / filters.columns, tap % filters.columns, 2 * pair + i % 2);
        }
      }
    }
  }
}

size_t half_conv_workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const HalfSource source(step);
  const HalfCut cut(step, source, HalfFilters(step.problem, source).panels, caps.threads);
  return static_cast<size_t>(HalfScratch(step.problem, source, cut).bytes(caps.threads));
}

void launch_half_conv(const ConvArgs& args, Stream& stream, Bf16Unit unit) {
  const Launch all(args, unit, stream.threads()->size());
  stream.threads()->parallel_for(all.sharing_steps(), 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t step = begin; step < end; ++step) all.share(step);
  });
  compute_pieces(all, stream);
}

}  // namespace convlab
