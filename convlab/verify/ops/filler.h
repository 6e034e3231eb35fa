#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/step.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/fills.h"

namespace convlab::op_fill {

/// Fills the inputs of one step.
class Filler {
 public:
  Filler(const Step& step, Fill fill, uint64_t seed, Math math);

  const Step& step() const { return step_; }
  size_t count() const { return tensors_.size(); }
  const Shape& shape(size_t input) const { return step_.inputs[input].shape; }
  std::span<float> elements(size_t input) { return tensors_[input].values<float>(); }
  bool integers() const { return fill_ == Fill::integers; }
  Rng& rng() { return rng_; }

  /// The largest integer that the operands and the output hold without gaps.
  int64_t largest_operand() const { return largest_operand_; }
  /// The largest sum that stays exact, and may be the output.
  int64_t largest_sum() const { return largest_sum_; }
  /// The same for an average, which divides before it rounds to the output's type.
  int64_t largest_accumulated() const { return largest_accumulated_; }

  void reals(size_t input, float low, float high);
  /// Reals of either sign with magnitudes between these.
  void signed_reals(size_t input, float low, float high);
  /// Integers, bounded by the largest that the operand's type holds.
  void integers(size_t input, int64_t low, int64_t high);
  /// Integers up to `bound` with that fill, otherwise reals from `low` to `high`.
  void numbers(size_t input, int64_t bound, float low = -2, float high = 2);
  /// Integers up to kTies with that fill, so that many are equal, otherwise reals.
  void ties(size_t input);
  /// Sets one element to a value.
  void set(size_t input, size_t at, float value) { elements(input)[at] = value; }

  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  const Step& step_;
  Fill fill_;
  Rng rng_;
  std::vector<Tensor> tensors_;
  int64_t largest_operand_ = 0, largest_sum_ = 0, largest_accumulated_ = 0;
};

inline constexpr int64_t kMostInteger = 1000, kTies = 3;

// Each function fills all inputs of its operator. fill_numbers.cc has operators on numbers, fill_integers.cc those with
// indices or quantized values.

void fill(const ActivationOp& op, Filler& filler);
void fill(const UnaryOp& op, Filler& filler);
void fill(const RoundOp& op, Filler& filler);
void fill(const AddOp& op, Filler& filler);
void fill(const MulOp& op, Filler& filler);
void fill(const BinaryOp& op, Filler& filler);
void fill(const WhereOp& op, Filler& filler);
void fill(const BatchNormOp& op, Filler& filler);
void fill(const NormalizeOp& op, Filler& filler);
void fill(const ReduceOp& op, Filler& filler);
void fill(const CumSumOp& op, Filler& filler);
void fill(const PoolOp& op, Filler& filler);
void fill(const GlobalAveragePoolOp& op, Filler& filler);
void fill(const LpPoolOp& op, Filler& filler);
void fill(const GridSampleOp& op, Filler& filler);
void fill(const SqueezeExciteOp& op, Filler& filler);
void fill(const EinsumOp& op, Filler& filler);
void fill_product(const Step& step, Filler& filler);

void fill(const MaxUnpoolOp& op, Filler& filler);
void fill(const GatherOp& op, Filler& filler);
void fill(const GatherElementsOp& op, Filler& filler);
void fill(const GatherNdOp& op, Filler& filler);
void fill(const ScatterElementsOp& op, Filler& filler);
void fill(const ScatterNdOp& op, Filler& filler);
void fill(const QuantizeOp& op, Filler& filler);
void fill(const DequantizeOp& op, Filler& filler);
void fill(const QLinearConvOp& op, Filler& filler);
void fill(const ConvIntegerOp& op, Filler& filler);
void fill(const QLinearMatMulOp& op, Filler& filler);
void fill(const MatMulIntegerOp& op, Filler& filler);
void fill(const ByteAddOp& op, Filler& filler);
void fill(const ByteConvOp& op, Filler& filler);

}  // namespace convlab::op_fill
