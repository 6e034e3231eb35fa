// Classifies operators by what rounds in them.

#include "convlab/verify/ops/arithmetic.h"

#include <type_traits>

#include "convlab/base/overloaded.h"
#include "convlab/model/einsum.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

Arithmetic arithmetic_of_kind(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::abs:
    case UnaryKind::neg:
    case UnaryKind::sign:
    case UnaryKind::floor:
    case UnaryKind::ceil:
    case UnaryKind::round:
    case UnaryKind::truncate:
    case UnaryKind::to_bool:
    case UnaryKind::logical_not:
    case UnaryKind::is_nan:
    case UnaryKind::is_inf:
    case UnaryKind::thresholded_relu:
      return Arithmetic::exact;
    default:
      return Arithmetic::real;
  }
}

Arithmetic arithmetic_of_kind(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::divide:
    case BinaryKind::power:
      return Arithmetic::real;
    case BinaryKind::subtract:
    case BinaryKind::modulo:
    case BinaryKind::prelu:
      return Arithmetic::sums;
    default:
      return Arithmetic::exact;
  }
}

Arithmetic arithmetic_of_kind(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::l1:
    case ReduceKind::prod:
    case ReduceKind::sum_square:
      return Arithmetic::sums;
    case ReduceKind::mean:
      return Arithmetic::averages;
    case ReduceKind::max:
    case ReduceKind::min:
      return Arithmetic::exact;
    default:
      return Arithmetic::real;
  }
}

Arithmetic arithmetic_of_kind(ActivationKind kind) {
  const bool exact = kind == ActivationKind::none || kind == ActivationKind::relu || kind == ActivationKind::clip;
  return exact ? Arithmetic::exact : Arithmetic::real;
}

Arithmetic arithmetic_of_kind(ScatterReduction reduction) {
  const bool sums = reduction == ScatterReduction::add || reduction == ScatterReduction::mul;
  return sums ? Arithmetic::sums : Arithmetic::exact;
}

Arithmetic arithmetic_of_kind(SampleMode mode) {
  return mode == SampleMode::nearest ? Arithmetic::exact : Arithmetic::real;
}

}  // namespace

Arithmetic arithmetic_of(const Step& step) {
  return std::visit(
      Overloaded{
          [](const ActivationOp& op) { return arithmetic_of_kind(op.activation.kind); },
          [](const OneOf<UnaryOp, BinaryOp, ReduceOp> auto& op) { return arithmetic_of_kind(op.kind); },
          [](const OneOf<ResizeOp, GridSampleOp> auto& op) { return arithmetic_of_kind(op.mode); },
          [](const OneOf<ScatterElementsOp, ScatterNdOp> auto& op) { return arithmetic_of_kind(op.reduction); },
          [](const PoolOp& op) { return op.pool.kind == PoolKind::max ? Arithmetic::exact : Arithmetic::averages; },
          [](const LpPoolOp& op) { return op.p == 1 ? Arithmetic::sums : Arithmetic::real; },
          [](const OneOf<ConvOp, ConvTransposeOp, GemmOp, MatMulOp, EinsumOp> auto&) { return Arithmetic::product; },
          [](const OneOf<AddOp, MulOp, CumSumOp, DequantizeOp, ConvIntegerOp, MatMulIntegerOp> auto&) {
            return Arithmetic::sums;
          },
          [](const GlobalAveragePoolOp&) { return Arithmetic::averages; },
          [](const OneOf<LrnOp, BatchNormOp, NormalizeOp, LpNormalizeOp, SoftmaxOp, SqueezeExciteOp> auto&) {
            return Arithmetic::real;
          },
          [](const OneOf<QuantizeOp, QLinearConvOp, QLinearMatMulOp, ByteAddOp, ByteConvOp, ByteMeanOp, ByteConcatOp,
                         ScaleOp> auto&) { return Arithmetic::quantized; },
          [](const OneOf<MaxPoolIndicesOp, MaxUnpoolOp, RoundOp, WhereOp, ArgReduceOp, TopKOp, ConcatOp, FlattenOp,
                         ReshapeOp, SqueezeOp, UnsqueezeOp, TransposeOp, PadOp, SliceOp, ExpandOp, TileOp,
                         DepthToSpaceOp, SpaceToDepthOp, TriluOp, GatherOp, GatherElementsOp, GatherNdOp,
                         ArgMaxOp> auto&) { return Arithmetic::exact; },
      },
      static_cast<const AnyOp&>(step.op));
}

bool reads_integers(const Op& op) {
  return std::visit(
      []<class T>(const T&) {
        return OneOf<T, DequantizeOp, QLinearConvOp, ConvIntegerOp, QLinearMatMulOp, MatMulIntegerOp, ByteAddOp,
                     ByteConvOp, ByteMeanOp, ByteConcatOp, ScaleOp>;
      },
      static_cast<const AnyOp&>(op));
}

double product_terms(const Step& step) {
  const std::vector<Shape> shapes = shapes_of(step.inputs);
  const int64_t added = std::ssize(shapes) > 2 ? 1 : 0;
  const Shape &x = shapes[0], &w = shapes.size() > 1 ? shapes[1] : shapes[0];
  const int64_t terms =
      std::visit(Overloaded{
                     [&](const ConvOp&) { return w[1] * w[2] * w[3] + added; },
                     [&](const ConvTransposeOp& op) { return x[1] / op.groups * w[2] * w[3] + added; },
                     [&](const GemmOp& op) { return x[op.transpose_a ? 0 : 1] + added; },
                     [&](const MatMulOp&) { return x.back(); },
                     [&](const EinsumOp& op) {
                       const Einsum einsum = einsum_of(op.equation, shapes);
                       int64_t products = element_count(einsum.sizes);
                       for (const size_t index : einsum.output) products /= std::max<int64_t>(einsum.sizes[index], 1);
                       return products + std::ssize(shapes) - 2;  // each further factor rounds once more
                     },
                     [](const auto&) { return int64_t{1}; },
                 },
                 static_cast<const AnyOp&>(step.op));
  return static_cast<double>(terms);
}

}  // namespace convlab
