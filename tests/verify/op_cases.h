#pragma once

// Steps of every operator, for tests of their reference results and kernels.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/model/shapes.h"

namespace convlab {

struct OpCase {
  std::string name;
  Step step;
};

/// Returns a step of row-major float32 arrays; inputs from `constants` on are constant.
inline Step plain_step(const Op& op, const std::vector<Shape>& inputs, size_t constants = 99) {
  Step step{.op = op, .inputs = {}, .outputs = {}, .epilogue = {}};
  for (size_t i = 0; i < inputs.size(); ++i) step.inputs.push_back({.shape = inputs[i], .constant = i >= constants});
  step.outputs.push_back({.shape = output_shape(op, inputs)});
  return step;
}

/// Sets the format of the first `images` inputs and of the output.
inline Step in_format(Step step, Format input, Format output, size_t images = 1) {
  for (size_t i = 0; i < images; ++i) step.inputs[i].format = input, step.inputs[i].written = step.inputs[i].shape;
  step.outputs[0].format = output;
  return step;
}

inline Step with_activation(Step step, const Activation& activation) {
  step.epilogue.activation = activation;
  return step;
}

inline std::vector<OpCase> elementwise_cases() {
  std::vector<OpCase> cases;
  const Shape x{2, 3, 5, 7};
  for (int kind = 0; kind <= static_cast<int>(ActivationKind::hard_swish); ++kind) {
    const Activation activation{static_cast<ActivationKind>(kind), kind == 3 ? -0.5f : 0.2f, 1.5f};
    cases.push_back({fmt::format("activation {}", kind), plain_step(ActivationOp{activation}, {x})});
  }
  for (int kind = 0; kind <= static_cast<int>(UnaryKind::shrink); ++kind) {
    const UnaryOp op{static_cast<UnaryKind>(kind), kind == 40 ? 0.5f : 1.25f, 0.75f};
    cases.push_back({fmt::format("unary {}", kind), plain_step(op, {x})});
  }
  for (const float alpha : {-0.3f, -1.5f}) {
    cases.push_back({"celu of negative alpha", plain_step(UnaryOp{UnaryKind::celu, alpha}, {x})});
  }
  for (int kind = 0; kind <= static_cast<int>(BinaryKind::prelu); ++kind) {
    const BinaryOp op{static_cast<BinaryKind>(kind)};
    cases.push_back({fmt::format("binary {}", kind), plain_step(op, {x, x})});
    cases.push_back({fmt::format("binary {} broadcast", kind), plain_step(op, {x, {3, 1, 1}}, 1)});
  }
  for (const bool brain : {false, true}) cases.push_back({"round", plain_step(RoundOp{brain}, {x})});
  cases.push_back({"add", plain_step(AddOp{}, {x, {5, 1}})});
  cases.push_back({"add of a channel", plain_step(AddOp{}, {{3, 1, 1}, x})});
  cases.push_back({"mul", plain_step(MulOp{}, {{2, 1, 5, 7}, {3, 1, 7}})});
  cases.push_back({"where", plain_step(WhereOp{}, {{5, 1}, x, {7}})});
  return cases;
}

inline std::vector<OpCase> along_cases() {
  std::vector<OpCase> cases;
  const Shape x{2, 6, 5, 7};
  cases.push_back({"batch_norm", plain_step(BatchNormOp{}, {x, {6}, {6}, {6}, {6}}, 1)});
  cases.push_back({"batch_norm of rows", plain_step(BatchNormOp{1e-3f}, {{9, 6}, {6}, {6}, {6}, {6}}, 1)});
  for (const bool center : {false, true}) {
    cases.push_back({"layer norm", plain_step(NormalizeOp{.axis = -1, .center = center}, {x, {7}, {7}})});
    cases.push_back({"layer norm of maps", plain_step(NormalizeOp{.axis = 1, .center = center}, {x, {5, 7}})});
  }
  for (const int64_t groups : {1, 3, 6}) {
    cases.push_back({"group norm", plain_step(NormalizeOp{.groups = groups}, {x, {6}, {6}})});
  }
  for (const NormalizePart part : {NormalizePart::mean, NormalizePart::inverse_deviation}) {
    cases.push_back({"layer norm's part", plain_step(NormalizeOp{.axis = 2, .part = part}, {x})});
  }
  for (const int64_t p : {1, 2}) cases.push_back({"lp_normalize", plain_step(LpNormalizeOp{1, p}, {x})});
  for (const int64_t size : {1, 4, 5}) {
    cases.push_back({"lrn", plain_step(LrnOp{.alpha = 0.1f, .size = size}, {x})});
  }
  for (const bool log : {false, true}) {
    cases.push_back({"softmax", plain_step(SoftmaxOp{1, log}, {x})});
    cases.push_back({"softmax, last", plain_step(SoftmaxOp{-1, log}, {{3, 1000}})});
    cases.push_back({"softmax, flattened", plain_step(SoftmaxOp{1, log, true}, {x})});
  }
  for (int kind = 0; kind <= static_cast<int>(ReduceKind::sum_square); ++kind) {
    const auto reduce = static_cast<ReduceKind>(kind);
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1}, {-1}, {0, 2}, {2, 3}, {}}) {
      cases.push_back({fmt::format("reduce {}", kind), plain_step(ReduceOp{reduce, axes, axes.size() != 1}, {x})});
    }
  }
  for (const bool largest : {false, true}) {
    for (const bool last : {false, true}) {
      const ArgReduceOp op{.axis = 1, .keep_dims = last, .largest = largest, .last = last};
      cases.push_back({"arg_reduce", plain_step(op, {x})});
    }
    for (const bool indices : {false, true}) {
      cases.push_back({"top_k", plain_step(TopKOp{2, 4, largest, true, indices}, {x})});
    }
  }
  for (const bool exclusive : {false, true}) {
    for (const bool reverse : {false, true})
      cases.push_back({"cum_sum", plain_step(CumSumOp{-2, exclusive, reverse}, {x})});
  }
  return cases;
}

