// cpu.nhwc_int8_conv: quantized convolutions and dense layers, 8-bit input to 8-bit output, with a fused addition:
// tiles of pixels and output channels with exact sums. cpu.nhwc_int8_conv sums pairs of 8-bit products in 16 bits
// (byte_pairs.h); cpu.nhwc_int8_conv_dots uses the processor's instruction for four 8-bit products, and
// cpu.nhwc_int8_conv_amx AMX tiles. Threads: a work item is a block of output pixels of an image and, if feature maps
// are small, a range of output channels. Not supported: groups whose channels are not a multiple of 4, and layouts
// other than nhwc4. Limited by multiply-adds.

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_cut.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_op.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_sums.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_nhwc_int8_conv {
namespace {

constexpr int64_t kBlockBytes = int64_t{48} << 10;       // of input and output of a block of pixels
constexpr int64_t kTileBlockBytes = int64_t{192} << 10;  // the same for tiles, which read equally well from L2
constexpr int64_t kCopiedBytes = int64_t{128} << 10;     // the same if input is copied: neighbors copy rows twice
constexpr int64_t kStayingBytes = int64_t{1} << 20;      // weights that stay in the caches from block to block
constexpr int64_t kLargeMap = 256;                       // pixels from which on threads split pixels, not channels
constexpr int64_t kLeastPixels = 48;                     // of a block
constexpr int64_t kPanelAlignment = 64;                  // bytes

ConvProblem problem_of(const Step& step) {
  return conv_problem(std::get<ByteConvOp>(step.op).conv, step.inputs[0].shape, step.inputs[1].shape);
}

/// The prepared data that a launch reads, and how filters are stored in it.
struct Prepared {
  int64_t columns = 1, units = 0, units_held = 0;  ///< per row of the filter; per column
  int64_t panels = 0, places = 0;                  ///< per group
  uint8_t* weights = nullptr;                      ///< by group and panel: [row][column][unit][index], 4 bytes each
  BytePanel* of_panels = nullptr;                  ///< by group and panel
  int32_t* start = nullptr;                        ///< by group and index
  float* factors = nullptr;
  int64_t bytes = 0;

  /// If `memory` is null, computes only sizes.
  Prepared(const ConvProblem& problem, ByteUnit unit, void* memory) {
    const bool together = problem.dilation_w == 1 && (problem.groups == 1 || ByteSource(problem).copied());
    columns = together ? 1 : problem.s;
    units = pixel_bytes(problem.channels_per_group()) / kUnitBytes * (together ? problem.s : 1);
    units_held = byte_units_held(unit, units);
    for (int64_t map = 0; map < problem.maps_per_group(); map = places, ++panels) {
      places += byte_panel_maps(problem.maps_per_group() - map);
    }
    const int64_t all_panels = problem.groups * panels, all_places = problem.groups * places;
    int64_t filters = checked_product({all_places, place_bytes(problem)});
    if (unit == ByteUnit::pairs) {  // at most one extra unit for each; in practice few
      const auto read_at = filter_units(problem) * static_cast<int64_t>(2 * sizeof(int32_t));
      filters = 2 * filters + all_panels * (read_at + kPanelAlignment);
    }
    filters = round_up(filters, kPanelAlignment);
    bytes = filters + all_panels * static_cast<int64_t>(sizeof(BytePanel)) + 8 * all_places;
    if (memory == nullptr) return;
    weights = static_cast<uint8_t*>(memory);
    of_panels = reinterpret_cast<BytePanel*>(weights + filters);
    start = reinterpret_cast<int32_t*>(of_panels + all_panels);
    factors = reinterpret_cast<float*>(start + all_places);
  }

  /// Stored units of a filter.
  int64_t filter_units(const ConvProblem& problem) const { return problem.r * columns * units_held; }

  /// Bytes of an output channel's weights.
  int64_t place_bytes(const ConvProblem& problem) const { return filter_units(problem) * kUnitBytes; }
};

/// How the work is partitioned: by image, group, block of pixels and range of panels. Tiles process whole rows of an
/// image, unless these continue from one into the next.
struct Cut {
  int64_t images = 1, pixels = 0, blocks = 1, parts = 1;  // pixels of an image
  int64_t together = 1;                                   // blocks are multiples of this many pixels

  Cut(const Step& step, const ConvProblem& problem, ByteUnit unit, int64_t panels, int threads) {
    const ByteSource source(problem);
    const bool joined = source.joins_images();
    images = joined ? 1 : problem.n;
    pixels = problem.p() * problem.q() * (joined ? problem.n : 1);
    if (unit == ByteUnit::tiles && !source.flows()) together = problem.q();
    const int64_t wanted = threads == 1 ? 1 : ceil_div(2 * threads, images * problem.groups);
    // Bytes that all pixels of a group read and write.
    const int64_t read = source.row() * problem.h * (joined ? problem.n : 1);
    const int64_t written = pixels * problem.maps_per_group() * (step.inputs.size() > 4 ? 2 : 1);
    const int64_t weights = problem.filter_count() / problem.groups;
    const int64_t most = unit == ByteUnit::tiles ? kTileBlockBytes : source.copied() ? kCopiedBytes : kBlockBytes;
    if (weights <= kStayingBytes) blocks = ceil_div(read + written, most);
    if (pixels > kLargeMap) blocks = std::max(blocks, wanted);
    if (blocks > 1 && images * problem.groups % threads != 0) blocks = round_up(blocks, threads);  // equal per thread
    blocks = std::min({blocks, std::max<int64_t>(1, pixels / kLeastPixels), pixels / together});
    parts = std::min(ceil_div(wanted, blocks), panels);
  }

  /// The first pixel of a block.
  int64_t first(int64_t block) const { return pixels / together * block / blocks * together; }

  int64_t most_pixels() const { return ceil_div(pixels / together, blocks) * together; }
};

/// Output rows that a block of pixels touches.
int64_t rows_of_block(const ConvProblem& problem, const Cut& cut) {
  return std::min(problem.p(), ceil_div(cut.most_pixels(), problem.q()) + 1);
}

/// Scratch of a thread: for the positions of a block, the offsets they read and the pixels they write, then the copy of
/// the input. places_bytes() is the size of each of the first two, scratch_bytes() that of all.
int64_t places_bytes(const ConvProblem& problem, ByteUnit unit, const Cut& cut) {
  const ByteSource source(problem);
  const int64_t between = unit == ByteUnit::tiles && source.flows() ? source.width() - problem.q() : 0;
  return round_up((cut.most_pixels() + rows_of_block(problem, cut) * between) * 4, 64);
}

int64_t scratch_bytes(const ConvProblem& problem, ByteUnit unit, const Cut& cut) {
  const ByteSource source(problem);
  const int64_t copy = source.copied() ? source.bytes(rows_of_block(problem, cut)) : 0;
  return 2 * places_bytes(problem, unit, cut) + round_up(copy, 64);
}

template <ByteUnit kUnit>
class Launch {
 public:
  Launch(const Args& args, int threads)
      : args_(args),
        op_(std::get<ByteConvOp>(args.step.op)),
        problem_(problem_of(args.step)),
        source_(problem_),
        prepared_(problem_, kUnit, args.prepared),
        cut_(args.step, problem_, kUnit, prepared_.panels, threads),
        places_(places_bytes(problem_, kUnit, cut_)),
        scratch_(scratch_bytes(problem_, kUnit, cut_)) {}

  int64_t pieces() const { return cut_.images * problem_.groups * cut_.blocks * cut_.parts; }

  void compute(int64_t piece, int thread) const {
    const int64_t block = piece % cut_.blocks, part = piece / cut_.blocks % cut_.parts;
    const int64_t of_groups = piece / cut_.blocks / cut_.parts;
    const int64_t group = of_groups % problem_.groups, image = of_groups / problem_.groups;
    const int64_t pixel = cut_.first(block), count = cut_.first(block + 1) - pixel;
    auto* const scratch = static_cast<uint8_t*>(args_.workspace) + thread * scratch_;

    const auto* x = args_.input<uint8_t>(0) + image * problem_.h * problem_.w * pixel_bytes(problem_.c) +
                    group * problem_.channels_per_group();
    const int64_t first_row = pixel / problem_.q();
    if (source_.copied()) {
      uint8_t* const copy = scratch + 2 * places_;
      const int64_t rows = (pixel + count - 1) / problem_.q() - first_row + 1;
      source_.copy(x, first_row, rows, op_.x_zero, copy);
      x = copy;
    } else {
      x += first_row * problem_.stride_h * source_.row();
    }
    ByteSums sums{.unit = kUnit, .x = x, .place_step = problem_.stride_w * source_.pixel()};
    fill_places(pixel % problem_.q(), count, scratch, sums);
    sum(sums, group, image * cut_.pixels + pixel, prepared_.panels * part / cut_.parts,
        prepared_.panels * (part + 1) / cut_.parts);
  }

 private:
  /// Fills in the positions of `pixels` pixels, starting in this column. Tiles also process the positions between the
  /// ends of rows.
  void fill_places(int64_t column, int64_t pixels, uint8_t* scratch, ByteSums& sums) const {
    auto *const x_at = reinterpret_cast<int32_t*>(scratch), *const y_at = reinterpret_cast<int32_t*>(scratch + places_);
    const bool flows = kUnit == ByteUnit::tiles && source_.flows();
    int64_t place = 0;
    for (int64_t pixel = 0, row = 0; pixel < pixels; ++row, column = 0) {
      const int64_t end = std::min(problem_.q(), column + pixels - pixel);
      const int64_t places_end = flows && pixel + end - column < pixels ? source_.width() : end;
      const int64_t at = row * problem_.stride_h * source_.row();
      for (; column < places_end; ++column, ++place) {
        x_at[place] = static_cast<int32_t>(at + column * sums.place_step);
        y_at[place] = column < end ? static_cast<int32_t>(pixel++) : -1;
      }
    }
    sums.x_at = x_at;
    sums.y_at = y_at;
    sums.count = place;
    sums.row_places = flows ? place : problem_.q();
  }

  /// Computes panels [first, end) of a group, for output pixels from `pixel` on, counted over all images.
  void sum(ByteSums sums, int64_t group, int64_t pixel, int64_t first, int64_t end) const {
    const int64_t maps = problem_.maps_per_group(), whole = byte_panel_maps(maps);
    const int64_t map = first * whole, place = group * prepared_.places + map;
    sums.rows = problem_.r;
    sums.row_step = source_.filter_row();
    sums.columns = prepared_.columns;
    sums.column_step = source_.filter_column();
    sums.units = prepared_.units;
    sums.rule = rule_of(op_);
    sums.y_step = pixel_bytes(problem_.k);
    if (op_.adds) sums.sum = sum_of(op_.sum, op_.sum.a_zero - op_.zero);
    sums.panels = prepared_.of_panels + group * prepared_.panels + first;
    sums.w = prepared_.weights + sums.panels->at;
    sums.start = prepared_.start + place;
    sums.factors = prepared_.factors + place;
    sums.maps = std::min(maps, end * whole) - map;
    const int64_t at = pixel * sums.y_step + group * maps + map;
    sums.y = args_.output<uint8_t>() + at;
    if (op_.adds) sums.added = args_.input<uint8_t>(4) + at;
    sum_bytes(sums);
  }

  const Args& args_;
  const ByteConvOp& op_;
  ConvProblem problem_;
  ByteSource source_;
  Prepared prepared_;
  Cut cut_;
  int64_t places_, scratch_;  ///< bytes
};

/// For each weight of an output channel, by channel and tap as in its filter: the unit that holds it, and the byte in
/// that unit.
struct WeightPlace {
  int64_t unit, byte;
};

std::vector<WeightPlace> weight_places(const ConvProblem& problem, ByteUnit unit, const Prepared& prepared) {
  const int64_t channels = problem.channels_per_group(), whole = pixel_bytes(channels);
  std::vector<WeightPlace> places;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < problem.r * problem.s; ++tap) {
      const int64_t term = tap * whole + c, number = term / kUnitBytes, column = number / prepared.units;
      const int64_t place = byte_unit_place(unit, prepared.units, number % prepared.units);
      places.push_back({column * prepared.units_held + place, term % kUnitBytes});
    }
  }
  return places;
}

