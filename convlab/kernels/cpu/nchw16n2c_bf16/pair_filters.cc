// Packs the filters of a convolution in bf16x2 pairs.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_filters.h"

#include <cmath>

#include "convlab/base/checked.h"

namespace convlab {

bool takes_phases(const ConvStep& step) {
  constexpr int64_t kMostRotations = 16;  // copies of the weights, at most
  const ConvProblem& problem = step.problem;
  return step.input_format == kRawPixels && step.input_format.order == Order::nchw && problem.c == 1 &&
         problem.stride_w == 1 && problem.unit_dilation() && problem.r <= kMostRotations;
}

int64_t filter_rotations(const ConvStep& step) { return takes_phases(step) ? step.problem.r : 1; }

FilterTerms filter_terms(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  if (takes_phases(step)) return {1, TermTiles(checked_mul(problem.s / 2 + 1, problem.r))};
  const int64_t channel_pairs = ceil_div(problem.c, 2);
  if (problem.unit_dilation()) return {problem.r, TermTiles(checked_mul(problem.s, channel_pairs))};
  return {problem.r * problem.s, TermTiles(channel_pairs)};
}

TileWeights filter_tiles(const ConvStep& step, Math math) {
  const int64_t rows_of_map = takes_phases(step) ? 2 : 1;
  const FilterTerms terms = filter_terms(step);
  return tile_weights(checked_mul(step.problem.k, rows_of_map), rows_of_map, terms.tiles, terms.segments, math,
                      step.input_format == kRawPixels);
}

void pack_filters(const ConvArgs& args, Math math) {
  const ConvProblem& problem = args.step.problem;
  const FilterTerms terms = filter_terms(args.step);
  const bool phases = takes_phases(args.step);
  const int64_t channel_pairs = ceil_div(problem.c, 2);
  const auto weight = [&](int64_t rotation, int64_t row, int64_t tile, int64_t l, int64_t e) -> float {
    const int64_t segment = tile / terms.tiles.tiles, part = tile % terms.tiles.tiles;
    const int64_t map = phases ? row / 2 : row, pair = terms.tiles.first(part) + l;
    if (map >= problem.k || terms.tiles.is_again(part, l)) return 0;
    int64_t c = 0, r = 0, s = 0;
    if (phases) {
      r = (pair % problem.r - rotation + problem.r) % problem.r;
      s = pair / problem.r * 2 + e - row % 2;
    } else {
      c = pair % channel_pairs * 2 + e;
      const int64_t element = segment * (problem.unit_dilation() ? problem.s : 1) + pair / channel_pairs;
      r = element / problem.s;
      s = element % problem.s;
    }
    if (s < 0 || s >= problem.s || c >= problem.c) return 0;
    return args.w[((map * problem.c + c) * problem.r + r) * problem.s + s];
  };
  const TileWeights w = filter_tiles(args.step, math);
  for (int64_t i = 0; i < filter_rotations(args.step); ++i) {
    pack_weights(w, static_cast<std::byte*>(args.prepared) + i * w.bytes(),
                 [&](int64_t row, int64_t tile, int64_t l, int64_t e) { return weight(i, row, tile, l, e); });
  }
}

bool gives_finite_sums(const ConvArgs& args) {
  constexpr float kMost = 1e38f, kBrightest = 255;  // a third of FLT_MAX: rounding does not matter
  if (args.step.input_format != kRawPixels) return false;
  const ConvProblem& problem = args.step.problem;
  for (int64_t map = 0; map < problem.k; ++map) {
    float most = args.step.epilogue.bias ? std::abs(args.bias[map]) : 0;
    for (int64_t i = 0; i < problem.terms(); ++i) most += kBrightest * std::abs(args.w[map * problem.terms() + i]);
    if (!(most <= kMost)) return false;  // also for NaN
  }
  return true;
}

}  // namespace convlab
