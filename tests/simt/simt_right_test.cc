// Tests correct programs on simt: each must pass all checks and compute the right result, with one worker and with
// several.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/settings.h"
#include "tests/simt_kernels/samples.h"

namespace convlab {
namespace {

// Device memory with a copy of `values`, or `count` uninitialized elements.
template <class T>
class DeviceArray {
 public:
  DeviceArray(std::span<const T> values, const std::string& name) : DeviceArray(values.size(), name) {
    simt::copy_to_device(data_, values.data(), values.size_bytes());
  }
  DeviceArray(size_t count, const std::string& name)
      : data_(static_cast<T*>(simt::allocate(count * sizeof(T), name))), count_(count) {}
  ~DeviceArray() { simt::release(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const { return {data_, data_ + count_}; }

 private:
  T* data_;
  size_t count_;
};

std::vector<float> small_integers(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  uint64_t state = seed;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(static_cast<int>(state >> 60)) - 8.0f;
  }
  return values;
}

std::vector<float> reals(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  uint64_t state = seed;
  for (float& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<float>(state >> 40) * 0x1p-23f - 1.0f;
  }
  return values;
}

std::vector<float> matmul(const std::vector<float>& a, const std::vector<float>& b, int m, int n, int k) {
  std::vector<float> c(static_cast<size_t>(m) * n);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
      c[i * n + j] = static_cast<float>(sum);
    }
  }
  return c;
}

std::vector<float> convolve(const std::vector<float>& x, const std::vector<float>& w, const ConvSize& z) {
  std::vector<float> y;
  for (int n = 0; n < z.n; ++n) {
    for (int k = 0; k < z.k; ++k) {
      for (int p = 0; p < z.p(); ++p) {
        for (int q = 0; q < z.q(); ++q) {
          double sum = 0.0;
          for (int c = 0; c < z.c; ++c) {
            for (int r = 0; r < z.r; ++r) {
              for (int s = 0; s < z.s; ++s) {
                sum += static_cast<double>(x[((n * z.c + c) * z.h + p + r) * z.w + q + s]) *
                       w[((k * z.c + c) * z.r + r) * z.s + s];
              }
            }
          }
          y.push_back(static_cast<float>(sum));
        }
      }
    }
  }
  return y;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

class RightProgram : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { simt::set_workers(GetParam()); }
  void TearDown() override { simt::set_workers(0); }
};
INSTANTIATE_TEST_SUITE_P(Workers, RightProgram, testing::Values(1, 3));

TEST_P(RightProgram, Convolutions) {
  for (const ConvSize& z : {ConvSize{1, 1, 1, 1, 1, 1, 1}, ConvSize{2, 3, 17, 19, 4, 5, 3},
                            ConvSize{1, 2, 40, 36, 3, 7, 7}, ConvSize{3, 1, 16, 16, 2, 1, 16}}) {
    const auto x = small_integers(static_cast<size_t>(z.n) * z.c * z.h * z.w, 1);
    const auto w = small_integers(static_cast<size_t>(z.k) * z.c * z.r * z.s, 2);
    const auto expected = convolve(x, w, z);
    const DeviceArray<float> dx(x, "x"), dw(w, "w"), naive(expected.size(), "y"), tile(expected.size(), "y");
    conv_naive(dx.data(), dw.data(), naive.data(), z, nullptr);
    EXPECT_EQ(naive.values(), expected);
    conv_shared_tile(dx.data(), dw.data(), tile.data(), z, nullptr);
    EXPECT_EQ(tile.values(), expected);
  }
}

TEST_P(RightProgram, TiledMatrixMultiply) {
  for (const auto& [m, n, k] : {std::tuple(1, 1, 1), std::tuple(16, 16, 16), std::tuple(37, 50, 41)}) {
    const auto a = small_integers(static_cast<size_t>(m) * k, 3), b = small_integers(static_cast<size_t>(k) * n, 4);
    const DeviceArray<float> da(a, "a"), db(b, "b"), dc(static_cast<size_t>(m) * n, "c");
    matmul_tiled(da.data(), db.data(), dc.data(), m, n, k, nullptr);
    EXPECT_EQ(dc.values(), matmul(a, b, m, n, k));
  }
}

TEST_P(RightProgram, Reductions) {
  const auto x = small_integers(5000, 5);
  const float expected = std::accumulate(x.begin(), x.end(), 0.0f);
  const DeviceArray<float> dx(x, "x");
  for (auto* sum : {sum_by_tree, sum_by_shuffles}) {
    const DeviceArray<float> sums(size_t{7}, "sums");
    sum(dx.data(), sums.data(), 5000, 7, nullptr);
    const auto parts = sums.values();
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0.0f), expected);
  }
}