/// Splits the weights of a panel of `maps` output channels into units and extra units, which follow them. Returns the
/// bytes of both.
int64_t split_panel(const ConvProblem& problem, const Prepared& prepared, int64_t maps, BytePanel& panel) {
  const int64_t units = prepared.filter_units(problem), bytes = units * maps * kUnitBytes;
  const int64_t vectors = maps / byte_vector_maps(), vector_bytes = byte_vector_maps() * kUnitBytes;
  const std::span weights(reinterpret_cast<int8_t*>(prepared.weights) + panel.at, static_cast<size_t>(bytes));
  // Adding two units together saves one of six instructions, and an extra unit costs three.
  panel.together = 2;
  auto extras = take_extras(weights, vectors, vector_bytes, prepared.units, panel.together, units / 6);
  if (!extras) {
    panel.together = 1;
    extras = take_extras(weights, vectors, vector_bytes, prepared.units, panel.together, units);
  }
  int8_t* behind = weights.data() + bytes;
  for (const ExtraUnits& of_vector : *extras) behind = std::ranges::copy(of_vector.weights, behind).out;
  const ByteSource source(problem);
  for (size_t vector = 0; vector < extras->size(); ++vector) {
    const std::vector<int64_t>& extra_units = (*extras)[vector].units;
    panel.extras[vector] = static_cast<int32_t>(extra_units.size());
    for (const int64_t unit : extra_units) {
      const int64_t column = unit / prepared.units, row = column / prepared.columns;
      const auto at =
          static_cast<int32_t>(row * source.filter_row() + column % prepared.columns * source.filter_column() +
                               unit % prepared.units * kUnitBytes);
      std::memcpy(behind, &at, sizeof(at));
      behind += sizeof(at);
    }
  }
  return behind - weights.data();
}

