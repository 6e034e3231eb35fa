#pragma once

#include <cstdint>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/nchw16n/lane_dense.h"

namespace convlab {

// A dense layer's weights for cpu.nchw16n_dense_strassen: the A of strassen_sums.h. Its rows are the two halves of the
// outputs; its columns are a pair, two neighboring ranges of kGemmDepth along K.

inline constexpr int64_t kPairTerms = 2 * kGemmDepth;

/// Matrices of a pair, in order of use; the last one is needed only for direct multiplication.
enum class StrassenMatrix : int64_t { a11, s1, s2, a22, a12, s4, s3, a21 };
inline constexpr int64_t kStrassenMatrices = 8;

/// Sizes of a step with an even number of outputs.
struct StrassenDense : LaneDense {
  explicit StrassenDense(const Step& step);

  int64_t matrix_floats() const { return half * kGemmDepth; }
  int64_t rest() const { return pairs * kPairTerms; }  ///< the first leftover K index
  int64_t first_output(int64_t tile) const { return half * tile / tiles; }

  int64_t half;   ///< outputs / 2
  int64_t tiles;  ///< tiles of outputs per half
  int64_t pairs;  ///< pairs of ranges along K
};

/// Whether two halves with the largest magnitudes `a` and `b` may be coupled: neither is above `most` or more than 8
/// times the other. False if one is NaN.
bool may_couple(float a, float b, float most);

size_t strassen_weights_bytes(const StrassenDense& dense);

/// Packs the weights. Sums of weights are computed in double and rounded once.
void pack_strassen_weights(const StrassenDense& dense, const float* b, void* packed, ThreadPool& threads);

/// Access to packed weights.
class StrassenWeights {
 public:
  explicit StrassenWeights(const void* packed);

  /// Whether the magnitudes of the halves are close enough to form their sums.
  bool coupled() const { return coupled_; }

  /// Returns a matrix: [pair][matrix][tile of outputs][K index][output].
  const float* matrix(const StrassenDense& dense, int64_t pair, StrassenMatrix number) const {
    return floats_ + (pair * kStrassenMatrices + static_cast<int64_t>(number)) * dense.matrix_floats();
  }

  /// Returns the leftover weights: [range along K][half of the outputs][tile][K index][output].
  const float* rest(const StrassenDense& dense) const { return matrix(dense, dense.pairs, StrassenMatrix::a11); }

 private:
  const float* floats_ = nullptr;
  bool coupled_ = false;
};

}  // namespace convlab
