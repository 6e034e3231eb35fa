// Tests import of MXNet checkpoints in all formats of the course's years, and of damaged ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "convlab/base/file.h"
#include "convlab/base/half.h"
#include "convlab/model/formats/mxnet_import.h"
#include "convlab/model/formats/mxnet_params.h"
#include "convlab/model/formats/zoo.h"
#include "tests/support/mxnet_checkpoint.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

Graph import(const std::string& symbol, const MxnetParams& params) {
  return import_mxnet(bytes_of(symbol), "net-symbol.json", params.bytes(), "net-0001.params");
}

std::string refusal(const std::string& symbol, const MxnetParams& params) {
  return bad_input_message([&] { import(symbol, params); });
}

/// A small version of the sp19 network for 12x12 images: conv 2@3x3, tanh, maxpool 2, conv 3@3x3, FC 4, tanh, FC 2,
/// softmax. Sides are 12 -> 10 -> 5 -> 3, so the first dense layer has 27 columns.
std::string course_symbol(const std::string& convolution = "New", MxnetSymbolText symbol = MxnetSymbolText()) {
  const std::string bias = convolution == "Convolution" ? "; no_bias=True" : "";
  const int data = symbol.variable("data"), w0 = symbol.variable("new0_weight");
  const int c0 = symbol.add(convolution, "new0", {data, w0}, "kernel=(3, 3); num_filter=2" + bias);
  const int a0 = symbol.add("Activation", "activation0", {c0}, "act_type=tanh");
  const int pool = symbol.add("Pooling", "pooling0", {a0}, "kernel=(2, 2); pool_type=max; stride=(2, 2)");
  const int w1 = symbol.variable("new1_weight");
  const int c1 = symbol.add(convolution, "new1", {pool, w1}, "kernel=(3, 3); num_filter=3" + bias);
  const int flat = symbol.add("Flatten", "flatten0", {c1});
  const int w2 = symbol.variable("fullyconnected0_weight"), b2 = symbol.variable("fullyconnected0_bias");
  const int f0 = symbol.add("FullyConnected", "fullyconnected0", {flat, w2, b2}, "num_hidden=4");
  const int a1 = symbol.add("Activation", "activation1", {f0}, "act_type=tanh");
  const int w3 = symbol.variable("fullyconnected1_weight"), b3 = symbol.variable("fullyconnected1_bias");
  const int f1 = symbol.add("FullyConnected", "fullyconnected1", {a1, w3, b3}, "num_hidden=2");
  const int label = symbol.variable("softmax_label");
  symbol.add("SoftmaxOutput", "softmax", {f1, label});
  return symbol.text();
}

MxnetParams course_params(MxnetFormat format = MxnetFormat::v2) {
  MxnetParams params(format);
  params.fill("arg:new0_weight", {2, 1, 3, 3}, 1).fill("arg:new1_weight", {3, 2, 3, 3}, 2);
  params.fill("arg:fullyconnected0_weight", {4, 27}, 3).fill("arg:fullyconnected0_bias", {4}, 4);
  params.fill("arg:fullyconnected1_weight", {2, 4}, 5).fill("arg:fullyconnected1_bias", {2}, 6);
  return params;
}

TEST(Mxnet, TheCoursesNetworkInEveryFormat) {
  for (const MxnetFormat format : {MxnetFormat::legacy, MxnetFormat::v1, MxnetFormat::v2, MxnetFormat::v3}) {
    const Graph graph = import(course_symbol(), course_params(format));
    EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, 12, 12}));
    EXPECT_EQ(describe_layers(graph), "conv 2@3x3, tanh, maxpool 2, conv 3@3x3, FC 4, tanh, FC 2, softmax");
    EXPECT_EQ(infer_shapes(graph, Shape{5, 1, 12, 12})[static_cast<size_t>(graph.outputs[0].value)], (Shape{5, 2}));
    for (const Node& node : graph.nodes) {
      if (!std::holds_alternative<ConvOp>(node.op)) continue;
      EXPECT_EQ(node.inputs.size(), 2u);
      EXPECT_EQ(graph.constants.at(node.inputs[1]).values<float>()[0], node.name == "new0" ? 1 : 2);
    }
    EXPECT_FALSE(std::get<SoftmaxOp>(graph.nodes.back().op).flattened);
  }
}

