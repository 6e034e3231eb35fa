// Tests problem texts of operators: what they mean, that they survive conversion there and back, messages, and that the
// shipped list of problems has every operator and every attribute.

#include "convlab/kernels/step_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "convlab/conv/problem.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_names.h"
#include "convlab/model/shapes.h"
#include "tests/support/paths.h"
#include "tests/support/source_tree.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string error(const std::string& text) {
  return bad_input_message([&] { parse_step(text); });
}

std::vector<Shape> inputs(const std::string& text) { return shapes_of(parse_step(text).inputs); }

/// Returns which inputs are constants.
std::vector<int> constants(const std::string& text) {
  std::vector<int> found;
  const Step step = parse_step(text);
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (step.inputs[i].constant) found.push_back(static_cast<int>(i));
  }
  return found;
}

template <class T>
T op(const std::string& text) {
  return std::get<T>(parse_step(text).op);
}

/// Returns the step of an operator with these operands.
Step step_of(const Op& op, const std::vector<Shape>& shapes) {
  Step step{.op = op, .outputs = {{.shape = output_shape(op, shapes)}}};
  for (const Shape& each : shapes) step.inputs.push_back({.shape = each});
  return step;
}

/// Returns the problems of the shipped list.
std::vector<std::string> shipped() {
  std::vector<std::string> problems;
  std::istringstream lines(text_of(source_folder() / "shapes/operators.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') problems.push_back(line);
  }
  return problems;
}

TEST(StepText, LettersAreOperands) {
  EXPECT_THAT(inputs("matmul_m2n3k5"), ElementsAre(Shape{2, 5}, Shape{5, 3}));
  EXPECT_THAT(inputs("matmul_b7m2n3k5"), ElementsAre(Shape{7, 2, 5}, Shape{7, 5, 3}));
  EXPECT_THAT(inputs("gemm_m2n3k5_ta_tb_bias"), ElementsAre(Shape{5, 2}, Shape{3, 5}, Shape{3}));
  EXPECT_THAT(inputs("softmax_r2c3"), ElementsAre(Shape{2, 3}));
  EXPECT_THAT(inputs("layernorm_r2c3"), ElementsAre(Shape{2, 3}, Shape{3}, Shape{3}));
  EXPECT_THAT(inputs("rmsnorm_r2c3"), ElementsAre(Shape{2, 3}, Shape{3}));
  EXPECT_THAT(inputs("conv_n2_c6h7w8_k4r3s5_g2_bias"), ElementsAre(Shape{2, 6, 7, 8}, Shape{4, 3, 3, 5}, Shape{4}));
  EXPECT_THAT(inputs("convtranspose_c6h7w8_k4r3s5_g2"), ElementsAre(Shape{1, 6, 7, 8}, Shape{6, 2, 3, 5}));
  EXPECT_THAT(
      inputs("qlinearconv_c6h7w8_k4r3s5_perchannel"),
      ElementsAre(Shape{1, 6, 7, 8}, Shape{}, Shape{}, Shape{4, 6, 3, 5}, Shape{4}, Shape{4}, Shape{}, Shape{}));
  EXPECT_THAT(inputs("byteconv_c6h7w8_k4r3s5_adds"),
              ElementsAre(Shape{1, 6, 7, 8}, Shape{4, 6, 3, 5}, Shape{4}, Shape{4}, Shape{1, 4, 5, 4}));
  EXPECT_THAT(inputs("maxpool_c6h7w8_r3s5"), ElementsAre(Shape{1, 6, 7, 8}));
  EXPECT_THAT(inputs("squeezeexcite_n2_c6h7w8_m3"),
              ElementsAre(Shape{2, 6, 7, 8}, Shape{3, 6, 1, 1}, Shape{3}, Shape{6, 3, 1, 1}, Shape{6}));
}

TEST(StepText, ShapesAreOperands) {
  EXPECT_THAT(inputs("add_2x3"), ElementsAre(Shape{2, 3}, Shape{2, 3}));
  EXPECT_THAT(inputs("add_2x3_scalar"), ElementsAre(Shape{2, 3}, Shape{}));
  EXPECT_THAT(inputs("where_2"), ElementsAre(Shape{2}, Shape{2}, Shape{2}));
  EXPECT_THAT(inputs("concat_2x3_2x5_2x7_axis1"), ElementsAre(Shape{2, 3}, Shape{2, 5}, Shape{2, 7}));
  EXPECT_THAT(inputs("matmul_2x5_5x3"), inputs("matmul_m2n3k5"));
  EXPECT_THAT(shapes_of(parse_step("concat_2x3_2x5_2x7_axis1").outputs), ElementsAre(Shape{2, 15}));
}

TEST(StepText, AttributesHaveAnyOrder) {
  const auto pool = op<PoolOp>("avgpool_c8h9w9_st2x1_includepad_r3s5_p1x2x0x1_ceil").pool;
  EXPECT_EQ(pool, (Pool{.kind = PoolKind::average,
                        .kernel_h = 3,
                        .kernel_w = 5,
                        .stride_h = 2,
                        .stride_w = 1,
                        .pad_top = 1,
                        .pad_left = 2,
                        .pad_bottom = 0,
                        .pad_right = 1,
                        .ceil_mode = true,
                        .count_include_pad = true}));
  EXPECT_EQ(op<TransposeOp>("transpose_2x3x4_perm0x2x1").permutation, (std::vector<int64_t>{0, 2, 1}));
  EXPECT_EQ(op<SoftmaxOp>("softmax_r2c3_axis-2").axis, -2);
  EXPECT_FALSE(op<ReduceOp>("reducemean_2x3_dropdims").keep_dims);
  EXPECT_EQ(op<ReduceOp>("reducemean_2x3_dropdims").kind, ReduceKind::mean);
  EXPECT_EQ(op<ResizeOp>("resize_2x3_cubic_scales1x1.5_aligncorners").mode, SampleMode::cubic);
  EXPECT_EQ(op<ResizeOp>("resize_2x3_cubic_scales1x1.5_aligncorners").scales, (std::vector<float>{1, 1.5f}));
  EXPECT_EQ(op<NormalizeOp>("layernorm_r2c3_epsilon1e-06").epsilon, 1e-6f);
  EXPECT_EQ(op<PadOp>("pad_3_pads1x0_value-inf").value, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(op<PadOp>("pad_3_pads1x0_valuenan").value));
  EXPECT_EQ(op<EinsumOp>("einsum_2x3_3x4_ij,jk=ik").equation, "ij,jk->ik");
  EXPECT_EQ(op<ByteConcatOp>("byteconcat_1x1x1x1_parts0.5x3").parts[0].zero, 3);
  EXPECT_EQ(op<ActivationOp>("clip_3_max6").activation.beta, 6);
  EXPECT_EQ(op<UnaryOp>("elu_3").alpha, 1) << "ONNX's default";
}

TEST(StepText, ConvolutionsKeepTheirText) {
  for (const char* text : {"n2_c12h33w33_k24r5s5_p1", "c4h9w8_k2r3s3_p1x0x0x2_st3x2_d2_g2", "c1h1w1_k1r1s1"}) {
    const ConvProblem problem = parse_problem(text);
    const std::string named = std::string("conv_") + text;
    EXPECT_EQ(parse_problem(named), problem);
    for (const std::string& each : {std::string(text), named}) {
      const Step step = parse_step(each);
      EXPECT_EQ(conv_problem(std::get<ConvOp>(step.op), step.inputs[0].shape, step.inputs[1].shape), problem);
      EXPECT_EQ(to_text(step), named);
    }
  }
}

TEST(StepText, OnnxNamesAreAccepted) {
  for (const auto& [onnx, own] : {std::pair{"averagepool_c1h2w2", "avgpool_c1h2w2"},
                                  {"globalaveragepool_c1h2w2", "globalavgpool_c1h2w2"},
                                  {"layernormalization_r2c3", "layernorm_r2c3"},
                                  {"batchnormalization_n2_c3h1w1", "batchnorm_n2_c3h1w1"}}) {
    EXPECT_EQ(to_text(parse_step(onnx)), own);
  }
}

TEST(StepText, WeightsAreConstants) {
  EXPECT_THAT(constants("conv_c1h1w1_k1r1s1_bias"), ElementsAre(1, 2));
  EXPECT_THAT(constants("gemm_m2n3k5_bias"), ElementsAre(1, 2));
  EXPECT_THAT(constants("matmul_m2n3k5"), ElementsAre(1));
  EXPECT_THAT(constants("matmul_b2m2n3k5"), IsEmpty()) << "as in attention";
  EXPECT_THAT(constants("batchnorm_n2_c3h1w1"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(constants("layernorm_r2c3"), ElementsAre(1, 2));
  EXPECT_THAT(constants("add_2x3"), IsEmpty());
  EXPECT_THAT(constants("add_2x8x3x3_8x1x1"), ElementsAre(1));
  EXPECT_THAT(constants("add_1x8x1x1_2x8x3x3"), ElementsAre(0));
  EXPECT_THAT(constants("mul_2x8x3x3_2x8x1x1"), IsEmpty()) << "the gate of squeeze-and-excitation";
  EXPECT_THAT(constants("prelu_2x3_2x3"), ElementsAre(1));
  EXPECT_THAT(constants("convinteger_c1h1w1_k1r1s1"), ElementsAre(1, 3));
  EXPECT_THAT(constants("qlinearmatmul_m1n1k1"), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(constants("byteconv_c1h1w1_k1r1s1_adds"), ElementsAre(1, 2, 3));
  EXPECT_THAT(constants("gather_5_3"), IsEmpty());
}

TEST(StepText, MessagesSayWhereAndWhat) {
  EXPECT_EQ(error("sofmax_r3c4"),
            "problem 'sofmax_r3c4': unknown operator 'sofmax' (did you mean 'softmax'?) at character 1; example: "
            "matmul_m512n512k512");
  EXPECT_EQ(error("softmax_r3c4_axes1"),
            "problem 'softmax_r3c4_axes1': unknown attribute 'axes' (did you mean 'axis'?) at character 14; example: "
            "softmax_r64c1024");
  EXPECT_THAT(error("softmax_r3"), HasSubstr("expected 'c' at character 11; example: softmax_r64c1024"));
  EXPECT_THAT(error("softmax_r3c0"), HasSubstr("c must be between 1 and 2147483648, got 0, at character 12"));
  EXPECT_THAT(error("softmax_3x4_axis1_axis0"), HasSubstr("duplicate attribute 'axis0' at character 19"));
  EXPECT_THAT(error("resize_3_linear_cubic"), HasSubstr("duplicate attribute 'cubic'"));
  EXPECT_THAT(error("resize_3_linea"), HasSubstr("did you mean 'linear'?"));
  EXPECT_THAT(error("relu"), HasSubstr("expected '_' at character 5; example: relu_2x3x4"));
  EXPECT_THAT(error("relu_axis1"), HasSubstr("expected a shape at character 6"));
  EXPECT_THAT(error("relu_3_axis1"), HasSubstr("unknown attribute 'axis1': the operator has none at character 8"));
  EXPECT_THAT(error("relu_3x"), HasSubstr("expected an integer at character 8"));
  EXPECT_THAT(error("relu_3_"), HasSubstr("at character 8"));
  EXPECT_THAT(error("topk_3x4_k2smallest"), HasSubstr("expected '_' or the end at character 12"));
  EXPECT_THAT(error("maxpool_c8h9w9_p1x2"), HasSubstr("expected 1 or 4 numbers after 'p' at character 20"));
  EXPECT_THAT(error("maxpool_c8h9w9_r3"), HasSubstr("expected 's' at character 18"));
  EXPECT_THAT(error("softmax_r2c3_axis"), HasSubstr("expected an integer at character 18"));
  EXPECT_THAT(error("softmax_2x3_bias"), HasSubstr("unknown attribute 'bias'"));
  EXPECT_THAT(error("layernorm_r2c3_epsilonx"), HasSubstr("unknown attribute 'epsilonx' (did you mean 'epsilon'?)"));
  EXPECT_THAT(error("layernorm_r2c3_epsilon."), HasSubstr("expected a float32 number at character 23"));
  EXPECT_THAT(error(""), HasSubstr("unknown operator ''"));
  EXPECT_THAT(error("c"), HasSubstr("unknown operator 'c'"));
  EXPECT_THAT(error("c3"), HasSubstr("expected 'h' at character 3; example: conv_n2_c12h33w33_k24r5s5"));
  EXPECT_THAT(error("conv"), HasSubstr("expected '_' at character 5"));
}

TEST(StepText, MessagesOfShapesHaveTheText) {
  EXPECT_EQ(error("softmax_2x3_axis2"), "problem 'softmax_2x3_axis2': axis 2 is out of range for 2 dimensions");
  EXPECT_THAT(error("add_2x3_2x4"), HasSubstr("shapes 2x3 and 2x4 do not broadcast"));
  EXPECT_THAT(error("matmul_2x3_4x5"), HasSubstr("3 columns, but 4 rows"));
  EXPECT_THAT(error("gather_2x3_2_4"), HasSubstr("wrong number of inputs: expected 2, got 3"));
  EXPECT_THAT(error("convtranspose_c4h5w5_k7r3s3_g2"), HasSubstr("k (7) must be a multiple of groups (2)"));
  EXPECT_THAT(error("conv_c4h5w5_k4r3s3_g3"), HasSubstr("c (4) must be a multiple of groups (3)"));
  EXPECT_THAT(error("conv_c4h5w5_k4r3s3_g0"), HasSubstr("groups must be between 1"));
  EXPECT_THAT(error("squeezeexcite_2x8x3x3_4x8x1x1_4_8x4x1x1_9"), HasSubstr("input 4 must have shape 8, got 9"));
  EXPECT_THAT(error("byteadd_1x8x1x1_low10_high9"), HasSubstr("quantized range from 10 to 9 is empty"));
  EXPECT_THAT(error("byteadd_1x8x1x1_azero256"), HasSubstr("quantized values must have 8 bits, got 256"));
  EXPECT_THAT(error("einsum_2x3_ij=k"), HasSubstr("output index 'k' must occur in an input"));
}

TEST(StepText, SizesAreLimited) {
  EXPECT_THAT(error("relu_2147483649"), HasSubstr("a size must be between 1 and 2147483648, got 2147483649, at"));
  EXPECT_THAT(error("relu_0"), HasSubstr("a size must be between 1 and 2147483648, got 0, at character 6"));
  EXPECT_THAT(error("relu_99999999999999999999"), HasSubstr("expected an integer at character 6"));
  EXPECT_THAT(error("relu_2147483648x2147483648"), HasSubstr("size overflow"));
  EXPECT_THAT(error("gather_1_2147483648x2147483648"), HasSubstr("size overflow"));
  EXPECT_THAT(error("relu_1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1"), HasSubstr("a shape has at most 16 dimensions"));
  EXPECT_THAT(error("byteadd_1_zero99999999999"), HasSubstr("zero must be between -2147483648 and 2147483647"));
  EXPECT_THAT(error("leakyrelu_1_alpha1e99"), HasSubstr("expected a float32 number"));
}

TEST(StepText, TextIsTheShortestOne) {
  for (const auto& [text, shortest] : {std::pair{"matmul_5x7_7x3", "matmul_m5n3k7"},
                                       {"matmul_2x5x7_2x7x3", "matmul_b2m5n3k7"},
                                       {"matmul_1x5x5_1x5x5", "matmul_1x5x5"},
                                       {"matmul_b1m5n3k7", "matmul_m5n3k7"},
                                       {"softmax_2x3_axis-1", "softmax_r2c3"},
                                       {"add_2x3_2x3", "add_2x3"},
                                       {"maxpool_1x3x9x9_st2x2_p1x1x1x1_r3s3_d1", "maxpool_c3h9w9_r3s3_p1_st2"},
                                       {"groupnorm_n2_c4h3w3_groups1", "groupnorm_n2_c4h3w3"},
                                       {"layernorm_2x4x3x3_4_4_groups2", "groupnorm_n2_c4h3w3_groups2"},
                                       {"groupnorm_2x3_3_3_groups0", "layernorm_r2c3"},
                                       {"elu_3_alpha1.0", "elu_3"},
                                       {"relu_03", "relu_3"}}) {
    EXPECT_EQ(to_text(parse_step(text)), shortest);
  }
}

TEST(StepText, EachTextOfTheShippedListIsTheShortestOne) {
  std::set<std::string> all;
  for (const std::string& text : shipped()) {
    SCOPED_TRACE(text);
    const Step step = parse_step(text);
    EXPECT_EQ(to_text(step), text);
    EXPECT_TRUE(same_operator(parse_step(text).op, step.op));
    EXPECT_TRUE(all.insert(text).second) << "duplicate";
    EXPECT_THAT(text, testing::MatchesRegex("[a-z0-9_.,=+-]+")) << "needs quotes in a shell";
  }
}

/// Layer, group and RMS normalization are one operator with the same attributes.
std::string with_relatives(std::string_view name) {
  return std::string(name == "groupnorm" || name == "rmsnorm" ? "layernorm" : name);
}

TEST(StepText, TheShippedListHasEveryOperatorAndAttribute) {
  std::set<size_t> operators;
  std::set<std::string> names;
  std::map<std::string, std::set<std::string>> items;  // by the operator's name: attributes, enumerators
  for (const std::string& text : shipped()) {
    Step step = parse_step(text);
    operators.insert(step.op.index());
    const std::string name = text.substr(0, text.find('_'));
    Op defaults = find_named_op(name)->op;
    const std::vector<OpField> fields = fields_of(step.op), omitted = fields_of(defaults);
    names.insert(name);
    std::set<std::string>& of_name = items[with_relatives(name)];
    for (size_t i = 0; i < fields.size(); ++i) {
      const bool chosen = fields[i].form == OpField::Form::choice;
      if (fields[i].value != omitted[i].value) of_name.insert(fields[i].name);
      if (chosen) of_name.insert(fields[i].value);
    }
  }
  EXPECT_EQ(operators.size(), std::variant_size_v<AnyOp>);
  for (const NamedOp& named : named_ops()) {
    EXPECT_TRUE(names.contains(std::string(named.name))) << named.name;
    const std::set<std::string>& given = items[with_relatives(named.name)];
    Op op = named.op;
    for (const OpField& field : fields_of(op)) {
      if (field.form == OpField::Form::in_name) continue;
      if (!field.name.empty()) {
        EXPECT_THAT(given, Contains(field.name)) << named.name;
      }
      for (const std::string& each : field.choices) EXPECT_THAT(given, Contains(each)) << named.name;
    }
  }
}

TEST(StepText, TheShippedListIsSmall) {
  double products = 0;
  for (const std::string& text : shipped()) {
    const Step step = parse_step(text);
    double elements = static_cast<double>(element_count(step.outputs[0].shape));
    for (const Operand& each : step.inputs)
      elements = std::max(elements, static_cast<double>(element_count(each.shape)));
    const ConvOp* conv = std::get_if<ConvOp>(&step.op);
    size_t filter = 1;
    if (const auto* quantized = std::get_if<QLinearConvOp>(&step.op)) conv = &quantized->conv, filter = 3;
    if (const auto* integer = std::get_if<ConvIntegerOp>(&step.op)) conv = &integer->conv;
    if (const auto* byte = std::get_if<ByteConvOp>(&step.op)) conv = &byte->conv;
    if (conv != nullptr) elements = conv_problem(*conv, step.inputs[0].shape, step.inputs[filter].shape).flops() / 2;
    const bool product = std::holds_alternative<GemmOp>(step.op) || std::holds_alternative<MatMulOp>(step.op);
    if (product) {
      elements = static_cast<double>(element_count(step.outputs[0].shape) * step.inputs[0].shape.back());
    }
    products += elements;
  }
  EXPECT_LE(products, 50e6);
  EXPECT_GE(products, 1e6);
}

TEST(StepText, StepsOfPlansSurvive) {
  // Values that no text of the list has.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<Step> steps{
      step_of(SliceOp{.starts = {-kMost - 1}, .ends = {kMost}, .axes = {-1}, .steps = {kMost}}, {{2, 5}}),
      step_of(ActivationOp{{ActivationKind::clip, -kInfinity, kInfinity}}, {{3}}),
      step_of(ActivationOp{{ActivationKind::leaky_relu, std::nanf("")}}, {{3}}),
      step_of(ActivationOp{{ActivationKind::leaky_relu, -0.0f}}, {{3}}),
      step_of(ActivationOp{{ActivationKind::leaky_relu, 1e-45f}}, {{3}}),
      step_of(UnaryOp{UnaryKind::elu, 0.1f}, {{}}),
      step_of(EinsumOp{"...i, ij -> ...j"}, {{2, 3}, {3, 4}}),
      step_of(EinsumOp{"Ab->"}, {{2, 3}}),
      step_of(ReshapeOp{}, {{1}}),
      step_of(NormalizeOp{.groups = 2, .center = false}, {{2, 4}}),
      step_of(PoolOp{.pool = {.kernel_h = 2, .kernel_w = 3}, .auto_pad = AutoPad::same_lower}, {{1, 2, 8, 8}}),
      step_of(GemmOp{.alpha = 0.1f}, {{2, 3}, {3, 4}, {}}),
      step_of(MatMulIntegerOp{}, {{2, 3}, {3, 4}, {1}}),
  };
  for (const Step& step : steps) {
    const std::string text = to_text(step);
    SCOPED_TRACE(text);
    const Step again = parse_step(text);
    EXPECT_TRUE(same_operator(again.op, step.op));
    EXPECT_EQ(shapes_of(again.inputs), shapes_of(step.inputs));
    EXPECT_EQ(shapes_of(again.outputs), shapes_of(step.outputs));
  }
  EXPECT_THAT(bad_input_message([] { to_text(step_of(ActivationOp{{ActivationKind::swish}}, {{3}})); }),
              HasSubstr("no problem text"));
}

TEST(StepText, OperatorsAreComparedByTheirAttributes) {
  EXPECT_TRUE(same_operator(SoftmaxOp{.axis = 1}, SoftmaxOp{.axis = 1}));
  EXPECT_FALSE(same_operator(SoftmaxOp{.axis = 1}, SoftmaxOp{.axis = 2}));
  EXPECT_FALSE(same_operator(SoftmaxOp{}, SoftmaxOp{.log = true}));
  EXPECT_FALSE(same_operator(SoftmaxOp{}, CumSumOp{.axis = -1}));
  EXPECT_FALSE(same_operator(UnaryOp{UnaryKind::elu, 1}, UnaryOp{UnaryKind::celu, 1}));
  EXPECT_TRUE(same_operator(PadOp{.value = std::nanf("1")}, PadOp{.value = -std::nanf("2")}));
  EXPECT_FALSE(same_operator(PadOp{.value = 0.0f}, PadOp{.value = -0.0f}));
}

TEST(StepText, NoNameHidesAnother) {
  std::set<std::string_view> names;
  for (const NamedOp& named : named_ops()) {
    EXPECT_TRUE(names.insert(named.name).second) << named.name;
    std::set<std::string> items;
    Op op = named.op;
    for (const OpField& field : fields_of(op)) {
      if (!field.name.empty()) {
        EXPECT_TRUE(items.insert(field.name).second) << named.name << ": " << field.name;
      }
      for (const std::string& each : field.choices)
        EXPECT_TRUE(items.insert(each).second) << named.name << ": " << each;
    }
  }
}

}  // namespace
}  // namespace convlab
