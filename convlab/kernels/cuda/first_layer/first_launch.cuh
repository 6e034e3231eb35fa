#pragma once

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/first_layer/first_layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Plans and launches the kernel of first_layer.cuh for a step.

constexpr int kMostFilterWords = 32;             // enough for 7 rows of a 7x7 filter
constexpr int64_t kMostSharedBytes = 220 << 10;  // a little less than the largest GPUs have

/// Tunable parameters of a launch. 0 selects the best measured value, or as much as fits.
struct FirstLayerTuning {
  int threads = 0, columns = 0, band_rows = 0, buffers = 0;
  int evict_first = 0;  ///< 1: normal L2 policy for results, 2: evict first
};
constexpr int kThreadChoices[] = {0, 128, 256, 384, 512}, kColumnChoices[] = {0, 1, 3};
constexpr int kBandRowChoices[] = {0, 12, 14, 18, 22, 34, 66}, kBufferChoices[] = {0, 1, 2};
constexpr int kEvictFirstChoices[] = {0, 1, 2};
constexpr Tunable kFirstLayerTunables[] = {
    {"threads", kThreadChoices, 0}, {"columns", kColumnChoices, 0},         {"band_rows", kBandRowChoices, 0},
    {"buffers", kBufferChoices, 0}, {"evict_first", kEvictFirstChoices, 0},
};

struct FirstLayerLaunch {
  FirstLayerShape shape;
  int threads, steps, columns;
  int64_t shared_bytes;  ///< exceeds kMostSharedBytes if not even two rows of outputs fit
};

inline int first_layer_filter_words(const ConvProblem& problem) { return static_cast<int>((problem.s + 2) / 2); }
inline int first_layer_steps(const ConvProblem& problem) {
  return problem.r * first_layer_filter_words(problem) <= kMostFilterWords / 2 ? 2 : 4;
}

template <class Layer>
FirstLayerLaunch plan_first_layer(const ConvStep& step, FirstLayerTuning tuning) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  const ConvProblem& problem = step.problem;
  const int64_t pixel_size = sizeof(typename Layer::Pixel), all_columns = ceil_div(problem.k, 4);
  const int64_t rows = problem.p() / Layer::kSquare, width = problem.q() / Layer::kSquare;
  const int steps = first_layer_steps(problem);
  // Measured on an H200 with the course's layers. Bulk stores gain from long stretches, and waits at barriers cost less
  // with more resident blocks. Bands of 14 of 66 rows leave no small last band.
  const bool light = Layer::kProducts == 1, small_filter = steps == 2;
  if (tuning.columns == 0) tuning.columns = 3;
  if (Layer::kPooled) {
    if (tuning.threads == 0) tuning.threads = 256;
    if (tuning.band_rows == 0) tuning.band_rows = 34;
    if (tuning.buffers == 0) tuning.buffers = 1;
  } else {
    if (tuning.threads == 0) tuning.threads = !small_filter ? (light ? 512 : 256) : light ? 256 : 128;
    if (tuning.band_rows == 0) tuning.band_rows = !light && small_filter ? 14 : 22;
    if (tuning.buffers == 0) tuning.buffers = light || small_filter ? 2 : 1;
    if (tuning.evict_first == 0 && light && small_filter) tuning.evict_first = 2;
  }
  const int columns = narrow(std::min<int64_t>(tuning.columns, all_columns));

  FirstLayerShape shape{.conv = kernel_shape(problem),
                        .activation = step.epilogue.activation,
                        .rows = narrow(rows),
                        .columns = narrow(width),
                        .cells = narrow(Layer::kPooled ? width : ceil_div(width, 2)),
                        .passes = narrow(ceil_div(all_columns, columns)),
                        .filter_words = first_layer_filter_words(problem)};
  shape.image_words = shape.cells + shape.filter_words - 1;
  shape.cells_inverse = narrow(ceil_div(int64_t{1} << 31, shape.cells));
  shape.words_inverse = narrow(ceil_div(int64_t{1} << 31, shape.image_words));
  shape.buffers = tuning.buffers;
  shape.evict_first = tuning.evict_first == 2;
  constexpr int64_t kLine = 128;
  const int64_t filter_words = steps * shape.passes * columns * 64 * (Layer::kSplitFilters ? 2 : 1);
  shape.pixels_offset = narrow(round_up((filter_words + shape.passes * columns * 4) * 4, kLine));

  int64_t shared_bytes = 0;
  for (int64_t band_rows = std::min<int64_t>(tuning.band_rows, rows);; band_rows = (band_rows - 1) / 2 * 2) {
    shape.bands = narrow(ceil_div(rows, band_rows));
    // Bands are as equal as possible, with an even number of rows, so that stretches and units of pixels are aligned.
    shape.band_rows = narrow(shape.bands == 1 ? rows : round_up(ceil_div(rows, shape.bands), 2));
    const int64_t height = round_up(shape.band_rows, 2) * Layer::kSquare + problem.r - 1;
    shape.results_offset = narrow(round_up(shape.pixels_offset + (height * Layer::kRowWords + 1) * 4, kLine));
    const int64_t stretch = shape.band_rows * width * 4;
    shape.stretch_pitch =
        narrow(shape.bands == 1 ? stretch : round_up(stretch + kLine, kLine));  // it may start anywhere in a line
    shape.results_bytes = narrow(round_up(columns * 4 * shape.stretch_pitch + kLine, kLine));
    shared_bytes = shape.results_offset + shape.buffers * shape.results_bytes;
    if (shared_bytes <= kMostSharedBytes) break;
    if (band_rows <= 2) {
      if (shape.buffers == 1) break;
      shape.buffers = 1;
      band_rows = std::min<int64_t>(tuning.band_rows, rows) + 1;
    }
  }
  const int64_t band_pixels = shape.band_rows * Layer::kSquare * problem.w;
  shape.contiguous = !problem.padded() && problem.w == 2 * shape.image_words;
  if (pixel_size == 1) {  // units of 4 bytes
    const int64_t last_height = (rows - (shape.bands - 1) * shape.band_rows) * Layer::kSquare + problem.r - 1;
    const bool even = (shape.band_rows * Layer::kSquare + problem.r - 1) * shape.image_words % 2 == 0 &&
                      last_height * shape.image_words % 2 == 0;
    shape.contiguous &= even && problem.h * problem.w % 4 == 0 && (shape.bands == 1 || band_pixels % 4 == 0);
  } else {
    shape.contiguous &= problem.h * problem.w % 2 == 0;
  }
  return {shape, std::min(tuning.threads, Layer::kMostThreads), steps, columns, shared_bytes};
}

