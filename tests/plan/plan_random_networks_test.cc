// Tests random networks of all common operators: if a plan by layers computes one, so does every other plan, with the
// same results.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/planned_graph.h"
#include "convlab/plan/planner.h"
#include "tests/support/graph_builder.h"

namespace convlab {
namespace {

/// A random network for `n` images.
class RandomNetwork : public GraphBuilder {
 public:
  explicit RandomNetwork(uint64_t seed)
      : GraphBuilder(
            {-1, one_of({1, 3, 8, 16, 20}, seed), one_of({1, 4, 7, 12, 13}, seed / 5), one_of({4, 9, 16}, seed / 25)},
            seed),
        n_(one_of({1, 2, 5, 16, 17}, seed / 75)) {
    last_ = input();
    const int64_t count = rng().integer(2, 9);
    for (int64_t i = 0; i < count; ++i) extend();
    if (rng().integer(0, 2) == 0) reshape();
    if (rng().integer(0, 3) == 0) outputs_two();
  }

  Shape input_shape() {
    Shape shape = graph().inputs[0].shape;
    shape[0] = n_;
    return shape;
  }

 private:
  static int64_t one_of(std::vector<int64_t> values, uint64_t place) { return values[place % values.size()]; }
  int64_t pick(std::vector<int64_t> values) {
    return values[static_cast<size_t>(rng().integer(0, std::ssize(values) - 1))];
  }

  Shape shape_of(ValueId value) { return infer_shapes(graph(), input_shape())[static_cast<size_t>(value)]; }