inline std::vector<OpCase> window_cases() {
  std::vector<OpCase> cases;
  const Shape x{2, 3, 9, 21};
  constexpr Pool kPools[] = {
      {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
      {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1},
      {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .ceil_mode = true},
      {.kernel_h = 3, .kernel_w = 2, .stride_w = 3, .dilation_h = 2, .pad_left = 1, .pad_bottom = 2},
      {.kernel_h = 4, .kernel_w = 4, .stride_h = 3, .stride_w = 3, .pad_top = 2, .pad_right = 3, .ceil_mode = true},
  };
  for (Pool pool : kPools) {
    cases.push_back({"max pool", plain_step(PoolOp{pool}, {x})});
    for (const bool columns : {false, true}) {
      cases.push_back(
          {"max pool's indices", plain_step(MaxPoolIndicesOp{.pool = pool, .columns_first = columns}, {x})});
    }
    for (const int64_t p : {1, 2, 3}) cases.push_back({"lp_pool", plain_step(LpPoolOp{.pool = pool, .p = p}, {x})});
    pool.kind = PoolKind::average;
    cases.push_back({"average pool", plain_step(PoolOp{pool}, {x})});
    pool.count_include_pad = true;
    cases.push_back({"average pool with padding", plain_step(PoolOp{pool}, {x})});
  }
  cases.push_back({"max_unpool", plain_step(MaxUnpoolOp{.pool = kPools[0]}, {{2, 3, 4, 5}, {2, 3, 4, 5}})});
  cases.push_back(
      {"max_unpool, larger", plain_step(MaxUnpoolOp{kPools[1], {2, 3, 7, 8}}, {{2, 3, 4, 5}, {2, 3, 4, 5}})});
  cases.push_back({"global_average_pool", plain_step(GlobalAveragePoolOp{}, {x})});
  const Col2ImOp fold{.image_h = 5, .image_w = 6, .block_h = 3, .block_w = 2, .stride_w = 2, .pad_top = 1};
  cases.push_back({"col2im", plain_step(fold, {{2, 18, 12}})});
  for (int mode = 0; mode < 3; ++mode) {
    for (int rule = 0; rule < 7; ++rule) {
      ResizeOp op{.mode = static_cast<SampleMode>(mode), .coordinates = static_cast<ResizeCoordinates>(rule)};
      op.nearest = static_cast<NearestRule>(rule % 5);
      op.antialias = rule % 2 == 1;
      op.exclude_outside = rule % 3 == 1;
      op.extrapolation_value = 7;
      if (op.coordinates == ResizeCoordinates::tf_crop_and_resize) op.roi = {0.125f, -0.25f, 0.75f, 1.25f};
      op.axes = {1, -1};
      op.scales = {2, 0.4375f};
      cases.push_back({fmt::format("resize {} {}", mode, rule), plain_step(op, {{2, 6, 3, 17}})});
      op.scales.clear();
      op.sizes = {5, 23};
      cases.push_back({fmt::format("resize to a size {} {}", mode, rule), plain_step(op, {{2, 6, 3, 17}})});
    }
    for (int padding = 0; padding < 3; ++padding) {
      for (const bool align : {false, true}) {
        const GridSampleOp op{static_cast<SampleMode>(mode), static_cast<SamplePadding>(padding), align};
        cases.push_back(
            {fmt::format("grid_sample {} {} {}", mode, padding, align), plain_step(op, {{2, 3, 5, 7}, {2, 4, 6, 2}})});
      }
    }
  }
  return cases;
}

inline std::vector<OpCase> product_cases() {
  std::vector<OpCase> cases;
  cases.push_back({"conv_transpose", plain_step(ConvTransposeOp{.stride_h = 2, .dilation_w = 2, .pad_left = 1},
                                                {{2, 4, 5, 6}, {4, 3, 3, 2}, {3}})});
  cases.push_back({"conv_transpose, groups", plain_step(ConvTransposeOp{.output_h = 9, .output_w = 11, .groups = 2},
                                                        {{1, 4, 5, 6}, {4, 3, 3, 3}})});
  for (const size_t constants : {1, 99}) {
    for (const bool transpose : {false, true}) {
      const GemmOp op{.transpose_a = transpose, .transpose_b = !transpose};
      const Shape a = transpose ? Shape{70, 33} : Shape{33, 70}, b = transpose ? Shape{70, 40} : Shape{40, 70};
      cases.push_back({"gemm", plain_step(op, {a, b}, constants)});
      cases.push_back({"gemm with a row", plain_step(op, {a, b, {40}}, constants)});
    }
    const GemmOp scaled{.alpha = 0.5f, .beta = 2, .transpose_b = true};
    cases.push_back({"gemm with factors", plain_step(scaled, {{17, 300}, {64, 300}, {17, 64}}, constants)});
    cases.push_back({"gemm with other factors",
                     plain_step(GemmOp{.alpha = 0.3f, .beta = 0.7f}, {{5, 9}, {9, 8}, {5, 1}}, constants)});
    for (int kind = 1; kind <= static_cast<int>(ActivationKind::tanh); ++kind) {
      const Activation activation{static_cast<ActivationKind>(kind), kind == 3 ? -0.5f : 0.2f, 1.5f};
      const Step step = plain_step(GemmOp{.transpose_b = true}, {{33, 70}, {40, 70}, {40}}, constants);
      cases.push_back({fmt::format("gemm with activation {}", kind), with_activation(step, activation)});
    }
  }
  const std::pair<Shape, Shape> operands[] = {
      {{5, 7}, {7, 3}},       {{7}, {7, 3}},          {{5, 7}, {7}},          {{7}, {7}},
      {{2, 5, 90}, {90, 40}}, {{2, 5, 7}, {2, 7, 3}}, {{1, 5, 7}, {2, 7, 3}}, {{4, 1, 5, 7}, {3, 7, 2}}};
  for (const auto& [a, b] : operands) cases.push_back({"matmul", plain_step(MatMulOp{}, {a, b})});
  const std::pair<const char*, std::vector<Shape>> equations[] = {{"ij,jk->ik", {{5, 7}, {7, 6}}},
                                                                  {"bij,bkj->bik", {{2, 5, 7}, {2, 4, 7}}},
                                                                  {"ii->i", {{4, 4}}},
                                                                  {"ij->", {{5, 6}}},
                                                                  {"...i,ij->...j", {{2, 3, 5}, {5, 4}}},
                                                                  {"i,j,k->kji", {{2}, {3}, {4}}},
                                                                  {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 2}}},
                                                                  {"bhqd,bhkd->bhqk", {{2, 3, 4, 8}, {2, 3, 5, 8}}}};
  for (const auto& [equation, shapes] : equations) {
    cases.push_back({fmt::format("einsum {}", equation), plain_step(EinsumOp{equation}, shapes)});
  }
  return cases;
}