TEST_P(RightProgram, PartialMasks) {
  const auto x = small_integers(32, 6);
  const DeviceArray<float> dx(x, "x"), sums(size_t{3}, "sums");
  sum_with_partial_masks(dx.data(), sums.data(), nullptr);
  const float low = std::accumulate(x.begin(), x.begin() + 16, 0.0f);
  const float high = std::accumulate(x.begin() + 16, x.end(), 0.0f);
  EXPECT_THAT(sums.values(), testing::ElementsAre(low, high, x[15]));
}

TEST_P(RightProgram, HistogramWithAtomics) {
  std::vector<int> values(3000), expected(16);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>((i * i + 3 * i) % 16);
    ++expected[values[i]];
  }
  const DeviceArray<int> dv(values, "values"), bins(size_t{16}, "bins");
  histogram(dv.data(), 3000, bins.data(), nullptr);
  EXPECT_EQ(bins.values(), expected);
}

TEST_P(RightProgram, BytesOfOneWordByDifferentThreads) {
  std::vector<unsigned char> values(101);
  std::iota(values.begin(), values.end(), 7);
  const DeviceArray<unsigned char> dv(values, "values"), out(values.size(), "out");
  histogram_of_bytes(dv.data(), 101, out.data(), nullptr);
  EXPECT_EQ(out.values(), std::vector<unsigned char>(values.rbegin(), values.rend()));
}

TEST_P(RightProgram, ConstantMemoryOfInterleavedLaunches) {
  const auto x = small_integers(200, 7), one = small_integers(8, 8), other = small_integers(8, 9);
  const DeviceArray<float> dx(x, "x"), y(x.size(), "y");
  for (const auto& factors : {one, other, one}) {
    scale_by_constant(factors.data(), dx.data(), y.data(), 200, nullptr);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<float> expected(x);
      for (size_t i = 0; i < x.size(); ++i) expected[i] *= factors[i % 8];
      EXPECT_EQ(y.values(), expected);
      scale_by_constant_again(dx.data(), y.data(), 200, nullptr);
    }
  }
}

TEST_P(RightProgram, TensorCores) {
  const int m = 40, n = 25, k = 37;
  const auto a = small_integers(m * k, 10), b = small_integers(k * n, 11);
  const auto expected = matmul(a, b, m, n, k);
  const DeviceArray<float> da(a, "a"), db(b, "b"), dc(expected.size(), "c");
  matmul_fp16(da.data(), db.data(), dc.data(), m, n, k, nullptr);
  EXPECT_EQ(dc.values(), expected);
  for (const bool split : {false, true}) {
    matmul_tf32(da.data(), db.data(), dc.data(), m, n, k, split, nullptr);
    EXPECT_EQ(dc.values(), expected);
  }
}

