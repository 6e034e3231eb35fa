// Tests every operator at the beginning, in the middle and at the end of a network, on feature maps and on images of
// one pixel, in every layout that plans use: the default plan must agree with the layer-by-layer plan.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "convlab/device/cpu.h"
#include "convlab/device/simt.h"
#include "convlab/engine/engine.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/step_text.h"
#include "convlab/model/op_info.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/planned_graph.h"
#include "convlab/plan/planner.h"
#include "tests/plan/quantized_graph.h"
#include "tests/plan/wide_graph.h"

namespace convlab {
namespace {

/// Adds an operator, with others that it needs, after x, which has this 4-dimensional shape.
using Put = std::function<ValueId(GraphBuilder&, ValueId x, const Shape& shape)>;

struct OpCase {
  const char* name;
  Put put;
  /// True if a small change of the input can change the output a lot, as for rounding or argmax.
  bool jumps = false;
};

ValueId whole(GraphBuilder& graph, const Shape& shape, int64_t low, int64_t high) {
  const ValueId id = graph.constant(shape);
  for (float& each : graph.graph().constants[id].values<float>()) {
    each = static_cast<float>(graph.rng().integer(low, high));
  }
  return id;
}

ValueId number(GraphBuilder& graph, float value) { return graph.constant({}, value, value); }

/// An operator with one input.
Put one(Op op) {
  return [op](GraphBuilder& graph, ValueId x, const Shape&) { return graph.add(op, {x}); };
}

/// A pool without padding, whose window is at most as large as the image.
Pool window(const Shape& x, int64_t side, PoolKind kind) {
  const int64_t h = std::min(side, x[2]), w = std::min(side, x[3]);
  return {.kind = kind, .kernel_h = h, .kernel_w = w, .stride_h = h, .stride_w = w};
}

Put pool(int64_t side, PoolKind kind) {
  return [=](GraphBuilder& graph, ValueId x, const Shape& shape) {
    return graph.add(PoolOp{window(shape, side, kind)}, {x});
  };
}

/// The quantized values of x.
ValueId quantized(GraphBuilder& graph, ValueId x) {
  return graph.add(QuantizeOp{}, {x, number(graph, 0x1p-6f), number(graph, 128)});
}

std::vector<OpCase> op_cases() {
  using G = GraphBuilder;
  constexpr int64_t kAll = 1000;
  const auto max = PoolKind::max, average = PoolKind::average;
  return {
      {"Conv",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(same(3), {x, g.constant({24, s[1], 3, 3})});
       }},
      {"ConvTo1x1",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(ConvOp{}, {x, g.constant({16, s[1], s[2], s[3]})});
       }},
      {"ConvOfFewMaps", [](G& g, ValueId x, const Shape& s) { return g.conv(x, 5, s[1], 1); }},
      {"ConvTranspose",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(ConvTransposeOp{}, {x, g.constant({s[1], 8, 2, 2})});
       }},
      {"MaxPool", pool(2, max)},
      {"AveragePool", pool(2, average)},
      {"MaxPoolTo1x1", pool(kAll, max)},
      {"AveragePoolTo1x1", pool(kAll, average)},
      {"MaxPoolPadded",
       one(PoolOp{{.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1}})},
      {"MaxPoolIndices",
       [](G& g, ValueId x, const Shape& s) { return g.add(MaxPoolIndicesOp{window(s, 2, PoolKind::max)}, {x}); }, true},
      {"MaxUnpool",
       [](G& g, ValueId x, const Shape& s) {
         const Pool pool = window(s, 2, PoolKind::max);
         const ValueId at = g.add(MaxPoolIndicesOp{pool}, {x});
         return g.add(MaxUnpoolOp{pool, s}, {g.add(PoolOp{pool}, {x}), at});
       },
       true},
      {"LpPool", [](G& g, ValueId x, const Shape& s) { return g.add(LpPoolOp{window(s, 2, PoolKind::max)}, {x}); }},
      {"GlobalAveragePool", one(GlobalAveragePoolOp{})},
      {"Col2Im",
       [](G& g, ValueId x, const Shape& s) {
         const ValueId columns = g.add(ReshapeOp{{0, 0, -1}}, {x});
         return g.add(Col2ImOp{.image_h = s[2], .image_w = s[3]}, {columns});
       }},
      {"LRN", one(LrnOp{.size = 3})},
      {"Resize", one(ResizeOp{.mode = SampleMode::linear, .scales = {1, 1, 2, 2}})},
      {"GridSample",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(GridSampleOp{}, {x, g.constant({s[0], 2, 3, 2})});
       }},
      {"Identity", one(ActivationOp{})},
      {"Relu", one(ActivationOp{{ActivationKind::relu}})},
      {"Abs", one(UnaryOp{UnaryKind::abs})},
      {"Round", one(RoundOp{}), true},
      {"Add",
       [](G& g, ValueId x, const Shape&) {
         return g.add(AddOp{}, {x, x});
       }},
      {"AddOfMaps",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(AddOp{}, {g.constant({s[1], 1, 1}), x});
       }},
      {"MulByMap",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(MulOp{}, {x, g.constant({1, s[1], 1, 1})});
       }},
      {"MulByMean",
       [](G& g, ValueId x, const Shape&) {
         return g.add(MulOp{}, {x, g.add(GlobalAveragePoolOp{}, {x})});
       }},
      {"Max",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(BinaryOp{BinaryKind::maximum}, {x, g.constant({s[2], s[3]})});
       }},
      {"Where",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(WhereOp{}, {whole(g, {s[2], s[3]}, 0, 1), x, g.constant({})});
       }},
      {"BatchNormalization", [](G& g, ValueId x, const Shape& s) { return g.batch_norm(x, s[1]); }},
      {"Normalize", one(NormalizeOp{.groups = 1})},
      {"LpNormalize", one(LpNormalizeOp{.axis = 1})},
      {"Softmax", one(SoftmaxOp{.axis = 1})},
      {"ReduceMean", one(ReduceOp{ReduceKind::mean, {2, 3}})},
      {"ReduceMeanOfAll", one(ReduceOp{ReduceKind::mean, {2, 3}, false})},
      {"ReduceMax", one(ReduceOp{ReduceKind::max, {1}})},
      {"ArgMax", one(ArgReduceOp{.axis = 1}), true},
      {"TopK", one(TopKOp{.axis = 1, .k = 2})},
      {"CumSum", one(CumSumOp{.axis = 1})},
      {"Gemm",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(GemmOp{}, {g.add(FlattenOp{}, {x}), g.constant({s[1] * s[2] * s[3], 7})});
       }},
      {"MatMul",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(MatMulOp{}, {x, g.constant({s[3], 5})});
       }},
      {"Einsum",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(EinsumOp{"nchw,cd->ndhw"}, {x, g.constant({s[1], 8})});
       }},
      {"Concat",
       [](G& g, ValueId x, const Shape&) {
         return g.add(ConcatOp{.axis = 1}, {x, x});
       }},
      {"ConcatOfRows",
       [](G& g, ValueId x, const Shape&) {
         return g.add(ConcatOp{.axis = 2}, {x, x});
       }},
      {"Flatten", one(FlattenOp{})},
      {"Reshape", one(ReshapeOp{{0, 0, -1}})},
      {"Unsqueeze", one(UnsqueezeOp{{1}})},
      {"SqueezeUnsqueezed",
       [](G& g, ValueId x, const Shape&) { return g.add(SqueezeOp{{2}}, {g.add(UnsqueezeOp{{2}}, {x})}); }},
      {"Transpose", one(TransposeOp{{0, 2, 3, 1}})},
      {"Pad", one(PadOp{.pads = {0, 0, 1, 1, 0, 0, 0, 1}})},
      {"Slice", one(SliceOp{.starts = {1}, .ends = {9}, .axes = {1}})},
      {"Expand", one(ExpandOp{{2, 1, -1, -1, -1}})},
      {"Tile", one(TileOp{{1, 1, 2, 1}})},
      {"DepthToSpace", one(DepthToSpaceOp{2})},
      {"SpaceToDepth", one(SpaceToDepthOp{1})},
      {"Trilu", one(TriluOp{})},
      {"Gather",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(GatherOp{.axis = 1}, {x, whole(g, {8}, 0, s[1] - 1)});
       }},
      {"GatherElements",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(GatherElementsOp{.axis = 1}, {x, whole(g, s, 0, s[1] - 1)});
       }},
      {"GatherND",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(GatherNdOp{.batch_dims = 1}, {x, whole(g, {s[0], 3, 1}, 0, s[1] - 1)});
       }},
      {"ScatterElements",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(ScatterElementsOp{.axis = 1},
                      {x, whole(g, {s[0], 1, s[2], s[3]}, 0, s[1] - 1), g.constant({s[0], 1, s[2], s[3]})});
       }},
      {"ScatterND",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(ScatterNdOp{}, {x, whole(g, {1, 2}, 0, 0), g.constant({1, s[2], s[3]})});
       }},
      {"Quantize", [](G& g, ValueId x, const Shape&) { return quantized(g, x); }, true},
      {"Dequantize",
       [](G& g, ValueId x, const Shape&) {
         return g.add(DequantizeOp{}, {quantized(g, x), number(g, 0x1p-6f), number(g, 128)});
       },
       true},
      {"QLinearConv",
       [](G& g, ValueId x, const Shape& s) {
         const auto n = [&](float value) { return number(g, value); };
         return g.add(QLinearConvOp{}, {quantized(g, x), n(0x1p-6f), n(128), whole(g, {8, s[1], 1, 1}, -9, 9),
                                        n(0x1p-4f), n(0), n(0x1p-4f), n(128)});
       },
       true},
      {"ConvInteger",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(ConvIntegerOp{}, {quantized(g, x), whole(g, {8, s[1], 1, 1}, -9, 9)});
       },
       true},
      {"QLinearMatMul",
       [](G& g, ValueId x, const Shape& s) {
         const auto n = [&](float value) { return number(g, value); };
         return g.add(QLinearMatMulOp{}, {quantized(g, x), n(0x1p-6f), n(128), whole(g, {s[3], 5}, -9, 9), n(0x1p-4f),
                                          n(0), n(0x1p-4f), n(128)});
       },
       true},
      {"MatMulInteger",
       [](G& g, ValueId x, const Shape& s) {
         return g.add(MatMulIntegerOp{}, {quantized(g, x), whole(g, {s[3], 5}, -9, 9)});
       },
       true},
  };
}