inline std::vector<OpCase> rearranging_cases() {
  std::vector<OpCase> cases;
  const Shape x{2, 3, 4, 5};
  cases.push_back({"concat", plain_step(ConcatOp{-3}, {x, {2, 1, 4, 5}, {2, 4, 4, 5}})});
  cases.push_back({"flatten", plain_step(FlattenOp{2}, {x})});
  cases.push_back({"reshape", plain_step(ReshapeOp{{0, -1, 6}}, {x})});
  cases.push_back({"squeeze", plain_step(SqueezeOp{}, {{2, 1, 5, 1}})});
  cases.push_back({"unsqueeze", plain_step(UnsqueezeOp{{0, -1}}, {x})});
  cases.push_back({"transpose", plain_step(TransposeOp{}, {x})});
  cases.push_back({"transpose to nhwc", plain_step(TransposeOp{{0, 2, 3, 1}}, {x})});
  for (int mode = 0; mode < 4; ++mode) {
    const PadOp op{static_cast<PadMode>(mode), {0, 1, -1, 2, 1, 2, 1, -2}, 3.5f};
    cases.push_back({fmt::format("pad {}", mode), plain_step(op, {{2, 3, 6, 7}})});
  }
  cases.push_back({"slice", plain_step(SliceOp{{1, -1}, {3, -10}, {2, 3}, {1, -2}}, {x})});
  cases.push_back({"expand", plain_step(ExpandOp{{2, 1, -1, 5}}, {{3, 4, 1}})});
  cases.push_back({"tile", plain_step(TileOp{{1, 2, 3, 1}}, {x})});
  for (const bool crd : {false, true}) {
    cases.push_back({"depth_to_space", plain_step(DepthToSpaceOp{2, crd}, {{2, 12, 3, 4}})});
  }
  cases.push_back({"space_to_depth", plain_step(SpaceToDepthOp{2}, {{2, 3, 4, 6}})});
  for (const bool upper : {false, true}) cases.push_back({"trilu", plain_step(TriluOp{upper, -1}, {x})});
  cases.push_back({"gather", plain_step(GatherOp{1}, {x, {2, 2}})});
  cases.push_back({"gather_elements", plain_step(GatherElementsOp{2}, {x, {2, 3, 6, 4}})});
  cases.push_back({"gather_nd", plain_step(GatherNdOp{}, {x, {3, 2}})});
  cases.push_back({"gather_nd, batches", plain_step(GatherNdOp{1}, {x, {2, 4, 2}})});
  for (int reduction = 0; reduction < 5; ++reduction) {
    const auto rule = static_cast<ScatterReduction>(reduction);
    cases.push_back({fmt::format("scatter_elements {}", reduction),
                     plain_step(ScatterElementsOp{-1, rule}, {x, {2, 2, 3, 4}, {2, 2, 3, 4}})});
    cases.push_back({fmt::format("scatter_nd {}", reduction), plain_step(ScatterNdOp{rule}, {x, {4, 2}, {4, 4, 5}})});
  }
  return cases;
}

