#pragma once

#include "convlab/model/onnx/writing/onnx_writer.h"

namespace convlab {

/// Writes a node of the graph. Throws Error(bad_input) that names the node if ONNX cannot express it.
void write_onnx(OnnxWriter& writer, const Node& node);

/// Write what an operator needs besides its name and operands: attributes, further inputs, types other than float32,
/// the opset. One overload per operator, by topic. Throw Error(bad_input) with only the reason.
// Convolution, pooling and sampling.
void write(OnnxNodeWriter& node, const ConvOp& op);
void write(OnnxNodeWriter& node, const ConvTransposeOp& op);
void write(OnnxNodeWriter& node, const PoolOp& op);
void write(OnnxNodeWriter& node, const MaxPoolIndicesOp& op);
void write(OnnxNodeWriter& node, const MaxUnpoolOp& op);
void write(OnnxNodeWriter& node, const LpPoolOp& op);
void write(OnnxNodeWriter& node, const GlobalAveragePoolOp& op);
void write(OnnxNodeWriter& node, const LrnOp& op);
void write(OnnxNodeWriter& node, const ResizeOp& op);
void write(OnnxNodeWriter& node, const GridSampleOp& op);
// Elementwise.
void write(OnnxNodeWriter& node, const ActivationOp& op);
void write(OnnxNodeWriter& node, const UnaryOp& op);
void write(OnnxNodeWriter& node, const RoundOp& op);
void write(OnnxNodeWriter& node, const AddOp& op);
void write(OnnxNodeWriter& node, const MulOp& op);
void write(OnnxNodeWriter& node, const BinaryOp& op);
void write(OnnxNodeWriter& node, const WhereOp& op);
// Along axes, normalization and matrix products.
void write(OnnxNodeWriter& node, const BatchNormOp& op);
void write(OnnxNodeWriter& node, const NormalizeOp& op);
void write(OnnxNodeWriter& node, const LpNormalizeOp& op);
void write(OnnxNodeWriter& node, const SoftmaxOp& op);
void write(OnnxNodeWriter& node, const ReduceOp& op);
void write(OnnxNodeWriter& node, const ArgReduceOp& op);
void write(OnnxNodeWriter& node, const TopKOp& op);
void write(OnnxNodeWriter& node, const CumSumOp& op);
void write(OnnxNodeWriter& node, const GemmOp& op);
void write(OnnxNodeWriter& node, const MatMulOp& op);
void write(OnnxNodeWriter& node, const EinsumOp& op);
// Rearrangements, gather and scatter.
void write(OnnxNodeWriter& node, const ConcatOp& op);
void write(OnnxNodeWriter& node, const FlattenOp& op);
void write(OnnxNodeWriter& node, const ReshapeOp& op);
void write(OnnxNodeWriter& node, const SqueezeOp& op);
void write(OnnxNodeWriter& node, const UnsqueezeOp& op);
void write(OnnxNodeWriter& node, const TransposeOp& op);
void write(OnnxNodeWriter& node, const PadOp& op);
void write(OnnxNodeWriter& node, const SliceOp& op);
void write(OnnxNodeWriter& node, const ExpandOp& op);
void write(OnnxNodeWriter& node, const TileOp& op);
void write(OnnxNodeWriter& node, const DepthToSpaceOp& op);
void write(OnnxNodeWriter& node, const SpaceToDepthOp& op);
void write(OnnxNodeWriter& node, const TriluOp& op);
void write(OnnxNodeWriter& node, const GatherOp& op);
void write(OnnxNodeWriter& node, const GatherElementsOp& op);
void write(OnnxNodeWriter& node, const GatherNdOp& op);
void write(OnnxNodeWriter& node, const ScatterElementsOp& op);
void write(OnnxNodeWriter& node, const ScatterNdOp& op);
// Quantized.
void write(OnnxNodeWriter& node, const QuantizeOp& op);
void write(OnnxNodeWriter& node, const DequantizeOp& op);
void write(OnnxNodeWriter& node, const QLinearConvOp& op);
void write(OnnxNodeWriter& node, const ConvIntegerOp& op);
void write(OnnxNodeWriter& node, const QLinearMatMulOp& op);
void write(OnnxNodeWriter& node, const MatMulIntegerOp& op);
// The engine's own.
void write(OnnxNodeWriter& node, const ByteAddOp& op);
void write(OnnxNodeWriter& node, const ByteConvOp& op);
void write(OnnxNodeWriter& node, const ByteMeanOp& op);
void write(OnnxNodeWriter& node, const ByteConcatOp& op);
void write(OnnxNodeWriter& node, const ScaleOp& op);
void write(OnnxNodeWriter& node, const SqueezeExciteOp& op);
void write(OnnxNodeWriter& node, const ArgMaxOp& op);

/// Writes the attributes of a convolution, which quantized convolutions share.
void write_conv(OnnxNodeWriter& node, const ConvOp& op);

}  // namespace convlab