Shape shape_in(const GraphBuilder& graph, ValueId value, const Shape& input) {
  return infer_shapes(const_cast<GraphBuilder&>(graph).graph(), input)[static_cast<size_t>(value)];
}

/// Adds a convolution after a 4-dimensional value, or an elementwise function after any other.
ValueId after(GraphBuilder& graph, ValueId x, const Shape& input) {
  const Shape shape = shape_in(graph, x, input);
  if (shape.size() != 4) return graph.add(UnaryOp{UnaryKind::abs}, {x});
  return graph.add(same(3), {x, graph.constant({16, shape[1], 3, 3})});
}

enum class Stands { first, in_the_middle, last };

/// Adds two convolutions, each followed by Relu.
ValueId trunk(GraphBuilder& graph, ValueId x, int64_t channels, int64_t maps) {
  for (const int64_t from : {channels, maps}) {
    x = graph.activation(graph.add(same(3), {x, graph.constant({maps, from, 3, 3}, -0.3f, 0.3f)}),
                         ActivationKind::relu);
  }
  return x;
}

/// conv-relu-conv-relu with the operator at this position. At the beginning, it has its own output.
Graph network(const OpCase& each, Stands stands, const Shape& input, int64_t maps) {
  GraphBuilder graph({-1, input[1], input[2], input[3]}, 3);
  if (stands == Stands::first) {
    const ValueId y = each.put(graph, graph.input(), input);
    trunk(graph, graph.input(), input[1], maps);
    graph.graph().outputs.push_back({.value = y});
    return graph.take();
  }
  const ValueId x = trunk(graph, graph.input(), input[1], maps);
  const ValueId y = each.put(graph, x, shape_in(graph, x, input));
  if (stands == Stands::in_the_middle) after(graph, y, input);
  return graph.take();
}

