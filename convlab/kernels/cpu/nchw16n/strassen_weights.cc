// Packs the weights of cpu.nchw16n_dense_strassen.

#include "convlab/kernels/cpu/nchw16n/strassen_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/lanes.h"

namespace convlab {
namespace {

constexpr float kMostRatio = 8;
constexpr float kMostWeight = 0x1p31f;

/// Header before the weights, one cache line.
struct alignas(64) Known {
  bool coupled = false;
};

/// Packs weights and records the bits of the largest magnitude per output, as Largest does per lane.
class Packer {
 public:
  Packer(const StrassenDense& dense, const float* b, float* packed) : dense_(dense), b_(b), packed_(packed) {}

  void pack_pair(int64_t pair, int32_t* largest) const {
    for (int64_t t = 0; t < dense_.tiles; ++t) {
      const int64_t begin = dense_.first_output(t), end = dense_.first_output(t + 1);
      float* to = packed_ + (pair * kStrassenMatrices * dense_.half + begin) * kGemmDepth;
      for (int64_t term = pair * kPairTerms; term < pair * kPairTerms + kGemmDepth; ++term) {
        for (int64_t j = begin; j < end; ++j) pack_quadrants(term, j, to++, largest);
      }
    }
  }

  void pack_rest(int32_t* largest) const {
    float* to = packed_ + dense_.pairs * kStrassenMatrices * dense_.matrix_floats();
    for (int64_t first = dense_.rest(); first < dense_.k; first += kGemmDepth) {
      for (int64_t t = 0; t < 2 * dense_.tiles; ++t) {
        const int64_t at = t / dense_.tiles * dense_.half, tile = t % dense_.tiles;
        for (int64_t term = first; term < std::min(first + kGemmDepth, dense_.k); ++term) {
          for (int64_t j = at + dense_.first_output(tile); j < at + dense_.first_output(tile + 1); ++j) {
            *to++ = weight(term, j, largest);
          }
        }
      }
    }
  }

 private:
  float weight(int64_t term, int64_t j, int32_t* largest) const {
    const float value = dense_.weight(b_, term, j);
    largest[j] = std::max(largest[j], std::bit_cast<int32_t>(std::fabs(value)));
    return value;
  }

  /// Packs one element of each matrix.
  void pack_quadrants(int64_t term, int64_t j, float* to, int32_t* largest) const {
    const int64_t right = term + kGemmDepth, below = j + dense_.half;
    const double a11 = weight(term, j, largest), a12 = weight(right, j, largest);
    const double a21 = weight(term, below, largest), a22 = weight(right, below, largest);
    const auto put = [&](StrassenMatrix matrix, double value) {
      to[static_cast<int64_t>(matrix) * dense_.matrix_floats()] = static_cast<float>(value);
    };
    put(StrassenMatrix::a11, a11);
    put(StrassenMatrix::a12, a12);
    put(StrassenMatrix::a21, a21);
    put(StrassenMatrix::a22, a22);
    put(StrassenMatrix::s1, a21 + a22);
    put(StrassenMatrix::s2, a21 + a22 - a11);
    put(StrassenMatrix::s3, a11 - a21);
    put(StrassenMatrix::s4, a12 - (a21 + a22 - a11));
  }

  const StrassenDense& dense_;
  const float* b_;
  float* packed_;
};

}  // namespace

StrassenDense::StrassenDense(const Step& step)
    : LaneDense(step), half(outputs / 2), tiles(ceil_div(half, most_lane_maps(false))), pairs(k / kPairTerms) {}

bool may_couple(float a, float b, float most) {
  return a <= most && b <= most && a <= kMostRatio * b && b <= kMostRatio * a;
}

size_t strassen_weights_bytes(const StrassenDense& dense) {
  const int64_t pairs = checked_product({dense.pairs, kStrassenMatrices, dense.matrix_floats()});
  const int64_t rest = checked_mul(dense.k - dense.rest(), dense.outputs);
  return sizeof(Known) + static_cast<size_t>(checked_mul(checked_add(pairs, rest), sizeof(float)));
}

void pack_strassen_weights(const StrassenDense& dense, const float* b, void* packed, ThreadPool& threads) {
  auto* const known = static_cast<Known*>(packed);
  const Packer packer(dense, b, reinterpret_cast<float*>(known + 1));
  std::vector<int32_t> largest(static_cast<size_t>((dense.pairs + 1) * dense.outputs));  // per pair, then leftover
  threads.parallel_for(dense.pairs + 1, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t pair = begin; pair < end; ++pair) {
      int32_t* const to = largest.data() + pair * dense.outputs;
      pair < dense.pairs ? packer.pack_pair(pair, to) : packer.pack_rest(to);
    }
  });
  const auto of_output = [&](int64_t j) {
    int32_t most = 0;
    for (size_t at = static_cast<size_t>(j); at < largest.size(); at += static_cast<size_t>(dense.outputs)) {
      most = std::max(most, largest[at]);
    }
    return std::bit_cast<float>(most);
  };
  known->coupled = true;
  for (int64_t j = 0; j < dense.half; ++j) {
    known->coupled &= may_couple(of_output(j), of_output(dense.half + j), kMostWeight);
  }
}

StrassenWeights::StrassenWeights(const void* packed) {
  const auto* const known = static_cast<const Known*>(packed);
  floats_ = reinterpret_cast<const float*>(known + 1);
  coupled_ = known->coupled;
}

}  // namespace convlab