/// Stores the weights, start and factor of an output channel in a panel of `maps` output channels whose weights are at
/// `panel`. `place` is its index among all output channels.
void put_map(const Args& args, const Prepared& prepared, const std::vector<WeightPlace>& terms, int64_t map,
             uint8_t* panel, int64_t maps, int64_t place_in_panel, int64_t place) {
  uint8_t* const to = panel + place_in_panel * kUnitBytes;
  const int8_t* weight = byte_weights(args) + map * std::ssize(terms);
  int64_t sum = 0;
  for (const WeightPlace& term : terms) {
    to[term.unit * maps * kUnitBytes + term.byte] = static_cast<uint8_t>(*weight);
    sum += *weight++;
  }
  const auto bias = static_cast<int64_t>(args.input(3)[map]);
  prepared.start[place] = static_cast<int32_t>(bias - std::get<ByteConvOp>(args.step.op).x_zero * sum);
  prepared.factors[place] = args.input(2)[map];
}

template <ByteUnit kUnit>
void prepare(const Args& args, Stream&) {
  const ConvProblem problem = problem_of(args.step);
  const Prepared prepared(problem, kUnit, args.prepared);
  const std::vector<WeightPlace> terms = weight_places(problem, kUnit, prepared);
  std::fill_n(prepared.start, problem.groups * prepared.places, 0);
  std::fill_n(prepared.factors, problem.groups * prepared.places, 0.0f);
  int64_t at = 0, place = 0;
  BytePanel* of_panel = prepared.of_panels;
  const int64_t group_maps = problem.maps_per_group();
  for (int64_t map = 0, maps = 0; map < problem.k;
       map += std::min(maps, group_maps - map % group_maps), place += maps) {
    maps = byte_panel_maps(group_maps - map % group_maps);
    *of_panel = {.at = at};
    uint8_t* const panel = prepared.weights + at;
    const int64_t panel_bytes = maps * prepared.place_bytes(problem);
    std::memset(panel, 0, static_cast<size_t>(panel_bytes));
    for (int64_t i = 0; i < std::min(maps, group_maps - map % group_maps); ++i) {
      const int64_t in_panel = byte_panel_place(maps, i);
      put_map(args, prepared, terms, map + i, panel, maps, in_panel, place + in_panel);
    }
    at += kUnit == ByteUnit::pairs ? round_up(split_panel(problem, prepared, maps, *of_panel), kPanelAlignment)
                                   : panel_bytes;
    ++of_panel;
  }
}