// For values that the formats cannot represent exactly, the error must match the format: fp16 and TF32 both have a unit
// in the last place of 2^-11, and split TF32 is close to fp32.
TEST_P(RightProgram, TensorCoresRoundAsTheirFormats) {
  const int m = 32, n = 32, k = 64;
  const auto a = reals(m * k, 12), b = reals(k * n, 13);
  const auto expected = matmul(a, b, m, n, k);
  const DeviceArray<float> da(a, "a"), db(b, "b"), dc(expected.size(), "c");
  matmul_fp16(da.data(), db.data(), dc.data(), m, n, k, nullptr);
  const double fp16 = largest_difference(dc.values(), expected);
  EXPECT_GT(fp16, 1e-4);
  EXPECT_LT(fp16, 64 * 2 * 0x1p-11);
  matmul_tf32(da.data(), db.data(), dc.data(), m, n, k, false, nullptr);
  const double tf32 = largest_difference(dc.values(), expected);
  EXPECT_GT(tf32, 1e-4);
  EXPECT_LT(tf32, 64 * 2 * 0x1p-11);
  matmul_tf32(da.data(), db.data(), dc.data(), m, n, k, true, nullptr);
  EXPECT_LT(largest_difference(dc.values(), expected), 64 * 0x1p-20);
}

TEST_P(RightProgram, VectorTypes) {
  const auto x = small_integers(172, 14);
  std::vector<float> expected(x);
  for (float& value : expected) value *= 2.0f;
  const DeviceArray<float> dx(x, "x"), y(x.size(), "y");
  double_with_vectors(dx.data(), y.data(), 172, nullptr);
  EXPECT_EQ(y.values(), expected);
}

TEST_P(RightProgram, AsynchronousCopies) {
  const auto x = small_integers(300, 15);
  for (const int tiles : {1, 2, 5}) {
    const int exist = std::min(tiles * 64 - 3, 299);  // the last 16-byte copy is padded with zeros
    std::vector<float> expected(16);
    for (int i = 0; i < exist; ++i) expected[i % 16] += x[i];
    const DeviceArray<float> dx(x, "x"), sums(size_t{16}, "sums");
    sum_by_copies(dx.data(), sums.data(), tiles, exist, nullptr);
    EXPECT_EQ(sums.values(), expected) << tiles;
  }
}

TEST_P(RightProgram, VotesAndWarpReductions) {
  std::vector<int> x(32);
  for (int i = 0; i < 32; ++i) x[i] = i % 3 == 0 ? -i : i;
  unsigned positive = 0;
  for (int i = 0; i < 32; ++i) positive |= static_cast<unsigned>(x[i] > 0) << i;
  const unsigned sum = static_cast<unsigned>(std::accumulate(x.begin(), x.end(), 0));
  const DeviceArray<int> dx(x, "x");
  const DeviceArray<unsigned> out(size_t{8}, "out");
  votes(dx.data(), out.data(), nullptr);
  EXPECT_THAT(out.values(), testing::ElementsAre(positive, 1u, 0u, 31u, sum, 0u, 8u, __builtin_popcount(positive)));
}

TEST_P(RightProgram, VotesOfABlock) {
  std::vector<int> x(70, 0);
  x[3] = x[69] = 5;
  const DeviceArray<int> dx(x, "x"), out(size_t{3}, "out");
  block_votes(dx.data(), out.data(), 70, nullptr);
  EXPECT_THAT(out.values(), testing::ElementsAre(2, 0, 1));
}

TEST_P(RightProgram, Halves) {
  const auto x = small_integers(256, 15);
  const DeviceArray<float> dx(x, "x"), y(x.size(), "y");
  transpose_halves(dx.data(), y.data(), nullptr);
  const auto transposed = y.values();
  for (int i = 0; i < 256; ++i) EXPECT_EQ(transposed[i], x[i % 16 * 16 + i / 16]);
}

TEST_P(RightProgram, LoadsStayWhereTheKernelHasThem) {
  const auto x = small_integers(10, 16);
  const DeviceArray<float> dx(x, "x"), y(size_t{32}, "y");
  conditional_scalar(dx.data(), y.data(), 10, false, nullptr);
  EXPECT_EQ(y.values()[0], 10.0f);
  conditional_scalar(dx.data(), y.data(), 10, true, nullptr);
  EXPECT_EQ(y.values()[31], x[0] * std::accumulate(x.begin(), x.end(), 0.0f) + 10 * x[0]);
}