TEST(Mxnet, AttributesHaveThreeNamesAndInputsTwoForms) {
  for (const char* key : {"attrs", "attr", "param"}) {
    for (const bool with_version : {true, false}) {
      const Graph graph = import(course_symbol("Convolution", MxnetSymbolText(key, with_version)), course_params());
      EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, 12, 12})) << key;
    }
  }
}

TEST(Mxnet, EveryElementTypeIsRead) {
  MxnetParams params(MxnetFormat::v2);
  params.add<float>("a", {2}, {1, -2}).add<double>("b", {2}, {1, -2}).add<uint8_t>("d", {2}, {1, 2});
  params.add<uint16_t>("c", {1, 2}, {float_to_half(1), float_to_half(-2)});
  params.add<int32_t>("e", {2}, {1, -2}).add<int8_t>("f", {2}, {1, -2}).add<int64_t>("g", {2}, {1, -2});
  const auto arrays = read_mxnet_params(params.bytes(), "net.params");
  ASSERT_EQ(arrays.size(), 7u);
  for (const auto& [name, tensor] : arrays) {
    const Tensor floats = converted(tensor, ElementType::f32);
    EXPECT_THAT(values_of<float>(floats), ElementsAre(1, name == "d" ? 2 : -2)) << name;
  }
  EXPECT_EQ(arrays.at("c").shape(), (Shape{1, 2}));
}

/// data -> one operator with its weights -> FullyConnected with `columns` columns.
struct OneLayer {
  MxnetSymbolText symbol;
  MxnetParams params{MxnetFormat::v2};
  int data = symbol.variable("data");

  std::string finish(int last, int64_t columns) {
    params.fill("arg:fc_weight", {2, columns}, 1);
    const int weight = symbol.variable("fc_weight");
    symbol.add("FullyConnected", "fc", {last, weight}, "num_hidden=2; no_bias=True");
    return symbol.text();
  }
};

TEST(Mxnet, ConvolutionTakesEveryAttribute) {
  OneLayer net;
  const int w = net.symbol.variable("w"), b = net.symbol.variable("b");
  net.params.fill("arg:w", {4, 3, 3, 2}, 1).fill("arg:b", {4}, 1);
  const int conv = net.symbol.add("Convolution", "conv", {net.data, w, b},
                                  "kernel=(3,2); num_filter=4; stride=[2, 1]; dilate=(1, 2); pad=(1, 0); num_group=2; "
                                  "workspace=512; cudnn_tune=off; layout=NCHW; no_bias=False");
  // Side 9: (9 + 2 - 3) / 2 + 1 = 5 rows, 9 - 2 = 7 columns.
  const Graph graph = import(net.finish(conv, 4 * 5 * 7), net.params);
  EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 6, 9, 9}));
  const auto& op = std::get<ConvOp>(graph.nodes[0].op);
  EXPECT_EQ(op.groups, 2);
  EXPECT_EQ(op.pad_bottom, 1);
  EXPECT_EQ(op.pad_right, 0);
  EXPECT_EQ(op.stride_h, 2);
  EXPECT_EQ(op.dilation_w, 2);
  EXPECT_EQ(graph.nodes[0].inputs.size(), 3u);
}