/// Returns why no kernel of the family supports a step, or nullopt.
inline Refusal refuse_unless_first_layer(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (problem.c != 1) return "only one input channel is supported";
  if (!problem.unit_stride()) return "strides other than 1 are not supported";
  if (!problem.unit_dilation()) return "dilation is not supported";
  if (step.input_format.order != Order::nchw) return "input must be nchw";
  if (step.epilogue.pool && !step.epilogue.pool->is_max_2x2()) {
    return "fused pooling other than 2x2 max is not supported";
  }
  if (!step.epilogue.pool && !step.epilogue.empty()) return "bias and activation are only supported with fused pooling";
  const int64_t filter_words = first_layer_filter_words(problem);
  if (problem.r * filter_words > kMostFilterWords) {
    return fmt::format("filter must be at most 7x7: a row of {} pixels needs {} words, and all rows may need {}",
                       problem.s, filter_words, kMostFilterWords);
  }
  if (ceil_div(problem.q(), 2) + filter_words - 1 > kPitch) {
    return fmt::format("padded rows must have at most {} pixels", 2 * kPitch);
  }
  if (problem.pad_top > problem.h + problem.r || problem.pad_bottom > problem.h + problem.r) {
    return "vertical padding must not exceed image height + filter height";
  }
  constexpr int64_t kMost = std::numeric_limits<int>::max() / 64;
  if (std::max({problem.n, problem.h, problem.output_count() / problem.n, problem.n * problem.p() / 2}) > kMost) {
    return fmt::format("the batch or an image's output exceeds {} elements, the limit of 32-bit offsets", kMost);
  }
  if (caps.compute_capability < 80) return "compute capability 8.0 or later is required";
  return std::nullopt;
}

template <class Layer>
Refusal refuse_without_room(const ConvStep& step, const DeviceCaps& caps) {
  const int64_t bytes = plan_first_layer<Layer>(step, {}).shared_bytes + Layer::kMostThreads;
  if (bytes <= static_cast<int64_t>(caps.shared_bytes_per_block)) return std::nullopt;
  return fmt::format("{} bytes of shared memory per block are needed, {} are available", bytes,
                     caps.shared_bytes_per_block);
}

/// Returns the number of blocks resident on the whole device, so that each processes an equal share of the bands.
template <class Kernel>
int64_t resident_blocks([[maybe_unused]] Kernel kernel, [[maybe_unused]] int threads,
                        [[maybe_unused]] int64_t shared_bytes, const DeviceCaps& caps) {
#ifdef __CUDACC__
  const auto function = reinterpret_cast<const void*>(kernel);
  int blocks = 0;
  check_cuda(
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)),
      "setting the shared memory size");
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, static_cast<size_t>(shared_bytes)),
      "computing the occupancy");
  return std::max<int64_t>(1, int64_t{caps.multiprocessors} * blocks);
#else
  return caps.multiprocessors;
#endif
}

template <class Layer>
void launch_first_layer(const ConvArgs& args, Stream& stream) {
  FirstLayerTuning tuning;
  if (!args.tuning.empty()) tuning = {args.tuning[0], args.tuning[1], args.tuning[2], args.tuning[3], args.tuning[4]};
  const FirstLayerLaunch plan = plan_first_layer<Layer>(args.step, tuning);
  const auto with = [&](auto kernel) {
    const int64_t bands = checked_mul(args.step.problem.n, plan.shape.bands);
    launch(kernel,
           {.grid = std::min(bands, resident_blocks(kernel, plan.threads, plan.shared_bytes, stream.caps())),
            .block = plan.threads,
            .shared_bytes = static_cast<size_t>(plan.shared_bytes)},
           stream.native(), static_cast<const typename Layer::Pixel*>(args.x), args.w,
           args.step.epilogue.bias ? args.bias : nullptr, args.y, plan.shape);
  };
  const auto with_columns = [&]<int kSteps>() {
    if (plan.columns == 1) return with(convolve_first_layer<Layer, kSteps, 1>);
    if (plan.columns == 2) return with(convolve_first_layer<Layer, kSteps, 2>);
    with(convolve_first_layer<Layer, kSteps, 3>);
  };
  if (plan.steps == 2) return with_columns.template operator()<2>();
  with_columns.template operator()<4>();
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