TEST_P(RightProgram, ActiveMask) {
  const DeviceArray<unsigned> out(size_t{3}, "out");
  active_lanes(out.data(), nullptr);
  EXPECT_THAT(out.values(), testing::ElementsAre(0xffffffffu, 0x55555555u, 0x55555555u | 0x000fffffu));
}

TEST_P(RightProgram, AtomicsOfAllKinds) {
  const DeviceArray<int> out(size_t{7}, "out");
  atomics_of_all_kinds(out.data(), nullptr);
  EXPECT_THAT(out.values(), testing::ElementsAre(63, -5, (1 << 20) - 1, 7, 64 % 10, 32, 64 * 3));
}

TEST_P(RightProgram, TheLastBlockAddsUp) {
  const auto x = small_integers(300, 17);
  const DeviceArray<float> dx(x, "x"), sums(size_t{40}, "sums");
  const DeviceArray<unsigned> done(size_t{1}, "done");
  for (int repeat = 0; repeat < 5; ++repeat) {
    sum_by_last_block(dx.data(), sums.data(), done.data(), 300, 40, nullptr);
    EXPECT_EQ(sums.values()[0], std::accumulate(x.begin(), x.end(), 0.0f));
    EXPECT_EQ(done.values()[0], 0u);
  }
}

TEST_P(RightProgram, BlocksTellEachOtherByFlags) {
  const auto x = small_integers(50, 18);
  const DeviceArray<float> dx(x, "x"), sums(size_t{50}, "sums");
  const DeviceArray<int> flags(size_t{50}, "flags");
  for (int repeat = 0; repeat < 5; ++repeat) running_sum(dx.data(), sums.data(), flags.data(), 50, nullptr);
  EXPECT_EQ(sums.values()[49], std::accumulate(x.begin(), x.end(), 0.0f));
}

TEST_P(RightProgram, FirstGuessesOfCompareAndSwap) {
  const auto x = reals(1024, 19);
  const DeviceArray<float> dx(x, "x");
  const DeviceArray<int> most(size_t{1}, "most");
  for (int repeat = 0; repeat < 5; ++repeat) largest_of_floats(dx.data(), most.data(), 32, nullptr);
  EXPECT_EQ(std::bit_cast<float>(most.values()[0]), *std::max_element(x.begin(), x.end()));
}

TEST_P(RightProgram, BlocksShareWordsButNoBytes) {
  const std::vector<uint8_t> zeros(1003, 0);
  const DeviceArray<uint8_t> values(zeros, "values");
  for (int repeat = 0; repeat < 5; ++repeat) add_block_to_bytes(values.data(), 1003, nullptr);
  for (int i = 0; i < 1003; ++i) EXPECT_EQ(values.values()[i], static_cast<uint8_t>(i / 5 * 5)) << i;
}

TEST(RightPrograms, LoadMembersOfVectorsWhereverTheyLie) {
  const DeviceArray<float> x(std::span<const float>(reals(64, 7)), "x"), y(32, "y");
  members_of_vectors(x.data(), y.data(), nullptr);
  EXPECT_EQ(y.values()[31], x.values()[31]);
}

TEST(RightPrograms, PrintBlockByBlock) {
  std::string expected;
  for (int block = 0; block < 64; ++block) {
    for (int line = 0; line < 4; ++line) {
      expected += fmt::format("block {0} thread {1} line {2}\n", block, line / 2, line % 2);
    }
  }
  for (const int workers : {1, 4}) {
    simt::set_workers(workers);
    testing::internal::CaptureStdout();
    print_threads(2, 64, nullptr);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), expected);
  }
  simt::set_workers(0);
}

TEST(RightPrograms, PrintNoMoreThanAMebibyte) {
  testing::internal::CaptureStdout();
  for (int launches = 0; launches < 4; ++launches) print_threads(100'000, 4, nullptr);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_LE(printed.size(), (1u << 20) + 100);
  EXPECT_THAT(printed, testing::EndsWith("(output of kernels is cut off after 1 MiB)\n"));
  print_threads(1, 1, nullptr);
}

}  // namespace
}  // namespace convlab