Tensor random_input(const Shape& shape) {
  Rng rng(9);
  Tensor x(ElementType::f32, shape);
  for (float& each : x.values<float>()) each = rng.uniform(-1, 1);
  return x;
}

std::vector<Tensor> outputs_of(const Graph& graph, const Shape& input, PlanOptions options) {
  static const auto device = open_cpu({.threads = 1});
  Engine engine(copy_of(graph), input, *device, {.plan = std::move(options), .at_once = true});
  const Tensor x = random_input(input);
  return engine.run({&x, 1});
}

/// The relative L2 error of `got`. NaN is not an error where it is expected.
double error_of(const Tensor& wanted, const Tensor& got) {
  double error = 0, size = 0;
  for (size_t i = 0; i < static_cast<size_t>(wanted.count()); ++i) {
    const double value = wanted.values<float>()[i], other = got.values<float>()[i];
    if (std::isnan(value) && std::isnan(other)) continue;
    error += (value - other) * (value - other);
    size += value * value;
  }
  return error == 0 ? 0 : std::sqrt(error / size);
}

/// Every step of the default plan is an operator, or a convolution, with a problem text.
void expect_problem_texts(const Graph& graph, const Shape& input) {
  static const auto device = open_cpu({.threads = 1});
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    const Graph planned = planned_graph(copy_of(graph), input, mode, 1).graph;
    for (const PlanStep& each : make_plan(planned, input, device->caps(), {.mode = mode}).steps) {
      if (each.is_conv()) continue;
      const Step* step = &each.what;
      const std::string text = to_text(*step);
      const Step again = parse_step(text);
      EXPECT_TRUE(same_operator(again.op, step->op)) << text;
      EXPECT_EQ(shapes_of(again.inputs), shapes_of(step->inputs)) << text;
      EXPECT_EQ(shapes_of(again.outputs), shapes_of(step->outputs)) << text;
    }
  }
}

