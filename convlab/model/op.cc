// Operators of a graph: construction, copies and ONNX names.

#include "convlab/model/op.h"

#include <iterator>
#include <type_traits>
#include <utility>

#include "convlab/base/overloaded.h"

namespace convlab {
namespace {

const char* name_of(ActivationKind kind) {
  constexpr const char* kNames[] = {"Identity", "Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "Swish", "HardSwish"};
  static_assert(std::size(kNames) == static_cast<size_t>(ActivationKind::hard_swish) + 1);
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(UnaryKind kind) {
  constexpr const char* kNames[] = {"Abs",        "Neg",      "Sign",
                                    "Reciprocal", "Sqrt",     "Exp",
                                    "Log",        "Erf",      "Floor",
                                    "Ceil",       "Round",    "Cast",
                                    "Cast",       "Not",      "IsNaN",
                                    "IsInf",      "Sin",      "Cos",
                                    "Tan",        "Asin",     "Acos",
                                    "Atan",       "Sinh",     "Cosh",
                                    "Asinh",      "Acosh",    "Atanh",
                                    "Softplus",   "Softsign", "Elu",
                                    "Selu",       "Celu",     "HardSigmoid",
                                    "HardSwish",  "Mish",     "Swish",
                                    "Gelu",       "Gelu",     "ThresholdedRelu",
                                    "Shrink"};
  static_assert(std::size(kNames) == static_cast<size_t>(UnaryKind::shrink) + 1);
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(BinaryKind kind) {
  constexpr const char* kNames[] = {
      "Sub",  "Div",         "Min", "Max", "Pow", "Mod",  "Mod", "Equal", "Greater", "GreaterOrEqual",
      "Less", "LessOrEqual", "And", "Or",  "Xor", "PRelu"};
  static_assert(std::size(kNames) == static_cast<size_t>(BinaryKind::prelu) + 1);
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of(ReduceKind kind) {
  constexpr const char* kNames[] = {"ReduceSum", "ReduceMean", "ReduceMax",    "ReduceMin",       "ReduceProd",
                                    "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
  static_assert(std::size(kNames) == static_cast<size_t>(ReduceKind::sum_square) + 1);
  return kNames[static_cast<size_t>(kind)];
}

const char* name_of_normalization(const NormalizeOp& op) {
  if (!op.center) return "RMSNormalization";
  return op.groups == 0 ? "LayerNormalization" : "GroupNormalization";
}

/// Moves the operator at `from` to `to`; `place` is its index among the operators.
template <size_t... kPlaces>
void move_op(size_t place, void* from, AnyOp& to, std::index_sequence<kPlaces...>) {
  const auto move_if = [&]<size_t kPlace>(std::integral_constant<size_t, kPlace>) {
    if (place == kPlace) to.emplace<kPlace>(std::move(*static_cast<std::variant_alternative_t<kPlace, AnyOp>*>(from)));
  };
  (move_if(std::integral_constant<size_t, kPlaces>()), ...);
}

}  // namespace

Op::Op() = default;
Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;
Op::~Op() = default;

Op::Op(size_t place, void* op) { move_op(place, op, *this, std::make_index_sequence<std::variant_size_v<AnyOp>>()); }

std::string name_of(const Op& op) {
  return std::visit(Overloaded{
                        [](const ConvOp&) { return "Conv"; },
                        [](const ConvTransposeOp&) { return "ConvTranspose"; },
                        [](const PoolOp& o) { return o.pool.kind == PoolKind::max ? "MaxPool" : "AveragePool"; },
                        [](const MaxPoolIndicesOp&) { return "MaxPool"; },
                        [](const MaxUnpoolOp&) { return "MaxUnpool"; },
                        [](const LpPoolOp&) { return "LpPool"; },
                        [](const GlobalAveragePoolOp&) { return "GlobalAveragePool"; },
                        [](const LrnOp&) { return "LRN"; },
                        [](const ResizeOp&) { return "Resize"; },
                        [](const GridSampleOp&) { return "GridSample"; },
                        [](const ActivationOp& o) { return name_of(o.activation.kind); },
                        [](const UnaryOp& o) { return name_of(o.kind); },
                        [](const RoundOp&) { return "Cast"; },
                        [](const AddOp&) { return "Add"; },
                        [](const MulOp&) { return "Mul"; },
                        [](const BinaryOp& o) { return name_of(o.kind); },
                        [](const WhereOp&) { return "Where"; },
                        [](const BatchNormOp&) { return "BatchNormalization"; },
                        [](const NormalizeOp& o) { return name_of_normalization(o); },
                        [](const LpNormalizeOp&) { return "LpNormalization"; },
                        [](const SoftmaxOp& o) { return o.log ? "LogSoftmax" : "Softmax"; },
                        [](const ReduceOp& o) { return name_of(o.kind); },
                        [](const ArgReduceOp& o) { return o.largest ? "ArgMax" : "ArgMin"; },
                        [](const TopKOp&) { return "TopK"; },
                        [](const CumSumOp&) { return "CumSum"; },
                        [](const GemmOp&) { return "Gemm"; },
                        [](const MatMulOp&) { return "MatMul"; },
                        [](const EinsumOp&) { return "Einsum"; },
                        [](const ConcatOp&) { return "Concat"; },
                        [](const FlattenOp&) { return "Flatten"; },
                        [](const ReshapeOp&) { return "Reshape"; },
                        [](const SqueezeOp&) { return "Squeeze"; },
                        [](const UnsqueezeOp&) { return "Unsqueeze"; },
                        [](const TransposeOp&) { return "Transpose"; },
                        [](const PadOp&) { return "Pad"; },
                        [](const SliceOp&) { return "Slice"; },
                        [](const ExpandOp&) { return "Expand"; },
                        [](const TileOp&) { return "Tile"; },
                        [](const DepthToSpaceOp&) { return "DepthToSpace"; },
                        [](const SpaceToDepthOp&) { return "SpaceToDepth"; },
                        [](const TriluOp&) { return "Trilu"; },
                        [](const GatherOp&) { return "Gather"; },
                        [](const GatherElementsOp&) { return "GatherElements"; },
                        [](const GatherNdOp&) { return "GatherND"; },
                        [](const ScatterElementsOp&) { return "ScatterElements"; },
                        [](const ScatterNdOp&) { return "ScatterND"; },
                        [](const QuantizeOp&) { return "QuantizeLinear"; },
                        [](const DequantizeOp&) { return "DequantizeLinear"; },
                        [](const QLinearConvOp&) { return "QLinearConv"; },
                        [](const ConvIntegerOp&) { return "ConvInteger"; },
                        [](const QLinearMatMulOp&) { return "QLinearMatMul"; },
                        [](const MatMulIntegerOp&) { return "MatMulInteger"; },
                        [](const ByteAddOp&) { return "QLinearAdd"; },
                        [](const ByteConvOp& o) { return o.adds ? "QLinearConv+add" : "QLinearConv"; },
                        [](const ByteMeanOp&) { return "QLinearGlobalAveragePool"; },
                        [](const ByteConcatOp&) { return "QLinearConcat"; },
                        [](const ScaleOp&) { return "Scale"; },
                        [](const SqueezeExciteOp&) { return "SqueezeExcite"; },
                        [](const ArgMaxOp&) { return "ArgMax"; },
                    },
                    op);
}

}  // namespace convlab
