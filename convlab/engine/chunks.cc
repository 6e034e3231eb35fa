// Chooses the chunks in which a batch is uploaded, so that upload and computation overlap.

#include "convlab/engine/chunks.h"

#include <algorithm>

namespace convlab {
namespace {

constexpr int kMostChunks = 8;

/// Images that fill a kernel's tile.
constexpr int64_t kChunkStep = 16;

/// The ratios of each chunk to the previous one.
constexpr double kSteps[] = {1. / 4, 1. / 3, 1. / 2, 2. / 3, 1, 3. / 2, 2, 3, 4};

/// Returns `count` chunks in multiples of 16 images; the largest also gets the remainder. Chunks may be empty.
std::vector<int64_t> progression(int64_t images, int count, double step) {
  std::vector<double> shares{1};
  double sum = 1;
  for (int i = 1; i < count; ++i) {
    shares.push_back(shares.back() * step);
    sum += shares.back();
  }
  std::vector<int64_t> sizes;
  int64_t rest = images;
  for (const double share : shares) {
    sizes.push_back(static_cast<int64_t>(static_cast<double>(images) * share / sum) / kChunkStep * kChunkStep);
    rest -= sizes.back();
  }
  (step < 1 ? sizes.front() : sizes.back()) += rest;
  return sizes;
}

}  // namespace

Cost cost_of(int64_t few, double few_seconds, int64_t many, double many_seconds) {
  const double by_image = std::max(0.0, (many_seconds - few_seconds) / static_cast<double>(many - few));
  return {.each = std::max(0.0, few_seconds - by_image * static_cast<double>(few)), .by_image = by_image};
}

double pipelined_seconds(const std::vector<int64_t>& chunks, const Cost& upload, const Cost& compute) {
  double uploaded = 0, computed = 0;
  for (const int64_t images : chunks) {
    uploaded += upload.of(images);
    computed = std::max(computed, uploaded) + compute.of(images);
  }
  return computed;
}

std::vector<int64_t> chunk_sizes(int64_t images, const Cost& upload, const Cost& compute) {
  std::vector<int64_t> best{images};
  double best_seconds = pipelined_seconds(best, upload, compute);
  for (int count = 2; count <= kMostChunks; ++count) {
    for (const double step : kSteps) {
      std::vector<int64_t> sizes = progression(images, count, step);
      if (std::ranges::min(sizes) < kChunkStep) continue;
      const double seconds = pipelined_seconds(sizes, upload, compute);
      if (!(seconds < best_seconds)) continue;
      best = std::move(sizes);
      best_seconds = seconds;
    }
  }
  return best;
}

}  // namespace convlab
