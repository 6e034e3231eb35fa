#pragma once

#include <algorithm>
#include <optional>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/deep_layer/deep_pipeline.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Host side of deep_layer.cuh: supported steps, and the layout of tasks and buffers.

/// Returns the layer with bands of as many rows as fit in shared memory twice, up to the whole image; nullopt if not
/// even one group of rows fits.
template <class Config>
std::optional<DeepLayer> deep_layer(const ConvProblem& problem, const Activation& activation,
                                    size_t shared_bytes_per_block) {
  const auto shared_bytes = static_cast<int64_t>(shared_bytes_per_block);
  constexpr int64_t kRows = Config::kRows;
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  const int64_t p = problem.p(), q = problem.q(), width = q + problem.s - 1;
  DeepLayer layer{.n = narrow(problem.n),
                  .c = narrow(problem.c),
                  .h = narrow(problem.h),
                  .w = narrow(problem.w),
                  .k = narrow(problem.k),
                  .p = narrow(p),
                  .q = narrow(q),
                  .s = narrow(problem.s),
                  .pad_top = narrow(problem.pad_top),
                  .pad_left = narrow(problem.pad_left),
                  .planes = narrow(ceil_div(problem.c, 8)),
                  .neighbors = (problem.c - 1) % 8 < 4,
                  .least = activation.kind == ActivationKind::relu ? 0 : -HUGE_VALF};
  layer.steps = (layer.halves() + 1) / 2;
  // Modulo 8, the slot after a group's last is that of the next group's first, if there is such a pitch.
  int64_t pitch = width;
  while (pitch < width + 8 && (kRows * pitch - q) % 8 != 0) ++pitch;
  layer.pitch = narrow(pitch == width + 8 ? width : pitch);
  layer.reciprocal = static_cast<uint32_t>((int64_t{1} << 32) / q + 1);
  const auto fits = [&](int64_t rows, int64_t buffers, int64_t result_buffers, int64_t raw_bytes) {
    const int64_t slots = (rows + problem.r - 1) * layer.pitch * layer.planes;
    if (rows / kRows * q >= 1 << 16) return false;
    if (slots * 16 * buffers + raw_bytes > shared_bytes) return false;  // so that the following sizes fit in 32 bits
    layer.staged_rows = narrow(rows + problem.r - 1);
    layer.band_rows = narrow(rows);
    layer.buffers = narrow(buffers);
    layer.result_buffers = narrow(result_buffers);
    layer.raw_bytes = narrow(raw_bytes);
    return DeepMemory::of<Config>(layer).end <= shared_bytes;
  };
  int64_t rows = round_up(p, kRows);
  while (rows > 0 && !fits(rows, 2, 1, 0)) rows -= kRows;
  if (rows == 0) return std::nullopt;
  layer.bands = narrow(ceil_div(p, rows));
  rows = round_up(ceil_div(p, layer.bands), kRows);  // bands of about the same height
  layer.bands = narrow(ceil_div(p, rows));
  // Use the remaining memory for: an image as it is in global memory, if needed and a multiple of 16 bytes; a third
  // buffer for input, a second for results, and a fourth for input.
  const int64_t image_bytes = problem.c * problem.h * problem.w * 4;
  const bool raw = !Config::Input::kCopies && layer.bands == 1 && problem.c % 4 == 0;
  constexpr int64_t kChoices[][2] = {
      {Config::kMostBuffers, Config::kMostResultBuffers}, {3, 2}, {Config::kMostBuffers, 1}, {3, 1}, {2, 1}};
  for (const int64_t raw_bytes : {raw ? image_bytes : 0, int64_t{0}}) {
    for (const auto& [buffers, result_buffers] : kChoices) {
      if (fits(rows, buffers, result_buffers, raw_bytes)) return layer;
    }
  }
  return layer;
}

/// Returns the rows of a unit: as many as registers have room for (sums and A fragments), but 4 with 7 filter rows and
/// 3 columns, so that the 27 output rows of 33x33 images are not rounded up to 30.
constexpr int deep_rows(int filter_rows, int columns) {
  return filter_rows == 7 && columns == 3 ? 4 : std::min(80 / (columns * 4 + 4), 8);
}

/// Returns the columns of 8 output channels of a block: 1, 2 or 3, whichever wastes the fewest output channels; of
/// several, the most.
inline int deep_columns(int64_t maps) {
  int best = 1;
  for (int columns : {2, 3}) {
    if (round_up(maps, columns * 8) <= round_up(maps, best * 8)) best = columns;
  }
  return best;
}