TEST(Mxnet, PoolingFollowsItsConvention) {
  const auto pooled = [](const std::string& attributes, int64_t columns) {
    OneLayer net;
    const int pool = net.symbol.add("Pooling", "pool", {net.data}, "kernel=(3, 3); " + attributes);
    return import(net.finish(pool, columns), net.params);
  };
  Graph graph = pooled("pool_type=avg; stride=(2, 2); pad=(1, 1)", 16);
  EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, 7, 7}));
  Pool pool = std::get<PoolOp>(graph.nodes[0].op).pool;
  EXPECT_EQ(pool.kind, PoolKind::average);
  EXPECT_TRUE(pool.count_include_pad);
  EXPECT_FALSE(pool.ceil_mode);
  graph = pooled("pooling_convention=full; stride=(2, 2)", 16);
  EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, 8, 8}));
  pool = std::get<PoolOp>(graph.nodes[0].op).pool;
  EXPECT_EQ(pool.kind, PoolKind::max);
  EXPECT_TRUE(pool.ceil_mode);
  graph = pooled("pool_type=avg; count_include_pad=False", 16);
  EXPECT_FALSE(std::get<PoolOp>(graph.nodes[0].op).pool.count_include_pad);
  // For one pixel with a padding of two on each side, MXNet adds a second window after the image.
  EXPECT_THAT(bad_input_message([&] { pooled("pooling_convention=full; stride=(4, 4); pad=(2, 2)", 1); }),
              HasSubstr("node 'pool' (Pooling): pooling_convention 'full' is not supported"));
  EXPECT_THAT(bad_input_message([&] { pooled("pooling_convention=full; stride=(4, 4)", 3); }),
              HasSubstr("no square image of side 1 to 4096 produces 3"));
  EXPECT_THAT(bad_input_message([&] { pooled("pooling_convention=same", 4); }), HasSubstr("'same'"));
  EXPECT_THAT(bad_input_message([&] { pooled("pool_type=sum", 4); }), HasSubstr("pool_type 'sum'"));
  EXPECT_THAT(bad_input_message([&] { pooled("global_pool=True", 4); }), HasSubstr("global_pool"));
}

TEST(Mxnet, AveragingTheWholeImageLeavesItsSizeOpen) {
  OneLayer net;
  const int w = net.symbol.variable("w");
  net.params.fill("arg:w", {4, 3, 3, 3}, 1);
  const int conv = net.symbol.add("New", "conv", {net.data, w}, "kernel=(3, 3); num_filter=4");
  const int pool = net.symbol.add("Pooling", "pool", {conv}, "global_pool=True; pool_type=avg");
  EXPECT_EQ(import(net.finish(pool, 4), net.params).inputs[0].shape, (Shape{-1, 3, -1, -1}));
}

TEST(Mxnet, ADenseLayerAloneTakesOneChannel) {
  OneLayer net;
  const int dropout = net.symbol.add("Dropout", "dropout", {net.data}, "p=0.5");
  const Graph graph = import(net.finish(dropout, 784), net.params);
  EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, 28, 28}));
  EXPECT_EQ(describe_layers(graph), "FC 2");
}

std::string batch_norm_symbol(OneLayer& net, const std::string& attributes, bool statistics_listed) {
  for (const char* name : {"bn_gamma", "bn_beta"}) net.params.fill(std::string("arg:") + name, {3}, 2);
  net.params.fill("aux:bn_moving_mean", {3}, 5).fill("aux:bn_moving_var", {3}, 7);
  std::vector<int> inputs{net.data, net.symbol.variable("bn_gamma"), net.symbol.variable("bn_beta")};
  if (statistics_listed) {
    inputs.push_back(net.symbol.variable("bn_moving_mean"));
    inputs.push_back(net.symbol.variable("bn_moving_var"));
  }
  const int bn = net.symbol.add("BatchNorm", "bn", inputs, attributes);
  return net.finish(bn, 3 * 4 * 4);
}

TEST(Mxnet, BatchNormFixesGammaUnlessToldOtherwise) {
  for (const bool statistics_listed : {true, false}) {
    for (const bool fixed : {true, false}) {
      OneLayer net;
      const std::string attributes = fixed ? "eps=1e-05" : "fix_gamma=False";
      const Graph graph = import(batch_norm_symbol(net, attributes, statistics_listed), net.params);
      EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 3, 4, 4}));
      const Node& node = graph.nodes[0];
      const auto first = [&](size_t i) { return graph.constants.at(node.inputs[i]).values<float>()[0]; };
      EXPECT_EQ(first(1), fixed ? 1 : 2);
      EXPECT_EQ(first(2), 2);
      EXPECT_EQ(first(3), 5);
      EXPECT_EQ(first(4), 7);
      EXPECT_FLOAT_EQ(std::get<BatchNormOp>(node.op).epsilon, fixed ? 1e-5f : 1e-3f);
    }
  }
  OneLayer net;
  EXPECT_THAT(bad_input_message([&] { import(batch_norm_symbol(net, "axis=3", true), net.params); }),
              HasSubstr("axis 3"));
}

