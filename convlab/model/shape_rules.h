#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/model/op.h"

namespace convlab {

// Shared by shapes.cc and the other shapes_*.cc: output_shape() by operator, without the checks that all operators have
// in common, and helper checks. The number of inputs has been checked.

using Shapes = std::span<const Shape>;

/// Bounds strides, kernels and paddings so that sums of a few of them stay exact; ConvProblem has the same limit.
inline constexpr int64_t kMostSize = int64_t{1} << 31;

void check_range(const char* name, int64_t value, int64_t least);
void check_image(const Shape& x);
void check_rank(const Shape& x, size_t least);
void check_vector(const char* name, const Shape& shape, int64_t count);

/// Throws unless the shape broadcasts to `y` without making it larger.
void check_broadcasts(const char* name, const Shape& shape, const Shape& y);

/// Whether the shape has one element, as a scalar or in one dimension.
bool is_single(const Shape& shape);

/// Returns which of `rank` dimensions the axes name. Throws if they name one twice.
std::vector<bool> marked(const std::vector<int64_t>& axes, int64_t rank);

// shapes_window.cc
Shape shape_of(const ConvOp& op, Shapes inputs);
Shape shape_of(const ConvTransposeOp& op, Shapes inputs);
Shape shape_of(const PoolOp& op, Shapes inputs);
Shape shape_of(const MaxPoolIndicesOp& op, Shapes inputs);
Shape shape_of(const MaxUnpoolOp& op, Shapes inputs);
Shape shape_of(const LpPoolOp& op, Shapes inputs);
Shape shape_of(const GlobalAveragePoolOp& op, Shapes inputs);
Shape shape_of(const ScaleOp& op, Shapes inputs);

// shapes_sample.cc
Shape shape_of(const ResizeOp& op, Shapes inputs);
Shape shape_of(const GridSampleOp& op, Shapes inputs);

// shapes_along.cc
Shape shape_of(const BatchNormOp& op, Shapes inputs);
Shape shape_of(const NormalizeOp& op, Shapes inputs);
Shape shape_of(const LpNormalizeOp& op, Shapes inputs);
Shape shape_of(const LrnOp& op, Shapes inputs);
Shape shape_of(const SoftmaxOp& op, Shapes inputs);
Shape shape_of(const ReduceOp& op, Shapes inputs);
Shape shape_of(const ArgReduceOp& op, Shapes inputs);
Shape shape_of(const TopKOp& op, Shapes inputs);
Shape shape_of(const CumSumOp& op, Shapes inputs);
Shape shape_of(const SqueezeExciteOp& op, Shapes inputs);
Shape shape_of(const ArgMaxOp& op, Shapes inputs);

// shapes_product.cc
Shape shape_of(const GemmOp& op, Shapes inputs);
Shape shape_of(const MatMulOp& op, Shapes inputs);
Shape shape_of(const EinsumOp& op, Shapes inputs);

// shapes_reshape.cc
Shape shape_of(const ConcatOp& op, Shapes inputs);
Shape shape_of(const FlattenOp& op, Shapes inputs);
Shape shape_of(const ReshapeOp& op, Shapes inputs);
Shape shape_of(const SqueezeOp& op, Shapes inputs);
Shape shape_of(const UnsqueezeOp& op, Shapes inputs);
Shape shape_of(const TransposeOp& op, Shapes inputs);

// shapes_rearrange.cc
Shape shape_of(const PadOp& op, Shapes inputs);
Shape shape_of(const SliceOp& op, Shapes inputs);
Shape shape_of(const ExpandOp& op, Shapes inputs);
Shape shape_of(const TileOp& op, Shapes inputs);
Shape shape_of(const DepthToSpaceOp& op, Shapes inputs);
Shape shape_of(const SpaceToDepthOp& op, Shapes inputs);
Shape shape_of(const TriluOp& op, Shapes inputs);

// shapes_gather.cc
Shape shape_of(const GatherOp& op, Shapes inputs);
Shape shape_of(const GatherElementsOp& op, Shapes inputs);
Shape shape_of(const GatherNdOp& op, Shapes inputs);
Shape shape_of(const ScatterElementsOp& op, Shapes inputs);
Shape shape_of(const ScatterNdOp& op, Shapes inputs);

// shapes_quantized.cc
Shape shape_of(const QuantizeOp& op, Shapes inputs);
Shape shape_of(const DequantizeOp& op, Shapes inputs);
Shape shape_of(const QLinearConvOp& op, Shapes inputs);
Shape shape_of(const ConvIntegerOp& op, Shapes inputs);
Shape shape_of(const QLinearMatMulOp& op, Shapes inputs);
Shape shape_of(const MatMulIntegerOp& op, Shapes inputs);
Shape shape_of(const ByteAddOp& op, Shapes inputs);
Shape shape_of(const ByteConvOp& op, Shapes inputs);
Shape shape_of(const ByteMeanOp& op, Shapes inputs);
Shape shape_of(const ByteConcatOp& op, Shapes inputs);

}  // namespace convlab