template <ByteUnit kUnit>
Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ByteConvOp>(step.op)) return "only QLinearConv on bytes is supported";
  if (step.inputs[0].format != kNhwc4U8 || step.outputs[0].format != kNhwc4U8) {
    return "input and output must be nhwc4 uint8";
  }
  const ConvProblem problem = problem_of(step);
  if (problem.groups > 1 && problem.channels_per_group() % kChannelBytes != 0) {
    return "input channels per group must be a multiple of 4";
  }
  const int64_t rows = problem.h + problem.pad_top + problem.pad_bottom;
  if (ByteSource(problem).row() > INT32_MAX / rows / problem.n) {
    return "the batch must be smaller than 2^31 bytes";
  }
  return refuse_without(kUnit);
}

template <ByteUnit kUnit>
size_t prepared_bytes(const Step& step, const DeviceCaps&) {
  return static_cast<size_t>(Prepared(problem_of(step), kUnit, nullptr).bytes);
}

/// Each thread gets as much as one alone: with more threads, blocks are smaller.
template <ByteUnit kUnit>
size_t workspace_bytes(const Step& step, const DeviceCaps& caps) {
  const ConvProblem problem = problem_of(step);
  const Cut cut(step, problem, kUnit, Prepared(problem, kUnit, nullptr).panels, 1);
  return static_cast<size_t>(scratch_bytes(problem, kUnit, cut)) * static_cast<size_t>(caps.threads);
}