TEST(Mxnet, SoftmaxHasItsAxis) {
  const auto softmax = [](const std::string& op, const std::string& attributes) {
    OneLayer net;
    const int w = net.symbol.variable("w");
    net.params.fill("arg:w", {4, 1, 3, 3}, 1);
    const int conv = net.symbol.add("New", "conv", {net.data, w}, "kernel=(3, 3); num_filter=4");
    net.symbol.add(op, "softmax", {conv}, attributes);
    return std::get<SoftmaxOp>(import(net.symbol.text(), net.params).nodes.back().op);
  };
  EXPECT_EQ(softmax("softmax", "").axis, -1);
  EXPECT_EQ(softmax("softmax", "axis=1").axis, 1);
  EXPECT_TRUE(softmax("SoftmaxActivation", "").flattened);
  EXPECT_FALSE(softmax("SoftmaxActivation", "mode=channel").flattened);
  EXPECT_TRUE(softmax("SoftmaxOutput", "").flattened);
  EXPECT_FALSE(softmax("SoftmaxOutput", "multi_output=True").flattened);
  EXPECT_EQ(softmax("SoftmaxOutput", "preserve_shape=True").axis, -1);
  EXPECT_THAT(bad_input_message([&] { softmax("softmax", "temperature=2.0"); }), HasSubstr("temperature"));
}

/// Returns the course's symbol with one text replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = course_symbol();
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Mxnet, RefusesNodesThatAreNotUnderstood) {
  const auto refused = [&](const std::string& from, const std::string& to) {
    return refusal(with(from, to), course_params());
  };
  EXPECT_THAT(refused("\"New\"", "\"Deconvolution\""),
              AllOf(HasSubstr("net-symbol.json: node 'new0' (Deconvolution): operator not supported"),
                    HasSubstr("Convolution, Dropout")));
  EXPECT_THAT(refused("\"New\"", "\"Convolution\""), HasSubstr("expected at least 3 inputs, got 2"));
  EXPECT_THAT(refused("num_filter\": \"2", "num_filter\": \"5"), HasSubstr("declares 5 filters of 3x3"));
  EXPECT_THAT(refused("num_filter\": \"2", "num_filter\": \"two"), HasSubstr("must be an integer, got 'two'"));
  EXPECT_THAT(refused("\"num_filter\": \"2\"", "\"num_filter\": 2"), HasSubstr("node 2: attribute 'num_filter'"));
  EXPECT_THAT(refused("num_filter", "filters"), HasSubstr("num_filter is missing"));
  EXPECT_THAT(refused("(3, 3)", "(3, 3, 3)"),
              HasSubstr("attribute kernel must have two sizes, height and width, got 3"));
  EXPECT_THAT(refused("(3, 3)", "(3, 99999999999999999999)"), HasSubstr("must be between 1 and"));
  EXPECT_THAT(refused("(3, 3)", "(3, -3)"), HasSubstr("must be between 1 and"));
  EXPECT_THAT(refused("\"kernel\"", "\"layout\": \"NHWC\", \"kernel\""), HasSubstr("layout NHWC"));
  EXPECT_THAT(refused("tanh", "softsign"), HasSubstr("act_type 'softsign'"));
  EXPECT_THAT(refused("num_hidden\": \"4", "num_hidden\": \"5"), HasSubstr("declares 5 rows"));
  EXPECT_THAT(refused("\"num_hidden\"", "\"flatten\": \"False\", \"num_hidden\""), HasSubstr("flatten"));
  EXPECT_THAT(refused("\"num_hidden\"", "\"no_bias\": \"maybe\", \"num_hidden\""), HasSubstr("'maybe'"));
  EXPECT_THAT(refused("fullyconnected0_bias", "missing_bias"),
              HasSubstr("'missing_bias' are missing from the params file"));
  EXPECT_THAT(refused("new1_weight", "new0_weight"), HasSubstr("duplicate variable name"));
}

