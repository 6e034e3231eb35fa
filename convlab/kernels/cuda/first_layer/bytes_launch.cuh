#pragma once

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/first_layer/bytes.cuh"
#include "convlab/kernels/cuda/first_layer/first_launch.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Plans and launches the kernel of bytes.cuh for a step.

constexpr int kWideFilter = 7, kNarrowFilter = 5;  // most rows and columns, with cells of two and of four sums

/// Most bytes of a band's pixels; a larger image is divided into bands.
constexpr int64_t kMostBandBytes = 16 << 10;

template <class Layer>
BytesLayerShape plan_bytes_layer(const ConvStep& step) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  const auto inverse = [](int64_t divisor) { return static_cast<uint32_t>(ceil_div(int64_t{1} << 31, divisor)); };
  const ConvProblem& problem = step.problem;
  const int64_t rows = problem.p() / 2, columns = problem.q() / 2, quarters = ceil_div(problem.k, 4);
  BytesLayerShape shape{.conv = kernel_shape(problem),
                        .activation = step.epilogue.activation,
                        .rows = narrow(rows),
                        .columns = narrow(columns),
                        .cells = narrow(ceil_div(columns, Layer::kPixels)),
                        .passes = narrow(ceil_div(quarters, Layer::kQuarters)),
                        .pitch = narrow(round_up(problem.w + problem.pad_left + problem.pad_right, 2))};
  // Whole rows that start at multiples of 2 bytes, in images that start at multiples of 4 bytes.
  shape.contiguous = !problem.padded() && problem.w % 2 == 0 && problem.h * problem.w % 4 == 0;
  const auto bytes_of = [&](int64_t band_rows) {
    constexpr int64_t kCells = Layer::kThreads / 4, kMostOffset = 16, kWindow = 8;
    const int64_t strips = ceil_div(round_up(ceil_div(band_rows, Layer::kStrip) * shape.cells, kCells), shape.cells);
    const int64_t pixel_rows = strips * Layer::kStrip * 2 + Layer::kStripRows - 2 * Layer::kStrip;
    return round_up(pixel_rows * shape.pitch + kMostOffset + kWindow, 128);
  };
  int64_t band_rows = rows;
  while (bytes_of(band_rows) > kMostBandBytes && band_rows > 2 * Layer::kStrip) {
    band_rows = round_up(ceil_div(band_rows, 2), 2 * Layer::kStrip);
  }
  shape.bands = narrow(ceil_div(rows, band_rows));
  shape.band_rows = narrow(band_rows);
  shape.buffer_bytes = narrow(bytes_of(band_rows));
  const int64_t used_bytes = quarters * 4 * rows * columns * 2;
  shape.image_bytes = round_up(used_bytes, 128);
  shape.left_bytes = narrow(shape.image_bytes - used_bytes);
  shape.cells_inverse = inverse(shape.cells);
  shape.words_inverse = inverse(shape.pitch / 2);
  return shape;
}

template <class Layer>
void launch_bytes_layer(const ConvArgs& args, Stream& stream) {
  const BytesLayerShape shape = plan_bytes_layer<Layer>(args.step);
  const auto kernel = convolve_bytes<Layer>;
  const int64_t shared_bytes = int64_t{2} * shape.buffer_bytes;
  const int64_t bands = checked_mul(args.step.problem.n, shape.bands);
  const int64_t blocks = ceil_div(resident_blocks(kernel, Layer::kThreads, shared_bytes, stream.caps()), shape.passes);
  launch(kernel,
         {.grid = std::min(bands, blocks) * shape.passes,
          .block = Layer::kThreads,
          .shared_bytes = static_cast<size_t>(shared_bytes)},
         stream.native(), static_cast<const uint8_t*>(args.x), args.w, args.step.epilogue.bias ? args.bias : nullptr,
         reinterpret_cast<__half*>(args.y), shape);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
