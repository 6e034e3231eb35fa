#pragma once

#include "convlab/verify/ops/reference.h"

namespace convlab::op_oracle {

// Direct computations in double, one function per operator: the values of its output in row-major order. They share no
// code with kernels.

// elementwise.cc
Values reference(const ActivationOp& op, const Operands& operands);
Values reference(const UnaryOp& op, const Operands& operands);
Values reference(const RoundOp& op, const Operands& operands);
Values reference(const AddOp& op, const Operands& operands);
Values reference(const MulOp& op, const Operands& operands);
Values reference(const BinaryOp& op, const Operands& operands);
Values reference(const WhereOp& op, const Operands& operands);

// normalize.cc
Values reference(const BatchNormOp& op, const Operands& operands);
Values reference(const NormalizeOp& op, const Operands& operands);
Values reference(const LpNormalizeOp& op, const Operands& operands);
Values reference(const LrnOp& op, const Operands& operands);
Values reference(const SoftmaxOp& op, const Operands& operands);

// along_axes.cc
Values reference(const ReduceOp& op, const Operands& operands);
Values reference(const ArgReduceOp& op, const Operands& operands);
Values reference(const TopKOp& op, const Operands& operands);
Values reference(const CumSumOp& op, const Operands& operands);

// windows.cc
Values reference(const PoolOp& op, const Operands& operands);
Values reference(const MaxPoolIndicesOp& op, const Operands& operands);
Values reference(const MaxUnpoolOp& op, const Operands& operands);
Values reference(const LpPoolOp& op, const Operands& operands);
Values reference(const GlobalAveragePoolOp& op, const Operands& operands);

// sampling.cc
Values reference(const ResizeOp& op, const Operands& operands);
Values reference(const GridSampleOp& op, const Operands& operands);

// products.cc
Values reference(const ConvOp& op, const Operands& operands);
Values reference(const ConvTransposeOp& op, const Operands& operands);
Values reference(const GemmOp& op, const Operands& operands);
Values reference(const MatMulOp& op, const Operands& operands);
Values reference(const EinsumOp& op, const Operands& operands);

// rearrange.cc
Values reference(const ConcatOp& op, const Operands& operands);
Values reference(const FlattenOp& op, const Operands& operands);
Values reference(const ReshapeOp& op, const Operands& operands);
Values reference(const SqueezeOp& op, const Operands& operands);
Values reference(const UnsqueezeOp& op, const Operands& operands);
Values reference(const TransposeOp& op, const Operands& operands);
Values reference(const PadOp& op, const Operands& operands);
Values reference(const SliceOp& op, const Operands& operands);
Values reference(const ExpandOp& op, const Operands& operands);
Values reference(const TileOp& op, const Operands& operands);
Values reference(const DepthToSpaceOp& op, const Operands& operands);
Values reference(const SpaceToDepthOp& op, const Operands& operands);
Values reference(const TriluOp& op, const Operands& operands);

// gather.cc
Values reference(const GatherOp& op, const Operands& operands);
Values reference(const GatherElementsOp& op, const Operands& operands);
Values reference(const GatherNdOp& op, const Operands& operands);
Values reference(const ScatterElementsOp& op, const Operands& operands);
Values reference(const ScatterNdOp& op, const Operands& operands);

// quantized.cc
Values reference(const QuantizeOp& op, const Operands& operands);
Values reference(const DequantizeOp& op, const Operands& operands);
Values reference(const QLinearConvOp& op, const Operands& operands);
Values reference(const ConvIntegerOp& op, const Operands& operands);
Values reference(const QLinearMatMulOp& op, const Operands& operands);
Values reference(const MatMulIntegerOp& op, const Operands& operands);
Values reference(const ByteAddOp& op, const Operands& operands);
Values reference(const ByteConvOp& op, const Operands& operands);
Values reference(const ByteMeanOp& op, const Operands& operands);
Values reference(const ByteConcatOp& op, const Operands& operands);

// plan_only.cc
Values reference(const ScaleOp& op, const Operands& operands);
Values reference(const SqueezeExciteOp& op, const Operands& operands);
Values reference(const ArgMaxOp& op, const Operands& operands);

/// Returns the activation of a value, with the error of both. See elementwise.cc.
Bounded activated(const Activation& activation, const Bounded& x);

/// Returns the value rounded to nearest even in fp16 (binary16) or bfloat16.
double rounded_to_f16(double value);
double rounded_to_bf16(double value);

/// Convolution sums of x (N C H W) and w (K C/groups R S), each less a zero point; padding equals x's. `w_zeros` is
/// null, or has one or K elements.
std::vector<Sum> convolution_sums(const ConvOp& op, const Array& x, double x_zero, const Array& w,
                                  const Array* w_zeros);

/// The sums of NumPy's matmul, with zero points subtracted: null, one, or one per row of a or column of b. `row` and
/// `column` count within a matrix.
struct MatrixSum {
  Sum sum;
  int64_t row = 0, column = 0;
};
std::vector<MatrixSum> matmul_sums(const Array& a, const Array& b, const Shape& output, const Array* a_zeros,
                                   const Array* b_zeros);

}  // namespace convlab::op_oracle