TEST(Mxnet, RefusesNodesThatAreNotConnected) {
  const auto refused = [&](const std::string& from, const std::string& to) {
    return refusal(with(from, to), course_params());
  };
  EXPECT_THAT(refused("[0, 0, 0]", "[7, 0, 0]"), HasSubstr("node 7 is used before it is defined"));
  EXPECT_THAT(refused("[0, 0, 0]", "[0, 1, 0]"), HasSubstr("output 1 of node 0"));
  EXPECT_THAT(refused("[0, 0, 0]", "[-1, 0, 0]"), HasSubstr("an input's node must be a non-negative integer"));
  EXPECT_THAT(refused("[0, 0, 0]", "[]"), HasSubstr("[node, output, version]"));
  EXPECT_THAT(refused("\"op\": \"Flatten\"", "\"op\": 3"), HasSubstr("node 7: expected a string 'op'"));
  EXPECT_THAT(refused("\"inputs\": [[6", "\"in\": [[6"), HasSubstr("node 7: expected an array 'inputs'"));
  EXPECT_THAT(refused("\"heads\": [", "\"heads\": [[0, 0, 0], "), HasSubstr("the network has 2 outputs"));
  EXPECT_THAT(refused("\"heads\": [[16", "\"heads\": [[99"), HasSubstr("heads: node 99 is used before it is defined"));
  EXPECT_THAT(refused("\"heads\": [[16", "\"heads\": [[1"), HasSubstr("'new0_weight' is not computed"));
  EXPECT_THAT(refused("heads", "tails"), HasSubstr("expected an array 'heads'"));
}

TEST(Mxnet, RefusesWeightsThatDoNotFit) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const auto params = [](const Shape& dense, const Shape& filters, float value) {
    MxnetParams result(MxnetFormat::v2);
    result.fill("arg:new0_weight", {2, 1, 3, 3}, value).fill("arg:new1_weight", filters, 2);
    result.fill("arg:fullyconnected0_weight", dense, 3).fill("arg:fullyconnected0_bias", {4}, 4);
    result.fill("arg:fullyconnected1_weight", {2, 4}, 5).fill("arg:fullyconnected1_bias", {2}, 6);
    return result;
  };
  EXPECT_THAT(refusal(course_symbol(), params({4, 28}, {3, 2, 3, 3}, 1)),
              HasSubstr("'fullyconnected0' (FullyConnected): weights have 28 columns, but no square image"));
  EXPECT_THAT(refusal(course_symbol(), params({4, 27}, {3, 5, 3, 3}, 1)), HasSubstr("node 'new1' (Conv): filters"));
  EXPECT_THAT(refusal(course_symbol(), params({4, 27}, {3, 18}, 1)), HasSubstr("declares 3 filters of 3x3"));
  EXPECT_THAT(refusal(course_symbol(), params({4, 27}, {3, 2, 3, 3}, kNaN)),
              HasSubstr("node 'new0_weight' (null): weights contain NaN"));
  EXPECT_THAT(refusal(course_symbol(), MxnetParams(MxnetFormat::v2)), HasSubstr("missing from the params file"));
}

TEST(Mxnet, RefusesWhatIsNoSymbol) {
  const auto refused = [](const std::string& text) { return refusal(text, course_params()); };
  EXPECT_THAT(refused(""), HasSubstr("net-symbol.json: not an MXNet symbol: at byte "));
  EXPECT_THAT(refused("{\"nodes\": [1, 2"), HasSubstr("at byte 16"));
  EXPECT_THAT(refused("[]"), HasSubstr("expected an array 'nodes'"));
  EXPECT_THAT(refused("3"), HasSubstr("expected an array 'nodes'"));
  EXPECT_THAT(refused("{\"nodes\": {}}"), HasSubstr("expected an array 'nodes'"));
  EXPECT_THAT(refused("{\"nodes\": [7]}"), HasSubstr("node 0: expected a JSON object"));
  EXPECT_THAT(refused("{\"nodes\": [], \"heads\": [[0, 0, 0]]}"),
              HasSubstr("heads: node 0 is used before it is defined"));
  EXPECT_THAT(refused(std::string(100000, '[')), HasSubstr("nested deeper than 64"));
  const std::string whole = course_symbol();
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_THROW(import(whole.substr(0, size), course_params()), Error) << size;
  }
}