/// `bound` limits the relative error. If it is infinite, only shapes are compared.
void expect_as_by_layers(const Graph& graph, const Shape& input, const PlanOptions& options, double bound) {
  const std::vector<Tensor> wanted = outputs_of(graph, input, {.mode = PlanMode::layers});
  const std::vector<Tensor> got = outputs_of(graph, input, options);
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(got[i].shape(), wanted[i].shape());
    if (std::isinf(bound)) continue;
    EXPECT_LE(error_of(wanted[i], got[i]), bound) << "output " << i;
  }
}

/// Calls visit(graph, input, case) for every operator at every position, on 4 x 4 feature maps and on images of one
/// pixel.
template <class Visit>
void for_every_network(int64_t images, int64_t maps, const Visit& visit) {
  for (const OpCase& each : op_cases()) {
    for (const Stands stands : {Stands::first, Stands::in_the_middle, Stands::last}) {
      for (const int64_t side : {4, 1}) {
        SCOPED_TRACE(fmt::format("{} {}, {}x{}", each.name, static_cast<int>(stands), side, side));
        const Shape input{images, 16, side, side};
        visit(network(each, stands, input, maps), input, each);
      }
    }
  }
}

TEST(EveryOp, IsAmongTheCases) {
  std::set<size_t> known;
  for (const OpCase& each : op_cases()) {
    for (const Node& node : network(each, Stands::last, {2, 16, 4, 4}, 16).nodes) known.insert(node.op.index());
  }
  // These operators are created by planning or by rewrite/rewrite_to_bytes.h; PlansInBytes covers them.
  for (const Op& op : {Op{ByteAddOp{}}, Op{ByteConvOp{}}, Op{ByteMeanOp{}}, Op{ByteConcatOp{}}, Op{ScaleOp{}},
                       Op{SqueezeExciteOp{}}, Op{ArgMaxOp{}}}) {
    EXPECT_TRUE(known.insert(op.index()).second);
  }
  EXPECT_EQ(known.size(), std::variant_size_v<AnyOp>);
}

TEST(EveryOp, PlansWithChannelsInLanes) {
  for_every_network(2, 16, [](const Graph& graph, const Shape& input, const OpCase&) {
    expect_as_by_layers(graph, input, {.channel_lanes = true}, 2e-5);
  });
}

TEST(EveryOp, PlansInBf16) {
  for_every_network(2, 16, [](const Graph& graph, const Shape& input, const OpCase& each) {
    expect_as_by_layers(graph, input, {.math = Math::bf16, .channel_lanes = true},
                        each.jumps ? std::numeric_limits<double>::infinity() : 0.05);
  });
}

TEST(EveryOp, PlansWithImagesInLanes) {
  for_every_network(16, 8, [](const Graph& graph, const Shape& input, const OpCase&) {
    expect_as_by_layers(graph, input, {.channel_lanes = false}, 2e-5);
  });
}