/// Calls visit.operator()<Config>() with the kernel's configuration for this problem. Shape::Config<R, Columns> is the
/// configuration for given filter rows and columns.
template <class Shape, class Visit>
auto with_deep_config(const ConvProblem& problem, const Visit& visit) {
  const auto of_rows = [&]<int kR>() {
    switch (deep_columns(problem.k)) {
      case 1:
        return visit.template operator()<typename Shape::template Config<kR, 1>>();
      case 2:
        return visit.template operator()<typename Shape::template Config<kR, 2>>();
      default:
        return visit.template operator()<typename Shape::template Config<kR, 3>>();
    }
  };
  switch (problem.r) {
    case 3:
      return of_rows.template operator()<3>();
    case 5:
      return of_rows.template operator()<5>();
    default:
      return of_rows.template operator()<7>();
  }
}

/// Returns why a kernel with input layout `input` does not support a step. Checks the step's layouts and types last.
template <class Shape>
Refusal refuses_deep_layer(const ConvStep& step, const DeviceCaps& caps, Format input) {
  const ConvProblem& problem = step.problem;
  if (problem.groups != 1) return "groups are not supported";
  if (!problem.unit_stride()) return "strides other than 1 are not supported";
  if (!problem.unit_dilation()) return "dilation is not supported";
  if (problem.r != 3 && problem.r != 5 && problem.r != 7) return "filter height must be 3, 5 or 7";
  if (step.epilogue.pool) return "fused pooling is not supported";
  const ActivationKind activation = step.epilogue.activation.kind;
  if (activation != ActivationKind::none && activation != ActivationKind::relu) {
    return "activations other than ReLU are not supported";
  }
  if (caps.compute_capability < 80) return "compute capability 8.0 or later is required";
  constexpr int64_t kMost = int64_t{1} << 28;  // with a margin: a few times these, in bytes, must fit in 32 bits
  const int64_t padded =
      (problem.h + problem.pad_top + problem.pad_bottom) * (problem.w + problem.pad_left + problem.pad_right);
  if (std::max({problem.n * problem.p(), padded * round_up(problem.c, 8), problem.filter_count() * 4,
                problem.p() * problem.q() * round_up(problem.k, 8)}) > kMost) {
    return "an image, the filters or the batch exceeds 32-bit indices";
  }
  const bool fits = with_deep_config<Shape>(problem, [&]<class Config>() {
    return deep_layer<Config>(problem, step.epilogue.activation, caps.shared_bytes_per_block).has_value();
  });
  if (!fits) return "filters and image rows do not fit in shared memory";
  if (step.input_format == kRawPixels) return "uint8 input is not supported";
  if (step.input_format != input) return fmt::format("input must be {}", name_of(input));
  return std::nullopt;
}

/// Returns the B fragments of all output channels, in uint2.
template <class Config>
int deep_fragments(const DeepLayer& layer) {
  return static_cast<int>(ceil_div(layer.k, Config::kColumns * 8)) * layer.steps * Config::kR * Config::kColumns * 32;
}

template <class Shape>
size_t deep_layer_prepared_bytes(const ConvStep& step, const DeviceCaps& caps) {
  return with_deep_config<Shape>(step.problem, [&]<class Config>() {
    const DeepLayer layer = *deep_layer<Config>(step.problem, {}, caps.shared_bytes_per_block);
    return sizeof(FilterHeader) + sizeof(uint2) * deep_fragments<Config>(layer);
  });
}

template <class Shape>
void prepare_deep_layer(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  with_deep_config<Shape>(problem, [&]<class Config>() {
    const DeepLayer layer = *deep_layer<Config>(problem, {}, stream.caps().shared_bytes_per_block);
    const int count = deep_fragments<Config>(layer);
    auto* header = static_cast<FilterHeader*>(args.prepared);
    launch(scale_filters, {.block = kFilterThreads}, stream.native(), args.w, static_cast<int>(problem.filter_count()),
           header);
    launch(pack_filters, {.grid = ceil_div(count, kFilterThreads), .block = kFilterThreads}, stream.native(), layer,
           args.w, Config::kR, Config::kColumns, count, header, reinterpret_cast<uint2*>(header + 1));
  });
}

template <class Shape>
void launch_deep_layer(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  with_deep_config<Shape>(problem, [&]<class Config>() {
    const DeviceCaps& caps = stream.caps();
    const DeepLayer layer = *deep_layer<Config>(problem, args.step.epilogue.activation, caps.shared_bytes_per_block);
    const int64_t chunks = ceil_div(problem.k, Config::kColumns * 8), tasks = problem.n * layer.bands;
    const int64_t blocks = std::min(tasks, std::max<int64_t>(1, caps.multiprocessors / chunks));
    launch(convolve_deep_layer<Config>,
           {.grid = {blocks, chunks},
            .block = Config::kThreads,
            .shared_bytes = static_cast<size_t>(DeepMemory::of<Config>(layer).end)},
           stream.native(), layer,
           DeepArrays{.x = args.x,
                      .w = args.w,
                      .bias = args.bias,
                      .y = args.y,
                      .header = static_cast<const FilterHeader*>(args.prepared)});
  });
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