  /// Adds the operator unless shapes do not fit.
  bool put(Op op, std::vector<ValueId> inputs) {
    Graph before = copy_of(graph());
    const ValueId output = add(std::move(op), std::move(inputs));
    try {
      const Shape shape = shape_of(output);
      if (element_count(shape) > 200'000) throw bad_input("too large");
    } catch (const Error&) {
      graph() = std::move(before);
      return false;
    }
    last_ = output;
    values_.push_back(output);
    return true;
  }

  void extend() {
    const Shape x = shape_of(last_);
    if (x.size() == 4 && rng().integer(0, 9) < 8) return extend_images(x);
    extend_any(x);
  }

  // Normalizations have scales and biases: otherwise means of what they return would be 0 but for rounding errors.

  void extend_images(const Shape& x) {
    switch (rng().integer(0, 15)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return convolve(x);
      case 4:
        put(BatchNormOp{}, {last_, constant({x[1]}), constant({x[1]}), constant({x[1]}), constant({x[1]}, 0.5f, 2)});
        return;
      case 5:
      case 6:
        return pool(x);
      case 7:
        put(GlobalAveragePoolOp{}, {last_});
        return;
      case 8:
        return add_earlier(x);
      case 9:
        return join(x);
      case 10:
        return gate(x);
      case 11:
        put(
            ResizeOp{
                .coordinates = ResizeCoordinates::asymmetric, .nearest = NearestRule::floor, .scales = {1, 1, 2, 2}},
            {last_});
        return;
      case 12:
        put(PadOp{.pads = {0, 0, rng().integer(0, 2), rng().integer(0, 2), 0, 0, rng().integer(0, 2), 1}}, {last_});
        return;
      case 13:
        put(DepthToSpaceOp{.block = 2}, {last_});
        return;
      case 14:
        put(NormalizeOp{.groups = pick({1, 2, x[1]})}, {last_, constant({x[1]}), constant({x[1]})});
        return;
      default:
        put(ReduceOp{.kind = ReduceKind::mean, .axes = {2, 3}, .keep_dims = rng().integer(0, 1) == 0}, {last_});
    }
  }

  void convolve(const Shape& x) {
    const int64_t k = pick({4, 8, 10, 16, 24, 32}), side = std::min(pick({1, 1, 3, 3, 5}), std::min(x[2], x[3]));
    const bool depthwise = rng().integer(0, 4) == 0;
    ConvOp op{.stride_h = pick({1, 1, 2}), .groups = depthwise ? x[1] : 1};
    op.stride_w = op.stride_h;
    op.pad_top = op.pad_left = op.pad_bottom = op.pad_right = pick({0, side / 2});
    const int64_t maps = depthwise ? x[1] : k;
    const float size = 1.7f / std::sqrt(static_cast<float>(x[1] / op.groups * side * side));
    std::vector<ValueId> inputs{last_, constant({maps, x[1] / op.groups, side, side}, -size, size)};
    if (rng().integer(0, 1) == 0) inputs.push_back(constant({maps}));
    put(op, std::move(inputs));
    if (rng().integer(0, 1) == 0) activate();
  }

  void activate() {
    switch (rng().integer(0, 4)) {
      case 0:
        put(UnaryOp{UnaryKind::hard_swish}, {last_});
        return;
      case 1:
        put(UnaryOp{UnaryKind::swish, 1}, {last_});
        return;
      case 2:
        put(ActivationOp{{ActivationKind::clip, 0, 6}}, {last_});
        return;
      case 3:
        put(ActivationOp{{ActivationKind::tanh}}, {last_});
        return;
      default:
        put(ActivationOp{{ActivationKind::relu}}, {last_});
    }
  }

  void pool(const Shape& x) {
    Pool pool{.kind = rng().integer(0, 2) == 0 ? PoolKind::average : PoolKind::max};
    pool.kernel_h = std::min(pick({2, 3, x[2]}), x[2]);
    pool.kernel_w = pool.kernel_h == x[2] ? x[3] : std::min(pool.kernel_h, x[3]);
    pool.stride_h = pick({1, 2, pool.kernel_h});
    pool.stride_w = pick({1, 2, pool.kernel_w});
    pool.ceil_mode = rng().integer(0, 3) == 0;
    put(PoolOp{pool}, {last_});
  }

  /// Returns an earlier value for which `fits` holds.
  template <class Fits>
  std::optional<ValueId> earlier(Fits fits) {
    for (int trial = 0; trial < 4 && !values_.empty(); ++trial) {
      const ValueId value = values_[static_cast<size_t>(rng().integer(0, std::ssize(values_) - 1))];
      if (value != last_ && fits(shape_of(value))) return value;
    }
    return std::nullopt;
  }

  void add_earlier(const Shape& x) {
    const std::optional<ValueId> other = earlier([&](const Shape& shape) { return shape == x; });
    if (!other) return convolve(x);
    if (rng().integer(0, 1) == 0) {
      put(AddOp{}, {last_, *other});
    } else {
      put(AddOp{}, {*other, last_});
    }
    if (rng().integer(0, 1) == 0) activate();
  }

  void join(const Shape& x) {
    const std::optional<ValueId> other =
        earlier([&](const Shape& shape) { return shape.size() == 4 && shape[2] == x[2] && shape[3] == x[3]; });
    put(ConcatOp{.axis = 1}, {last_, other.value_or(last_)});
  }

  /// Squeeze-and-excitation.
  void gate(const Shape& x) {
    const ValueId from = last_;
    if (!put(GlobalAveragePoolOp{}, {from})) return;
    if (!put(ConvOp{}, {last_, constant({8, x[1], 1, 1}), constant({8})})) return;
    activate();
    if (!put(ConvOp{}, {last_, constant({x[1], 8, 1, 1}), constant({x[1]})})) return;
    put(ActivationOp{{ActivationKind::sigmoid}}, {last_});
    put(MulOp{}, {from, last_});
  }

  void extend_any(const Shape& x) {
    const int64_t rank = std::ssize(x);
    switch (rng().integer(0, 7)) {
      case 0:
        return activate();
      case 1:
        put(SoftmaxOp{.axis = rank - 1}, {last_});
        return;
      case 2:
        put(NormalizeOp{}, {last_, constant({x.back()}), constant({x.back()})});
        return;
      case 3: {
        const ValueId w = constant({x.back(), 16}, -0.3f, 0.3f);
        if (rank == 2 && rng().integer(0, 1) == 0) {
          put(GemmOp{}, {last_, w, constant({16})});
          activate();
        } else if (put(MatMulOp{}, {last_, w}) && rng().integer(0, 1) == 0) {
          put(AddOp{}, {constant({16}), last_});
          activate();
        }
        return;
      }
      case 4: {
        Shape order(x.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
        std::swap(order[order.size() - 1], order[order.size() > 2 ? order.size() - 2 : order.size() - 1]);
        put(TransposeOp{order}, {last_});
        return;
      }
      case 5:
        put(MulOp{}, {last_, constant({x.back()})});
        return;
      case 6:
        put(SliceOp{.starts = {0}, .ends = {std::max<int64_t>(1, x.back() / 2)}, .axes = {rank - 1}}, {last_});
        return;
      default:
        reshape();
    }
  }

  void reshape() {
    const Shape x = shape_of(last_);
    switch (rng().integer(0, 3)) {
      case 0:
        put(FlattenOp{}, {last_});
        return;
      case 1:
        put(UnsqueezeOp{{1}}, {last_});
        return;
      case 2:
        put(ReshapeOp{{0, -1}}, {last_});
        return;
      default:
        if (x.size() == 4) put(ReshapeOp{{0, x[1], x[2] * x[3]}}, {last_});
    }
  }

  void outputs_two() {
    if (values_.size() < 2) return;
    const ValueId other = values_[static_cast<size_t>(rng().integer(0, std::ssize(values_) - 2))];
    graph().outputs.push_back({.value = other});
  }

  int64_t n_;
  ValueId last_;
  std::vector<ValueId> values_;
};

std::vector<Tensor> outputs_of(const Graph& graph, const Shape& shape, const PlanOptions& options) {
  const auto device = open_cpu({.threads = 2});
  Engine engine(copy_of(graph), shape, *device, {.plan = options});
  Rng rng(7);
  Tensor x(ElementType::f32, shape);
  for (float& each : x.values<float>()) each = rng.uniform(-1, 1);
  return engine.run({&x, 1});
}

/// Returns the relative L2 error.
double difference(const Tensor& got, const Tensor& wanted) {
  double error = 0, size = 1e-12;
  for (int64_t i = 0; i < wanted.count(); ++i) {
    const double a = got.values<float>()[i], b = wanted.values<float>()[i];
    error += (a - b) * (a - b);
    size += b * b;
  }
  return std::sqrt(error / size);
}

/// Checks networks number `begin` to `end`.
void check_networks(uint64_t begin, uint64_t end) {
  int computed = 0;
  for (uint64_t seed = begin; seed < end; ++seed) {
    SCOPED_TRACE(fmt::format("network {}", seed));
    RandomNetwork network(seed);
    const Shape shape = network.input_shape();
    std::vector<Tensor> wanted;
    try {
      wanted = outputs_of(network.graph(), shape, {.mode = PlanMode::layers});
    } catch (const Error& error) {
      ADD_FAILURE() << "by layers: " << error.what();
      continue;
    }
    ++computed;
    for (const PlanMode mode : {PlanMode::fused, PlanMode::folded}) {
      for (const std::optional<bool> channels : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
        SCOPED_TRACE(fmt::format("{}{}", name_of(mode), !channels ? "" : *channels ? ", channels" : ", images"));
        try {
          const std::vector<Tensor> got = outputs_of(network.graph(), shape, {.mode = mode, .channel_lanes = channels});
          ASSERT_EQ(got.size(), wanted.size());
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_EQ(got[i].shape(), wanted[i].shape());
            EXPECT_LE(difference(got[i], wanted[i]), 1e-4) << "output " << i;
          }
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
    // Plans for other arithmetic and devices, which this machine may not be able to run.
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
      const DeviceCaps caps{.kind = kind,
                            .name = "",
                            .compute_capability = kind == DeviceKind::cuda ? 90 : 0,
                            .multiprocessors = 132,
                            .shared_bytes_per_block = 227 << 10,
                            .threads = 2,
                            .memory_bytes = int64_t{1} << 36};
      for (const Math math : {Math::fp32, Math::bf16x2, Math::bf16, Math::fp16}) {
        const auto plan_by = [&](PlanMode mode) {
          const Graph graph = planned_graph(copy_of(network.graph()), shape, mode, 1).graph;
          make_plan(graph, shape, caps, {.mode = mode, .math = math});
        };
        try {
          plan_by(PlanMode::layers);
        } catch (const Error&) {
          continue;  // an operator that this device has no kernel for
        }
        EXPECT_NO_THROW(plan_by(PlanMode::fused)) << name_of(kind) << " in " << name_of(math);
      }
    }
  }
  EXPECT_EQ(computed, static_cast<int>(end - begin));
}

TEST(RandomNetworks, EveryPlanComputesWhatLayersCompute) { check_networks(0, 200); }
TEST(RandomNetworks, EveryPlanOfTwoThousandComputesWhatLayersCompute) { check_networks(200, 2200); }

}  // namespace
}  // namespace convlab