template <ByteUnit kUnit>
Kernel kernel(std::string_view name, std::string_view idea, std::string_view after = "") {
  return {
      .info = {.name = name,
               .device = DeviceKind::cpu,
               .family = Family::quantized,
               .math = Math::int8,
               .idea = idea,
               .after = after},
      .refuses = refuses<kUnit>,
      .prepared_bytes = prepared_bytes<kUnit>,
      .workspace_bytes = workspace_bytes<kUnit>,
      .prepare = prepare<kUnit>,
      .launch = launch_pieces<Launch<kUnit>, Args>,
      .format = kNhwc4U8,
      .packs_weights = true,
  };
}

const RegisterKernel pairs{kernel<ByteUnit::pairs>(
    "cpu.nhwc_int8_conv",
    "tiles of pixels x output channels: pairs of 8-bit products are summed in 16 bits where they fit")};
const RegisterKernel dots{kernel<ByteUnit::dots>(
    "cpu.nhwc_int8_conv_dots", "the same with the instruction that adds four 8-bit products to an int32",
    "cpu.nhwc_int8_conv")};
const RegisterKernel tiles{kernel<ByteUnit::tiles>("cpu.nhwc_int8_conv_amx",
                                                   "the same with AMX tiles of 8-bit products", "cpu.nhwc_int8_conv")};

}  // namespace
}  // namespace convlab::cpu_nhwc_int8_conv
