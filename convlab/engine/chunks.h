#pragma once

#include <cstdint>
#include <vector>

namespace convlab {

/// Seconds that images take: for each transfer or computation, and for each image in it.
struct Cost {
  double each = 0, by_image = 0;

  double of(int64_t images) const { return each + by_image * static_cast<double>(images); }
};

/// The cost that fits the measured times of few and of many images; neither part is below 0.
Cost cost_of(int64_t few, double few_seconds, int64_t many, double many_seconds);

/// Seconds until all chunks are computed, each after the one before it and after its own upload, while uploads follow
/// each other without a break.
double pipelined_seconds(const std::vector<int64_t>& chunks, const Cost& upload, const Cost& compute);

/// How a batch best crosses the bus to a device, in images by chunk: of one to eight chunks in geometric progression,
/// the choice with the least pipelined_seconds(). Chunks shrink where the bus is slower, so that little is left to
/// compute when the last arrives; they grow where computing is slower, so that it begins early.
std::vector<int64_t> chunk_sizes(int64_t images, const Cost& upload, const Cost& compute);

}  // namespace convlab