TEST(EveryOp, PlansInBytes) {
  for (const OpCase& each : op_cases()) {
    for (const bool of_levels : {false, true}) {
      for (const int64_t side : {4, 1}) {
        for (const bool last : {false, true}) {
          SCOPED_TRACE(fmt::format("{} of {}, {}x{}, {}", each.name, of_levels ? "levels" : "real numbers", side, side,
                                   last ? "last" : "then quantized"));
          const Shape input{2, 3, side, side};
          QuantizedGraph graph(3, side);
          const Levels a = graph.quantized_conv(graph.quantized_conv(graph.images(), 12, 3), 16, 3);
          const ValueId x = of_levels ? a.id : graph.real(a);
          const ValueId y = each.put(graph, x, {2, 16, side, side});
          const Shape shape = shape_in(graph, y, input);
          if (!last && shape.size() == 4) {
            graph.real(graph.quantized_conv(graph.quantize(y, shape[1], 0x1p-4f, 100), 8, 1));
          }
          expect_as_by_layers(graph.graph(), input, {}, 2e-5);
          expect_problem_texts(graph.graph(), input);
        }
      }
    }
  }
}

TEST(EveryOp, StepsHaveProblemTexts) {
  for_every_network(2, 16,
                    [](const Graph& graph, const Shape& input, const OpCase&) { expect_problem_texts(graph, input); });
}

/// GPU plans are only made, not run.
TEST(EveryOp, PlansOnGpus) {
  for (const DeviceKind kind : {DeviceKind::simt, DeviceKind::cuda}) {
    const bool present =
        std::ranges::any_of(kernels(), [kind](const Kernel& kernel) { return kernel.info.device == kind; });
    if (!present) continue;
    for (const int capability : {80, 90}) {
      const DeviceCaps caps{.kind = kind,
                            .compute_capability = capability,
                            .multiprocessors = 100,
                            .shared_bytes_per_block = 200 << 10,
                            .memory_bytes = int64_t{1} << 34};
      for (const Math math : {Math::fp32, Math::tf32, Math::fp16}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(kind), capability, name_of(math)));
        for_every_network(2, 16, [&](const Graph& graph, const Shape& input, const OpCase&) {
          const auto planned = [&](PlanMode mode) {
            make_plan(planned_graph(copy_of(graph), input, mode, 1).graph, input, caps, {.mode = mode, .math = math});
          };
          try {
            planned(PlanMode::layers);
          } catch (const Error&) {
            return;  // the operator has no GPU kernel
          }
          EXPECT_NO_THROW(planned(PlanMode::fused));
        });
      }
    }
  }
}

/// conv-relu-conv-relu, then one or two random operators and perhaps a convolution. Sizes are often 1.
Graph random_network(uint64_t seed, Shape& input) {
  static const std::vector<OpCase> cases = op_cases();
  Rng rng(seed);
  const int64_t sides[] = {1, 2, 3, 7, 8};
  input = {rng.integer(0, 4) == 0 ? 16 : rng.integer(1, 3), 8 * rng.integer(1, 3), sides[rng.integer(0, 4)],
           sides[rng.integer(0, 4)]};
  GraphBuilder graph({-1, input[1], input[2], input[3]}, seed);
  ValueId x = trunk(graph, graph.input(), input[1], rng.integer(0, 4) == 0 ? 20 : 16 * rng.integer(1, 4));
  for (int64_t i = rng.integer(1, 2); i > 0; --i) {
    const Shape shape = shape_in(graph, x, input);
    const OpCase& each = cases[static_cast<size_t>(rng.integer(0, std::ssize(cases) - 1))];
    if (shape.size() != 4 || each.jumps) break;
    const Graph before = copy_of(graph.graph());
    try {
      const ValueId y = each.put(graph, x, shape);
      shape_in(graph, y, input);
      x = y;
    } catch (const Error&) {  // the operator does not support this shape
      graph.graph() = copy_of(before);
    }
  }
  if (rng.integer(0, 1) == 0) after(graph, x, input);
  return graph.take();
}

TEST(EveryOp, RandomNetworks) {
  constexpr uint64_t kNetworks = 60;
  for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
    SCOPED_TRACE(seed);
    Shape input;
    const Graph graph = random_network(seed, input);
    expect_as_by_layers(graph, input, {}, 2e-5);
  }
}

}  // namespace
}  // namespace convlab
