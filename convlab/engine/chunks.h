#pragma once

#include <cstdint>
#include <vector>

namespace convlab {

/// A linear cost in seconds: `each` per transfer or computation, plus `by_image` per image.
struct Cost {
  double each = 0, by_image = 0;

  double of(int64_t images) const { return each + by_image * static_cast<double>(images); }
};

/// Fits a Cost to the measured times of few and of many images; neither coefficient is below 0.
Cost cost_of(int64_t few, double few_seconds, int64_t many, double many_seconds);

/// Returns the seconds until all chunks are computed: each after the previous chunk and after its own upload, with
/// uploads back to back.
double pipelined_seconds(const std::vector<int64_t>& chunks, const Cost& upload, const Cost& compute);

/// Returns the chunks, in images, in which to upload a batch to a device: one to eight chunks in geometric progression
/// with the least pipelined_seconds(). Chunks shrink if the bus is slower than computing, so that little is left to
/// compute when the last arrives; they grow if computing is slower, so that it begins early.
std::vector<int64_t> chunk_sizes(int64_t images, const Cost& upload, const Cost& compute);

}  // namespace convlab
