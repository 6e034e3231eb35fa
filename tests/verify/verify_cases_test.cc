// Tests verification cases: lists of shapes, and the steps verified for each kernel.

#include "convlab/verify/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "convlab/base/error.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/verify/file_judge.h"
#include "tests/support/conv_kernels.h"
#include "tests/support/paths.h"

namespace convlab {
namespace {

using testing::HasSubstr;

std::string complaint_about(std::string_view text) {
  try {
    parse_shapes(text, "some.txt");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

TEST(Shapes, CommentsAndBlankLinesAreSkipped) {
  const auto problems = parse_shapes("# a list\r\n\n  c3h8w8_k2r3s3  # tail\r\n\t\nn2_c1h4w4_k1r2s2_st2", "some.txt");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(to_text(problems[0]), "c3h8w8_k2r3s3");
  EXPECT_EQ(to_text(problems[1]), "n2_c1h4w4_k1r2s2_st2");
}

TEST(Shapes, BadListsNameFileAndLine) {
  EXPECT_THAT(complaint_about("c3h8w8_k2r3s3\n\nc3h8w8"), HasSubstr("some.txt:3: convolution problem 'c3h8w8'"));
  EXPECT_THAT(complaint_about("# x\nc3h8w8_k2r9s9\n"), HasSubstr("some.txt:2: convolution problem"));
  EXPECT_THAT(complaint_about("n2_c3h8w8_k2r3s3_p1\n#\nn2_c3h8w8_k2r3s3_p1x1x1x1\n"),
              HasSubstr("some.txt:3: duplicate problem n2_c3h8w8_k2r3s3_p1x1x1x1; it is also in line 1"));
  EXPECT_THAT(complaint_about(""), HasSubstr("some.txt: no problems in the file"));
  EXPECT_THAT(complaint_about("# nothing\n\n"), HasSubstr("no problems in the file"));
  EXPECT_THAT(complaint_about(std::string_view("\0\xff\n", 3)), HasSubstr("some.txt:1"));
  EXPECT_THROW(read_shapes("/no/such/list.txt"), Error);
}

TEST(Shapes, ShippedListsAreReadableDistinctAndSmall) {
  std::set<std::string> texts;
  size_t count = 0;
  double edges = 0, all = 0;
  for (const std::string_view list : kDefaultShapes) {
    for (const ConvProblem& problem : read_shapes(source_folder() / list)) {
      texts.insert(to_text(problem));
      ++count;
      all += problem.flops() / 2;
      if (list == "shapes/edges.txt") edges += problem.flops() / 2;
    }
  }
  EXPECT_EQ(texts.size(), count) << "a problem stands in two lists";
  EXPECT_LE(edges, 20e6);
  EXPECT_LE(all, 200e6);
}

/// Returns the multiply-adds of a network's list for one image. The comment before a shape tells how often it occurs.
double multiply_adds_of(const std::string& network) {
  std::ifstream file(source_folder() / "shapes/layers" / (network + ".txt"));
  double all = 0, times = 1;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) {
      times = std::max(1.0, std::strtod(line.c_str() + 1, nullptr));
    } else {
      all += times * parse_problem(line).flops() / 2;
    }
  }
  return all;
}

TEST(Shapes, LayersOfNetworksHaveTheirMultiplyAdds) {
  // torchvision's figures for the whole network, without the dense layer and gates. U-Net's follows from its
  // definition.
  const std::pair<const char*, double> networks[] = {{"resnet50", 4.087e9},       {"vgg16", 15.347e9},
                                                     {"mobilenet_v2", 0.2995e9},  {"efficientnet_b0", 0.3839e9},
                                                     {"convnext_tiny", 4.4548e9}, {"unet", 46.024e9}};
  for (const auto& [network, expected] : networks) {
    EXPECT_NEAR(multiply_adds_of(network), expected, expected * 1e-3) << network;
    const std::string list = fmt::format("{}/shapes/layers/{}.txt", source_folder().string(), network);
    EXPECT_FALSE(read_shapes(list).empty());
  }
}

TEST(Shapes, EdgesHoldEveryEdge) {
  const auto problems = read_shapes(source_folder() / "shapes/edges.txt");
  const auto has = [&](auto condition) { return std::any_of(problems.begin(), problems.end(), condition); };
  using P = const ConvProblem&;
  EXPECT_TRUE(has([](P p) { return p.h == 1 && p.w == 1; }));
  EXPECT_TRUE(has([](P p) { return p.r == p.h && p.s == p.w && p.h > 1 && !p.padded(); }));
  EXPECT_TRUE(has([](P p) { return p.r > p.h && p.s > p.w; }));
  EXPECT_TRUE(has([](P p) { return p.stride_h > p.r && p.stride_w > p.s; }));
  EXPECT_TRUE(has([](P p) { return p.stride_h != p.stride_w; }));
  EXPECT_TRUE(has([](P p) { return p.dilation_h != p.dilation_w; }));
  EXPECT_TRUE(has([](P p) { return p.pad_top > p.r - 1; }));
  EXPECT_TRUE(has([](P p) { return p.pad_left != p.pad_right && p.pad_top != p.pad_bottom; }));
  EXPECT_TRUE(has([](P p) { return p.groups > 1 && p.groups < p.c; }));
  EXPECT_TRUE(has([](P p) { return p.groups == p.c && p.k == p.c && p.c > 1; }));
  EXPECT_TRUE(has([](P p) { return p.groups == p.c && p.k > p.c; }));
  EXPECT_TRUE(has([](P p) { return p.r % 2 == 0 && p.s % 2 == 0; }));
  EXPECT_TRUE(has([](P p) { return p.n > 64; }));
  EXPECT_TRUE(has([](P p) { return p.groups > 1 && p.padded() && !p.unit_stride() && !p.unit_dilation(); }));
}

/// Returns a shipped network's convolutions for one image, in order.
std::vector<std::string> convolutions_of(const std::string& model) {
  const Graph graph = load_model(model);
  Shape input = graph.inputs[0].shape;
  input[0] = 1;
  const std::vector<Shape> shapes = infer_shapes(graph, input);
  std::vector<std::string> convolutions;
  for (const Node& node : graph.nodes) {
    if (!std::holds_alternative<ConvOp>(node.op)) continue;
    const Shape& x = shapes[static_cast<size_t>(node.inputs[0])];
    const Shape& w = shapes[static_cast<size_t>(node.inputs[1])];
    convolutions.push_back(to_text({.c = x[1], .h = x[2], .w = x[3], .k = w[0], .r = w[2], .s = w[3]}));
  }
  return convolutions;
}

TEST(Shapes, OfTheCourseAreThoseOfItsNetworks) {
  std::set<std::string> listed, shipped;
  for (ConvProblem problem : read_shapes(source_folder() / "shapes/course.txt")) {
    problem.n = 1;
    listed.insert(to_text(problem));
  }
  for (const ShippedModel& model : shipped_models()) {
    const std::vector<std::string> convolutions = convolutions_of(model.name);
    shipped.insert(convolutions.begin(), convolutions.end());
    if (model.name == "sp19-library") continue;  // a kernel file replaces the student's own operator
    std::vector<std::string> of_files;
    for (const ConvProblem& problem : semester_layers(model.semester, 1)) of_files.push_back(to_text(problem));
    EXPECT_EQ(of_files, convolutions) << model.name;
  }
  EXPECT_EQ(listed, shipped);
}

TEST(Steps, EpiloguesAreForKernelsThatTakeAny) {
  const ConvProblem problem = parse_problem("n2_c3h8w8_k2r3s3");
  ConvKernel kernel{.refuses = [](const ConvStep& step, const DeviceCaps&) { return refuse_unless_plain(step); }};
  EXPECT_EQ(steps_to_verify(adapted(kernel), problem, {}).size(), 1u);
  kernel.refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return "nothing suits"; };
  EXPECT_EQ(steps_to_verify(adapted(kernel), problem, {}).size(), 1u);
  kernel.refuses = [](const ConvStep& step, const DeviceCaps&) -> Refusal {
    if (step.epilogue.pool) return "no pooling";
    return std::nullopt;
  };
  EXPECT_GT(steps_to_verify(adapted(kernel), problem, {}).size(), 5u);
}

TEST(Steps, ChannelBlocksAreForKernelsThatKnowThem) {
  ConvKernel kernel{.refuses = [](const ConvStep& step, const DeviceCaps&) -> Refusal {
    if (step.input_format.order == Order::nchw) return "takes channels in blocks only";
    return step.epilogue.empty() ? Refusal() : "no epilogue";
  }};
  const ConvProblem problem = parse_problem("c5h9w9_k6r3s3");
  EXPECT_EQ(steps_to_verify(adapted(kernel), problem, {}).size(), 1);
  kernel.format = kNchw8cF16;
  std::vector<std::string> texts;
  for (const ConvStep& step : steps_to_verify(adapted(kernel), problem, {})) texts.push_back(describe(step));
  EXPECT_EQ(texts, (std::vector<std::string>{"c5h9w9_k6r3s3", "c5h9w9_k6r3s3 from nchw8c float16 to nchw8c float16",
                                             "c5h9w9_k6r3s3 from nchw8c float16"}));
}

TEST(Steps, ArraysInRowsAreAlsoPartsOfLargerOnes) {
  ConvKernel kernel{.refuses = [](const ConvStep& step, const DeviceCaps&) -> Refusal {
    return step.input_format == kNhwc && step.epilogue.empty() ? Refusal() : "only nhwc input";
  }};
  kernel.format = kNhwc;
  std::vector<std::string> texts;
  for (const ConvStep& step : steps_to_verify(adapted(kernel), parse_problem("n2_c8h3w3_k8r1s1"), {})) {
    texts.push_back(describe(step));
    if (!texts.back().ends_with("with a pitch")) continue;
    EXPECT_EQ(step.input_step, 16) << "8 more channels";
    EXPECT_EQ(step.output_step, step.output_format == kNhwc ? 16 : 0);
  }
  EXPECT_THAT(texts, testing::IsSupersetOf({"n2_c8h3w3_k8r1s1 from nhwc to nhwc with a pitch",
                                            "n2_c8h3w3_k8r1s1 from nhwc with a pitch"}));
}

TEST(Steps, ImagesInLanesComeAndGoPlainlyToo) {
  ConvKernel kernel;
  const ConvProblem problem = parse_problem("n16_c3h8w8_k2r3s3");
  kernel.format = kNchw16n;
  kernel.refuses = [](const ConvStep& step, const DeviceCaps&) -> Refusal {
    return step.epilogue.empty() ? Refusal() : "no epilogue";
  };
  std::vector<std::string> texts;
  for (const ConvStep& step : steps_to_verify(adapted(kernel), problem, {})) {
    if (step.epilogue.empty()) texts.push_back(describe(step));
  }
  const std::string text = to_text(problem);
  EXPECT_THAT(texts,
              testing::UnorderedElementsAre(text, text + " uint8", text + " from nchw16n to nchw16n",
                                            text + " from nchw16n", text + " to nchw16n", text + " uint8 to nchw16n"));
  kernel.refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return "nothing suits"; };
  EXPECT_EQ(steps_to_verify(adapted(kernel), problem, {}).size(), 2U) << "a refusal for each layout";
}

TEST(Steps, PoolingLargerThanTheOutputIsLeftOut) {
  ConvKernel kernel{.refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return std::nullopt; }};
  for (const ConvStep& step : steps_to_verify(adapted(kernel), parse_problem("c1h1w1_k1r1s1"), {})) {
    EXPECT_GT(element_count(step.output_shape()), 0) << describe(step);
  }
}

}  // namespace
}  // namespace convlab