inline std::vector<OpCase> quantized_cases() {
  std::vector<OpCase> cases;
  const Shape x{3, 4, 5};
  struct Steps {
    int64_t axis, block;
    Shape shape;
  };
  for (const auto& [axis, block, shape] :
       {Steps{0, 0, {}}, Steps{-2, 0, {4}}, Steps{2, 0, {5}}, Steps{1, 2, {3, 2, 5}}, Steps{-1, 3, {3, 4, 2}}}) {
    cases.push_back({"quantize", plain_step(QuantizeOp{axis, block}, {x, shape, shape})});
    cases.push_back({"quantize to int8", plain_step(QuantizeOp{axis, block, -128, 127}, {x, shape})});
    cases.push_back({"dequantize", plain_step(DequantizeOp{axis, block}, {x, shape, shape})});
  }
  const ConvOp conv{.stride_h = 2, .pad_top = 1, .pad_right = 1, .groups = 2};
  const Shape image{2, 6, 7, 9}, w{8, 3, 3, 2}, one{}, k{8};
  cases.push_back({"qlinear_conv", plain_step(QLinearConvOp{conv}, {image, one, one, w, k, k, one, one, k})});
  cases.push_back(
      {"qlinear_conv to int8", plain_step(QLinearConvOp{conv, -128, 127}, {image, one, one, w, one, one, one, one})});
  cases.push_back({"conv_integer", plain_step(ConvIntegerOp{conv}, {image, w, one, k})});
  cases.push_back(
      {"qlinear_matmul", plain_step(QLinearMatMulOp{-128, 127}, {{2, 5, 70}, {5}, {5}, {70, 9}, {9}, {9}, {1}, {1}})});
  cases.push_back({"matmul_integer", plain_step(MatMulIntegerOp{}, {{2, 5, 70}, {70, 9}, {5}, {1, 9}})});
  return cases;
}

