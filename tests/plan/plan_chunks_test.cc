// Tests how a batch is split into chunks so that uploads overlap with computation.

#include "convlab/engine/chunks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace convlab {
namespace {

using Sizes = std::vector<int64_t>;

// Times of an H200 for images of 70x70 and of 28x28, rounded.
constexpr Cost kLargeUpload{4e-6, 89e-9}, kSmallUpload{4e-6, 14e-9}, kCompute{25e-6, 25e-9};

TEST(Chunks, ACostIsWhatWasMeasured) {
  const Cost cost = cost_of(100, 3e-5, 10000, 2e-3);
  EXPECT_DOUBLE_EQ(cost.of(100), 3e-5);
  EXPECT_DOUBLE_EQ(cost.of(10000), 2e-3);
  EXPECT_EQ(cost_of(100, 2, 10000, 1).by_image, 0) << "noise is not negative work";
  EXPECT_EQ(cost_of(100, 1, 10000, 200).each, 0);
}

TEST(Chunks, AChunkIsComputedAfterItsUploadAndTheChunkBefore) {
  const Cost upload{1, 2}, compute{3, 4};
  EXPECT_DOUBLE_EQ(pipelined_seconds({5}, upload, compute), (1 + 10) + (3 + 20));
  EXPECT_DOUBLE_EQ(pipelined_seconds({5, 1}, upload, compute), (1 + 10) + (3 + 20) + (3 + 4)) << "computing is slower";
  EXPECT_DOUBLE_EQ(pipelined_seconds({1, 9}, upload, compute), (1 + 2) + (1 + 18) + (3 + 36)) << "the upload is";
}

TEST(Chunks, AddUpAndAreNeverWorseThanOne) {
  for (const int64_t images : {1, 15, 16, 31, 33, 213, 1000, 9999, 10000, 60000}) {
    for (const Cost& upload : {kLargeUpload, kSmallUpload, Cost{}}) {
      for (const Cost& compute : {kCompute, Cost{1e-3, 1e-7}, Cost{0, 1e-6}, Cost{}}) {
        const Sizes sizes = chunk_sizes(images, upload, compute);
        EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}), images);
        EXPECT_LE(sizes.size(), 8U);
        EXPECT_GE(std::ranges::min(sizes), std::min<int64_t>(images, 16));
        EXPECT_LE(pipelined_seconds(sizes, upload, compute), pipelined_seconds({images}, upload, compute));
      }
    }
  }
}

TEST(Chunks, FallWhereTheBusIsSlower) {
  const Sizes sizes = chunk_sizes(10000, kLargeUpload, kCompute);
  EXPECT_TRUE(std::ranges::is_sorted(sizes, std::greater()));
  EXPECT_GE(sizes.size(), 3U);
  EXPECT_LE(pipelined_seconds(sizes, kLargeUpload, kCompute), 1.08 * kLargeUpload.of(10000));
}

TEST(Chunks, RiseWhereComputingIsSlower) {
  const Sizes sizes = chunk_sizes(10000, kSmallUpload, kCompute);
  EXPECT_TRUE(std::ranges::is_sorted(sizes));
  EXPECT_GE(sizes.size(), 2U);
}

TEST(Chunks, OneWhereAChunkCostsMoreThanItSaves) {
  EXPECT_EQ(chunk_sizes(10000, kLargeUpload, {1e-3, 1e-7}), (Sizes{10000}));
  EXPECT_EQ(chunk_sizes(10000, {}, {}), (Sizes{10000}));
}

}  // namespace
}  // namespace convlab
