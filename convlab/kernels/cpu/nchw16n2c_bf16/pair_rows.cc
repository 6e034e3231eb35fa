// Copies input rows of a convolution in bf16x2 pairs.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_rows.h"

#include <algorithm>
#include <cstring>

#include "convlab/kernels/cpu/nchw16n/lane_rows.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_sums.h"

namespace convlab {
namespace {

/// Copies a row of pairs, with its zero border.
void copy_pairs(const ConvProblem& problem, const PairCut& cut, const std::byte* from, std::byte* to) {
  const int64_t pixel = cut.pixel_bytes();
  std::memset(to, 0, static_cast<size_t>(problem.pad_left * pixel));
  to += problem.pad_left * pixel;
  std::memcpy(to, from, static_cast<size_t>(problem.w * pixel));
  std::memset(to + problem.w * pixel, 0, static_cast<size_t>(problem.pad_right * pixel));
}

/// Transposes the first `columns` pixels, left border included, of row `row` (counted through all channels) of 16 nchw
/// images to pixels 16 images wide; zeros outside the image.
template <class Pixel>
void copy_lanes(const ConvArgs& args, int64_t block, int64_t row, int64_t columns, Pixel* to) {
  const ConvProblem& problem = args.step.problem;
  std::fill_n(to, problem.pad_left * kImageLanes, Pixel{0});
  const int64_t inside = std::min(problem.w, columns - problem.pad_left);
  Pixel* const pixels = to + problem.pad_left * kImageLanes;
  copy_lane_row(args.step, args.x, block, row, inside, pixels);
  std::fill(pixels + inside * kImageLanes, to + columns * kImageLanes, Pixel{0});
}

void pack(const float* even, const float* odd, const PairCut& cut, std::byte* to, std::byte* low) {
  pack_pairs(even, odd, cut.held_w, kImageLanes, to, low, cut.pixel_bytes());
}

void pack(const uint8_t* even, const uint8_t* odd, const PairCut& cut, std::byte* to, std::byte*) {
  pack_pairs(even, odd, cut.held_w, kImageLanes, to, cut.pixel_bytes());
}

/// Packs a row of all channels of nchw images, two channels at a time.
template <class Pixel>
void pack_channels(const ConvArgs& args, const PairCut& cut, int64_t block, int64_t row, std::byte* to, std::byte* low,
                   Pixel* lanes) {
  const ConvProblem& problem = args.step.problem;
  Pixel* const even = lanes;
  Pixel* const odd = lanes + cut.held_w * kImageLanes;
  for (int64_t c = 0; c < problem.c; c += 2) {
    const bool has_odd = c + 1 < problem.c;
    copy_lanes(args, block, c * problem.h + row, cut.held_w, even);
    if (has_odd) copy_lanes(args, block, (c + 1) * problem.h + row, cut.held_w, odd);
    const int64_t at = c / 2 * kPairBytes;
    pack(even, has_odd ? odd : nullptr, cut, to + at, low != nullptr ? low + at : nullptr);
  }
}

}  // namespace

void copy_pair_row(const ConvArgs& args, const PairCut& cut, int64_t block, int64_t row, std::byte* to,
                   std::byte* lanes) {
  const ConvProblem& problem = args.step.problem;
  std::byte* const low = cut.split ? to + cut.held_plane() : nullptr;
  if (row < 0 || row >= problem.h) {
    std::memset(to, 0, static_cast<size_t>(cut.held_row()));
    if (low != nullptr) std::memset(low, 0, static_cast<size_t>(cut.held_row()));
  } else if (args.step.input_format.order != Order::nchw) {
    const int64_t plane = problem.h * problem.w * cut.pixel_bytes();
    const std::byte* from = static_cast<const std::byte*>(args.x) + block * plane * (cut.split ? 2 : 1) +
                            row * problem.w * cut.pixel_bytes();
    copy_pairs(problem, cut, from, to);
    if (low != nullptr) copy_pairs(problem, cut, from + plane, low);
  } else if (cut.phases) {
    copy_lanes(args, block, row, 2 * cut.held_w, reinterpret_cast<uint8_t*>(to));
  } else if (args.step.input_format == kRawPixels) {
    pack_channels(args, cut, block, row, to, low, reinterpret_cast<uint8_t*>(lanes));
  } else {
    pack_channels(args, cut, block, row, to, low, reinterpret_cast<float*>(lanes));
  }
}

}  // namespace convlab