/// Operators that only plans contain, on bytes in nhwc4 and others.
inline std::vector<OpCase> planned_cases() {
  std::vector<OpCase> cases;
  const Shape x{2, 7, 5, 6};
  for (const float factor : {0.5f, 0.37f}) {
    const ByteAddOp sum{.a_factor = factor, .b_factor = 2 * factor, .a_zero = 100, .b_zero = 90, .zero = 120};
    cases.push_back({"byte_add", in_format(plain_step(sum, {x, x}), kNhwc4U8, kNhwc4U8, 2)});
    for (const bool adds : {false, true}) {
      for (const int64_t groups : {1, 7}) {
        if (adds && groups == 7) continue;  // no kernel fuses them
        const ByteConvOp op{.conv = {.pad_top = 1, .pad_left = 1, .groups = groups},
                            .x_zero = 12,
                            .zero = 100,
                            .low = 20,
                            .adds = adds,
                            .sum = sum};
        const int64_t maps = 14 / (groups == 1 ? 1 : 2);
        std::vector<Shape> shapes{x, {maps, 7 / groups, 2, 3}, {maps}, {maps}};
        if (adds) shapes.push_back({2, maps, 5, 5});
        Step step = in_format(plain_step(op, shapes, 1), kNhwc4U8, kNhwc4U8);
        if (adds) step.inputs[4].constant = false, step.inputs[4].format = kNhwc4U8;
        cases.push_back({fmt::format("byte_conv {} {}", adds, groups), step});
      }
    }
    const ByteMeanOp mean{.factor = 3 * factor, .x_zero = 20, .zero = 30};
    cases.push_back({"byte_mean", in_format(plain_step(mean, {x}), kNhwc4U8, kNhwc4U8)});
    const ByteConcatOp concat{.parts = {{0.5f, 12}, {factor, 100}}, .scale = 0.5f, .zero = 12};
    cases.push_back({"byte_concat", in_format(plain_step(concat, {x, {2, 5, 5, 6}}), kNhwc4U8, kNhwc4U8, 2)});
  }
  cases.push_back(
      {"byte max pool", in_format(plain_step(PoolOp{{.kernel_h = 3, .kernel_w = 2}}, {x}), kNhwc4U8, kNhwc4U8)});
  cases.push_back(
      {"quantize to bytes", in_format(plain_step(QuantizeOp{}, {{2, 3, 5, 6}, {}, {}}, 1), kNchw, kNhwc4U8)});
  cases.push_back({"dequantize bytes", in_format(plain_step(DequantizeOp{}, {x, {}, {}}, 1), kNhwc4U8, kNchw)});
  for (const int64_t side : {3, 8, 11}) {
    cases.push_back({"scale", in_format(plain_step(ScaleOp{side}, {{2, 3, 6, 9}}), kRawPixels, kRawPixels)});
  }
  cases.push_back({"squeeze_excite", plain_step(SqueezeExciteOp{{ActivationKind::relu}, {ActivationKind::sigmoid}},
                                                {{2, 16, 5, 6}, {4, 16, 1, 1}, {4}, {16, 4, 1, 1}, {16}}, 1)});
  for (const bool finite : {false, true}) cases.push_back({"arg_max", plain_step(ArgMaxOp{finite}, {{4, 30}})});
  return cases;
}

