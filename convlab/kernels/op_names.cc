// Operators' names in problem texts.

#include "convlab/kernels/op_names.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace convlab {
namespace {

Op activation(ActivationKind kind, float alpha = 0, float beta = 0) { return ActivationOp{{kind, alpha, beta}}; }
Op pool(PoolKind kind) { return PoolOp{.pool = {.kind = kind}}; }

Op unary(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::is_inf:
      return UnaryOp{kind, 1, 1};
    case UnaryKind::elu:
    case UnaryKind::celu:
    case UnaryKind::swish:
    case UnaryKind::thresholded_relu:
      return UnaryOp{kind, 1};
    case UnaryKind::selu:
      return UnaryOp{kind, 1.67326319217681884765625f, 1.05070102214813232421875f};
    case UnaryKind::hard_sigmoid:
      return UnaryOp{kind, 0.2f, 0.5f};
    case UnaryKind::shrink:
      return UnaryOp{kind, 0.5f};
    default:
      return UnaryOp{kind};
  }
}

/// Attributes that a text omits have ONNX's default values.
std::vector<NamedOp> make_named_ops() {
  using Real = std::numeric_limits<float>;
  std::vector<NamedOp> all{
      {"conv", ConvOp{}, &kConvLetters},
      {"convtranspose", ConvTransposeOp{}, &kConvTransposeLetters},
      {"maxpool", pool(PoolKind::max), &kImageLetters},
      {"avgpool", pool(PoolKind::average), &kImageLetters},
      {"maxpoolindices", MaxPoolIndicesOp{}, &kImageLetters},
      {"maxunpool", MaxUnpoolOp{}, &kTwoImagesLetters},
      {"lppool", LpPoolOp{}, &kImageLetters},
      {"globalavgpool", GlobalAveragePoolOp{}, &kImageLetters},
      {"lrn", LrnOp{}, &kImageLetters},
      {"resize", ResizeOp{}, &kImageLetters},
      {"gridsample", GridSampleOp{}},

      {"identity", activation(ActivationKind::none)},
      {"relu", activation(ActivationKind::relu)},
      {"leakyrelu", activation(ActivationKind::leaky_relu, 0.01f)},
      {"clip", activation(ActivationKind::clip, Real::lowest(), Real::max())},
      {"sigmoid", activation(ActivationKind::sigmoid)},
      {"tanh", activation(ActivationKind::tanh)},
      {"castfp16", RoundOp{}},
      {"castbf16", RoundOp{.brain = true}},
      {"add", AddOp{}},
      {"mul", MulOp{}},
      {"where", WhereOp{}},

      {"batchnorm", BatchNormOp{}, &kBatchNormLetters},
      {"groupnorm", NormalizeOp{.groups = 1}, &kGroupNormLetters},
      {"layernorm", NormalizeOp{}, &kNormalizedRowLetters},
      {"rmsnorm", NormalizeOp{.center = false}, &kNormalizedRowLetters},
      {"lpnorm", LpNormalizeOp{}},
      {"softmax", SoftmaxOp{}, &kRowLetters},
      {"logsoftmax", SoftmaxOp{.log = true}, &kRowLetters},

      {"argmax", ArgReduceOp{}},
      {"argmin", ArgReduceOp{.largest = false}},
      {"topk", TopKOp{}},
      {"cumsum", CumSumOp{}},

      {"gemm", GemmOp{}, &kGemmLetters},
      {"matmul", MatMulOp{}, &kMatMulLetters},
      {"einsum", EinsumOp{}},

      {"concat", ConcatOp{}},
      {"flatten", FlattenOp{}},
      {"reshape", ReshapeOp{}},
      {"squeeze", SqueezeOp{}},
      {"unsqueeze", UnsqueezeOp{}},
      {"transpose", TransposeOp{}},
      {"pad", PadOp{}},
      {"slice", SliceOp{}},
      {"expand", ExpandOp{}},
      {"tile", TileOp{}},
      {"depthtospace", DepthToSpaceOp{}, &kImageLetters},
      {"spacetodepth", SpaceToDepthOp{}, &kImageLetters},
      {"trilu", TriluOp{}},

      {"gather", GatherOp{}},
      {"gatherelements", GatherElementsOp{}},
      {"gathernd", GatherNdOp{}},
      {"scatterelements", ScatterElementsOp{}},
      {"scatternd", ScatterNdOp{}},

      {"quantizelinear", QuantizeOp{}},
      {"dequantizelinear", DequantizeOp{}},
      {"qlinearconv", QLinearConvOp{}, &kQLinearConvLetters},
      {"convinteger", ConvIntegerOp{}, &kConvIntegerLetters},
      {"qlinearmatmul", QLinearMatMulOp{}, &kQLinearMatMulLetters},
      {"matmulinteger", MatMulIntegerOp{}, &kMatMulIntegerLetters},

      {"byteadd", ByteAddOp{}, nullptr, true},
      {"byteconv", ByteConvOp{}, &kByteConvLetters, true},
      {"bytemean", ByteMeanOp{}, &kImageLetters, true},
      {"byteconcat", ByteConcatOp{}, nullptr, true},
      {"scale", ScaleOp{}, &kImageLetters, true},
      {"squeezeexcite", SqueezeExciteOp{}, &kSqueezeExciteLetters, true},
      {"labels", ArgMaxOp{}, nullptr, true},
  };

  const std::string_view unaries[] = {"abs",        "neg",      "sign",
                                      "reciprocal", "sqrt",     "exp",
                                      "log",        "erf",      "floor",
                                      "ceil",       "round",    "castint",
                                      "castbool",   "not",      "isnan",
                                      "isinf",      "sin",      "cos",
                                      "tan",        "asin",     "acos",
                                      "atan",       "sinh",     "cosh",
                                      "asinh",      "acosh",    "atanh",
                                      "softplus",   "softsign", "elu",
                                      "selu",       "celu",     "hardsigmoid",
                                      "hardswish",  "mish",     "swish",
                                      "gelu",       "gelutanh", "thresholdedrelu",
                                      "shrink"};
  static_assert(std::size(unaries) == static_cast<size_t>(UnaryKind::shrink) + 1);
  for (size_t i = 0; i < std::size(unaries); ++i) {
    all.push_back({unaries[i], unary(static_cast<UnaryKind>(i))});
  }

  const std::string_view binaries[] = {
      "sub",  "div",         "min", "max", "pow", "mod",  "fmod", "equal", "greater", "greaterorequal",
      "less", "lessorequal", "and", "or",  "xor", "prelu"};
  static_assert(std::size(binaries) == static_cast<size_t>(BinaryKind::prelu) + 1);
  for (size_t i = 0; i < std::size(binaries); ++i) all.push_back({binaries[i], BinaryOp{static_cast<BinaryKind>(i)}});

  const std::string_view reductions[] = {"reducesum",       "reducemean",     "reducemax", "reducemin",
                                         "reduceprod",      "reducel1",       "reducel2",  "reducelogsum",
                                         "reducelogsumexp", "reducesumsquare"};
  static_assert(std::size(reductions) == static_cast<size_t>(ReduceKind::sum_square) + 1);
  for (size_t i = 0; i < std::size(reductions); ++i) {
    all.push_back({reductions[i], ReduceOp{.kind = static_cast<ReduceKind>(i)}});
  }
  return all;
}

std::string lower(std::string text) {
  for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return text;
}

}  // namespace

std::span<const NamedOp> named_ops() {
  static const std::vector<NamedOp> all = make_named_ops();
  return all;
}

const NamedOp* find_named_op(std::string_view name) {
  const std::span<const NamedOp> all = named_ops();
  auto found = std::find_if(all.begin(), all.end(), [&](const NamedOp& each) { return each.name == name; });
  if (found == all.end()) {
    found = std::find_if(all.begin(), all.end(), [&](const NamedOp& each) { return lower(name_of(each.op)) == name; });
  }
  return found == all.end() ? nullptr : &*found;
}

}  // namespace convlab
