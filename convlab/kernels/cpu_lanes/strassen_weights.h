#pragma once

#include <cstdint>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu_gemm/gemm.h"
#include "convlab/kernels/cpu_lanes/lane_dense.h"

namespace convlab {

// A dense layer's weights as cpu.dense_strassen takes them: A of strassen_sums.h. Rows are the two halves of the
// outputs, columns two neighbouring parts of kGemmDepth terms, a pair.

inline constexpr int64_t kPairTerms = 2 * kGemmDepth;

/// Matrices of a pair, in the order of their use; the last is for what is multiplied directly.
enum class StrassenMatrix : int64_t { a11, s1, s2, a22, a12, s4, s3, a21 };
inline constexpr int64_t kStrassenMatrices = 8;

/// Sizes of a step with an even number of outputs.
struct StrassenDense : LaneDense {
  explicit StrassenDense(const OpStep& step);

  int64_t matrix_floats() const { return half * kGemmDepth; }
  int64_t rest() const { return pairs * kPairTerms; }  ///< the first leftover term
  int64_t first_output(int64_t tile) const { return half * tile / tiles; }

  int64_t half;   ///< of the outputs
  int64_t tiles;  ///< of half the outputs
  int64_t pairs;  ///< of parts of the terms
};

/// Whether two halves with these largest magnitudes may be coupled; not if one is NaN.
bool may_couple(float a, float b, float most);

size_t strassen_weights_bytes(const StrassenDense& dense);

/// Sums of weights are taken in double and rounded once.
void pack_strassen_weights(const StrassenDense& dense, const float* b, void* packed, ThreadPool& threads);

/// What was packed.
class StrassenWeights {
 public:
  explicit StrassenWeights(const void* packed);

  /// Whether the halves' sizes are near enough to take their sums.
  bool coupled() const { return coupled_; }

  /// By pair, matrix, tile of outputs, term and output.
  const float* matrix(const StrassenDense& dense, int64_t pair, StrassenMatrix number) const {
    return floats_ + (pair * kStrassenMatrices + static_cast<int64_t>(number)) * dense.matrix_floats();
  }

  /// Of leftover terms: by part, half of the outputs, tile, term and output.
  const float* rest(const StrassenDense& dense) const { return matrix(dense, dense.pairs, StrassenMatrix::a11); }

 private:
  const float* floats_ = nullptr;
  bool coupled_ = false;
};

}  // namespace convlab