/// Operators on images in other formats.
inline std::vector<OpCase> format_cases() {
  std::vector<OpCase> cases;
  const Shape x{3, 16, 7, 9};
  for (const Format format : {kNchw8c, kNhwcBf16}) {
    const auto add = [&](const char* name, const Step& step, size_t images = 1) {
      cases.push_back({fmt::format("{} in {}", name, name_of(format)), in_format(step, format, format, images)});
    };
    const Pool pool{.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .pad_top = 1, .pad_left = 1};
    add("max pool", plain_step(PoolOp{pool}, {x}));
    Pool average = pool;
    average.kind = PoolKind::average;
    add("average pool", plain_step(PoolOp{average}, {x}));
    cases.push_back({"global_average_pool", in_format(plain_step(GlobalAveragePoolOp{}, {x}), format, kNchw)});
    if (format == kNchw8c) add("concat", plain_step(ConcatOp{1}, {x, {3, 8, 7, 9}}), 2);
    add("add", plain_step(AddOp{}, {x, x}), 2);
    add("mul", plain_step(MulOp{}, {x, x}), 2);
    add("divide by a number", plain_step(BinaryOp{BinaryKind::divide}, {x, {}}, 1));
    add("gelu", plain_step(UnaryOp{UnaryKind::gelu}, {x}));
    add("tanh", plain_step(ActivationOp{{ActivationKind::tanh}}, {x}));
    add("clip", plain_step(ActivationOp{{ActivationKind::clip, -0.3f, 0.7f}}, {x}));
    add("hard_swish", plain_step(ActivationOp{{ActivationKind::hard_swish}}, {x}));
    add("mul of channels", with_activation(plain_step(MulOp{}, {x, {3, 16, 1, 1}}), {ActivationKind::relu}));
    add("add of channels", with_activation(plain_step(AddOp{}, {x, {16, 1, 1}}, 1), {ActivationKind::clip, -1, 1}));
    add("batch_norm", plain_step(BatchNormOp{}, {x, {16}, {16}, {16}, {16}}, 1));
    cases.push_back({"to nchw", in_format(plain_step(ActivationOp{}, {x}), format, kNchw)});
    cases.push_back({"from nchw", in_format(plain_step(ActivationOp{}, {x}), kNchw, format)});
  }
  for (const int64_t n : {35, 256}) {
    const int64_t depth = n == 256 ? 1024 : 70, outputs = n == 256 ? 128 : 40;
    const Step dense = plain_step(GemmOp{.transpose_b = true}, {{n, depth}, {outputs, depth}, {outputs}}, 1);
    for (const Format format : {kNchw16n, kNchw16n2cBf16, kNchw16n2cBf16x2}) {
      cases.push_back({fmt::format("gemm of {} in {}", n, name_of(format)), in_format(dense, format, kNchw)});
      cases.push_back({fmt::format("gemm of {} in {}, with relu", n, name_of(format)),
                       in_format(with_activation(dense, {ActivationKind::relu}), format, format)});
    }
  }
  return cases;
}

inline std::vector<OpCase> all_op_cases() {
  std::vector<OpCase> cases;
  for (const auto& group : {elementwise_cases(), along_cases(), window_cases(), product_cases(), rearranging_cases(),
                            quantized_cases(), planned_cases(), format_cases()}) {
    cases.insert(cases.end(), group.begin(), group.end());
  }
  return cases;
}

}  // namespace convlab