std::string params_refusal(const std::vector<uint8_t>& bytes) {
  return bad_input_message([&] { read_mxnet_params(bytes, "net.params"); });
}

TEST(Mxnet, RefusesDamagedParams) {
  for (const MxnetFormat format : {MxnetFormat::legacy, MxnetFormat::v1, MxnetFormat::v2, MxnetFormat::v3}) {
    const std::vector<uint8_t> whole = MxnetParams(format).fill("arg:w", {2, 3}, 1).fill("arg:b", {2}, 1).bytes();
    EXPECT_EQ(read_mxnet_params(whole, "net.params").size(), 2u);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(params_refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}),
                  HasSubstr("net.params: "));
    }
  }
  const std::vector<uint8_t> whole = MxnetParams(MxnetFormat::v2).fill("arg:w", {2, 3}, 1).bytes();
  const auto with = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = whole;
    bytes.at(at) = value;
    return params_refusal(bytes);
  };
  EXPECT_THAT(with(0, 0x13), HasSubstr("not an MXNet .params file: expected magic number 0x112, got 0x113"));
  EXPECT_THAT(with(16, 200), HasSubstr("the number of arrays is 200, more than the file can hold"));
  EXPECT_THAT(with(23, 255), HasSubstr("more than the file can hold"));
  EXPECT_THAT(with(24, 0), HasSubstr("dimensions"));                                 // unknown array format
  EXPECT_THAT(with(28, 1), HasSubstr("sparse"));                                     // storage type
  EXPECT_THAT(with(32, 33), HasSubstr("33 dimensions"));                             // rank
  EXPECT_THAT(with(43, 255), HasSubstr("dimension 0 must not be negative, got -"));  // sign byte of the first size
  EXPECT_THAT(with(42, 127), HasSubstr("needs"));                                    // a huge first size
  EXPECT_THAT(with(60, 7), HasSubstr("type flag 7"));
  std::vector<uint8_t> longer = whole;
  longer.push_back(0);
  EXPECT_THAT(params_refusal(longer), HasSubstr("1 unexpected bytes after the last name"));
  EXPECT_THAT(params_refusal(MxnetParams(MxnetFormat::v2).fill("w", {1}, 1).fill("w", {1}, 1).bytes()),
              HasSubstr("duplicate array name 'w'"));
}

TEST(Mxnet, ACheckpointIsTwoFiles) {
  const TemporaryFolder folder;
  write_file(folder.path() / "net-0002.params", course_params().bytes());
  const std::string params = (folder.path() / "net-0002.params").string();
  EXPECT_THAT(bad_input_message([&] { load_model(params); }),
              HasSubstr("net-symbol.json; it must be in the same directory"));
  write_file(folder.path() / "net-symbol.json", course_symbol());
  const Graph graph = load_model(params);
  EXPECT_EQ(graph.name, "net-0002");
  EXPECT_EQ(course_model_name(graph), "ece408");
  EXPECT_THAT(bad_input_message([&] { load_model((folder.path() / "net-symbol.json").string()); }),
              HasSubstr("expected the checkpoint's .params file"));
}

/// Requires an original checkpoint of the course, given when configuring the build.
TEST(Mxnet, AnOriginalCheckpointIsRead) {
  const std::string path = CONVLAB_MXNET_CHECKPOINT;
  if (path.empty()) GTEST_SKIP() << "no checkpoint: configure with -DCONVLAB_MXNET_CHECKPOINT=.../NAME-0001.params";
  const Graph graph = load_model(path);
  EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, 48, 48}));
  EXPECT_EQ(describe_layers(graph), "conv 6@5x5, tanh, maxpool 2, conv 16@5x5, FC 140, tanh, FC 10, softmax");
}

}  // namespace
}  // namespace convlab
