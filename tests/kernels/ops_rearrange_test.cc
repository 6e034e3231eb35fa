// Tests operators that rearrange, gather and scatter elements, against references.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

/// Returns the indices that a slice selects, in order.
std::vector<int64_t> sliced_places(int64_t size, int64_t start, int64_t end, int64_t step) {
  start += start < 0 ? size : 0;
  end += end < 0 ? size : 0;
  std::vector<int64_t> places;
  if (step > 0) {
    for (int64_t i = std::max<int64_t>(start, 0); i < std::min(end, size); i += step) places.push_back(i);
  } else {
    for (int64_t i = std::clamp<int64_t>(start, 0, size - 1); i > std::max<int64_t>(end, -1); i += step)
      places.push_back(i);
  }
  return places;
}

TEST(CpuSlice, RandomStartsEndsAndSteps) {
  Rng rng(1);
  int sliced = 0;
  for (int round = 0; round < 1500; ++round) {
    const Shape shape{rng.integer(1, 6), rng.integer(1, 6), rng.integer(1, 9)};
    const Tensor x = random(shape, rng.next());
    std::vector<std::vector<int64_t>> places;
    SliceOp op;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t start = rng.integer(-8, 8), end = rng.integer(-8, 8),
                    step = rng.integer(0, 1) == 0 ? rng.integer(1, 3) : -rng.integer(1, 3);
      op.starts.push_back(start);
      op.ends.push_back(end);
      op.axes.push_back(static_cast<int64_t>(i) - (round % 2 == 0 ? 3 : 0));
      op.steps.push_back(step);
      places.push_back(sliced_places(shape[i], start, end, step));
    }
    if (std::ranges::any_of(places, [](const auto& each) { return each.empty(); })) {
      EXPECT_THROW(step_of(op, {&x}), Error);
      continue;
    }
    ++sliced;
    const Shape out{std::ssize(places[0]), std::ssize(places[1]), std::ssize(places[2])};
    expect_near(run(op, {&x}), out, 0, [&](const Index& index) {
      Index from(3);
      for (size_t i = 0; i < 3; ++i) from[i] = places[i][static_cast<size_t>(index[i])];
      return at(x, from);
    });
  }
  EXPECT_GT(sliced, 50);
}

TEST(CpuSlice, EndsBeyondAnyArray) {
  const Tensor x = random({3, 10}, 2);
  expect_near(run(SliceOp{{1}, {INT64_MAX}, {1}, {}}, {&x}), {3, 9}, 0, [&](const Index& i) {
    return at(x, {i[0], i[1] + 1});
  });
  expect_near(run(SliceOp{{-1}, {INT64_MIN}, {1}, {-1}}, {&x}), {3, 10}, 0, [&](const Index& i) {
    return at(x, {i[0], 9 - i[1]});
  });
  expect_near(run(SliceOp{{INT64_MAX}, {INT64_MIN}, {-1}, {-4}}, {&x}), {3, 3}, 0, [&](const Index& i) {
    return at(x, {i[0], 9 - 4 * i[1]});
  });
  for (const int64_t step : {INT64_MAX, INT64_MIN}) {
    const int64_t first = step > 0 ? 0 : 9;
    expect_near(run(SliceOp{{first}, {step}, {1}, {step}}, {&x}), {3, 1}, 0, [&](const Index& i) {
      return at(x, {i[0], first});
    });
  }
  expect_near(run(SliceOp{{2}, {3}, {}, {}}, {&x}), {1, 10}, 0, [&](const Index& i) { return at(x, {2, i[1]}); });
  for (const SliceOp& wrong : {SliceOp{{0}, {1}, {2}, {}}, SliceOp{{0}, {1, 2}, {0}, {}}, SliceOp{{0}, {1}, {0}, {0}},
                               SliceOp{{0, 0}, {1, 1}, {0, -2}, {}}, SliceOp{{2}, {2}, {0}, {}}}) {
    EXPECT_THROW(step_of(wrong, {&x}), Error);
  }
}

TEST(CpuExpand, AsNumpyBroadcasts) {
  const std::pair<Shape, Shape> cases[] = {
      {{3, 1}, {2, 3, 4}}, {{3, 1}, {3, 4}},         {{3, 4}, {1}},    {{1}, {5}},
      {{}, {2, 3}},        {{2, 1, 3}, {-1, 4, -1}}, {{4, 5}, {1, 1}},
  };
  for (const auto& [from, wanted] : cases) {
    const Tensor x = random(from, 3);
    Shape plain = wanted;
    std::ranges::replace(plain, -1, 1);
    expect_near(run(ExpandOp{wanted}, {&x}), broadcast_shape(from, plain), 0,
                [&](const Index& index) { return broadcast_at(x, index); });
  }
  const Tensor x = random({3, 4}, 4);
  EXPECT_THROW(step_of(ExpandOp{{2, 4}}, {&x}), Error);
  EXPECT_THROW(step_of(ExpandOp{{3, 0}}, {&x}), Error);
}

TEST(CpuExpand, ACopyForEachImage) {
  const Tensor x = random({1, 3}, 6), images = random({4, 2}, 7);
  expect_near(run(ExpandOp{{ExpandOp::kImages, 3}, 2}, {&x, &images}), {8, 3}, 0, [&](const Index& i) {
    return at(x, {0, i[1]});
  });
}

TEST(CpuTile, EachAxis) {
  const Tensor x = random({2, 3, 4}, 5);
  for (const std::vector<int64_t>& repeats :
       {std::vector<int64_t>{1, 1, 1}, {2, 3, 2}, {1, 1, 5}, {3, 1, 1}, {1, 4, 1}}) {
    const Shape shape{2 * repeats[0], 3 * repeats[1], 4 * repeats[2]};
    expect_near(run(TileOp{repeats}, {&x}), shape, 0, [&](const Index& i) {
      return at(x, {i[0] % 2, i[1] % 3, i[2] % 4});
    });
  }
  EXPECT_THROW(step_of(TileOp{{1, 2}}, {&x}), Error);
  EXPECT_THROW(step_of(TileOp{{int64_t{1} << 30, int64_t{1} << 30, int64_t{1} << 30}}, {&x}), Error);
}

TEST(CpuDepthToSpace, BothOrdersAndBack) {
  const Tensor x = random({2, 18, 4, 5}, 6);
  for (const bool crd : {false, true}) {
    const DepthToSpaceOp op{3, crd};
    const auto source = [&](const Index& i) {
      const int64_t row = i[2] % 3, column = i[3] % 3;
      const int64_t channel = crd ? (i[1] * 3 + row) * 3 + column : (row * 3 + column) * 2 + i[1];
      return at(x, {i[0], channel, i[2] / 3, i[3] / 3});
    };
    expect_near(run(op, {&x}), {2, 2, 12, 15}, 0, source);
  }
  const Tensor space = run(DepthToSpaceOp{3}, {&x});
  expect_near(run(SpaceToDepthOp{3}, {&space}), x.shape(), 0, [&](const Index& i) { return at(x, i); });
  EXPECT_THROW(step_of(DepthToSpaceOp{4}, {&x}), Error);
  EXPECT_THROW(step_of(SpaceToDepthOp{3}, {&x}), Error);
}

TEST(CpuTrilu, EveryDiagonal) {
  const Tensor x = random({2, 4, 6}, 7);
  for (const bool upper : {true, false}) {
    for (const int64_t k : {INT64_MIN, int64_t{-5}, int64_t{-2}, int64_t{0}, int64_t{1}, int64_t{6}, INT64_MAX}) {
      expect_near(run(TriluOp{upper, k}, {&x}), x.shape(), 0, [&](const Index& i) {
        const bool inside = upper ? i[2] - i[1] >= k : i[2] - i[1] <= k;
        return inside ? at(x, i) : 0;
      });
    }
  }
}

/// Returns random indices into an axis, half of them counted from its end.
Tensor indices_of(const Shape& shape, int64_t size, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) value = static_cast<float>(rng.integer(-size, size - 1));
  return tensor;
}

int64_t place(double index, int64_t size) {
  return static_cast<int64_t>(index < 0 ? index + static_cast<double>(size) : index);
}

TEST(CpuGather, AlongEachAxis) {
  const Tensor x = random({3, 4, 5}, 8);
  for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
    for (const Shape& shape : {Shape{}, Shape{6}, Shape{2, 3}}) {
      const Tensor indices = indices_of(shape, x.shape()[axis], 9);
      Shape out(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis));
      out.insert(out.end(), shape.begin(), shape.end());
      out.insert(out.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape().end());
      expect_near(run(GatherOp{static_cast<int64_t>(axis) - 3}, {&x, &indices}), out, 0, [&](const Index& index) {
        const auto first = index.begin() + static_cast<std::ptrdiff_t>(axis), last = first + std::ssize(shape);
        Index from(index.begin(), first);
        from.push_back(place(at(indices, Index(first, last)), x.shape()[axis]));
        from.insert(from.end(), last, index.end());
        return at(x, from);
      });
    }
  }
}

TEST(CpuGather, IndicesOutsideAreErrors) {
  const Tensor x = random({3, 4}, 10);
  for (const float index : {3.0f, -4.0f, kNan, kInfinity, 1e30f}) {
    const Tensor indices = filled({1, 1}, {index}), update = filled({1, 1}, {1});
    const Tensor row = random({1, 4}, 11);
    EXPECT_THROW(run(GatherOp{0}, {&x, &indices}), Error) << index;
    EXPECT_THROW(run(GatherElementsOp{0}, {&x, &indices}), Error) << index;
    EXPECT_THROW(run(GatherNdOp{}, {&x, &indices}), Error) << index;
    EXPECT_THROW(run(ScatterElementsOp{0}, {&x, &indices, &update}), Error) << index;
    EXPECT_THROW(run(ScatterNdOp{}, {&x, &indices, &row}), Error) << index;
  }
}

TEST(CpuGatherElements, AlongEachAxis) {
  const Tensor x = random({3, 4, 5}, 12);
  for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
    Shape shape{2, 3, 4};
    shape[axis] = 7;
    const Tensor indices = indices_of(shape, x.shape()[axis], 13);
    expect_near(run(GatherElementsOp{static_cast<int64_t>(axis)}, {&x, &indices}), shape, 0, [&](const Index& index) {
      Index from = index;
      from[axis] = place(at(indices, index), x.shape()[axis]);
      return at(x, from);
    });
  }
}

/// Returns random tuples of indices into the dimensions of x from `batch` on.
Tensor tuples_of(const Shape& shape, const Shape& x, size_t batch, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  const auto length = static_cast<size_t>(shape.back());
  for (size_t i = 0; i < static_cast<size_t>(tensor.count()); ++i) {
    const int64_t size = x[batch + i % length];
    tensor.values<float>()[i] = static_cast<float>(rng.integer(-size, size - 1));
  }
  return tensor;
}

TEST(CpuGatherNd, TuplesAndBatches) {
  const Tensor x = random({3, 4, 5}, 14);
  const std::pair<Shape, size_t> cases[] = {{{2, 1}, 0}, {{6, 2}, 0},    {{2, 2, 3}, 0},
                                            {{3, 1}, 1}, {{3, 6, 2}, 1}, {{3, 4, 1}, 2}};
  for (const auto& [shape, batch] : cases) {
    SCOPED_TRACE(to_text(shape));
    const Tensor indices = tuples_of(shape, x.shape(), batch, 15);
    const GatherNdOp op{static_cast<int64_t>(batch)};
    const size_t tuple_rank = shape.size() - 1;
    Shape out(shape.begin(), shape.end() - 1);
    out.insert(out.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(batch) + shape.back(), x.shape().end());
    expect_near(run(op, {&x, &indices}), out, 0, [&](const Index& index) {
      Index from(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch));
      Index tuple(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(tuple_rank));
      for (int64_t i = 0; i < shape.back(); ++i) {
        tuple.resize(tuple_rank);
        tuple.push_back(i);
        from.push_back(place(at(indices, tuple), x.shape()[from.size()]));
      }
      from.insert(from.end(), index.begin() + static_cast<std::ptrdiff_t>(tuple_rank), index.end());
      return at(x, from);
    });
  }
}

double scattered_by(ScatterReduction reduction, double old, double update) {
  switch (reduction) {
    case ScatterReduction::none:
      return update;
    case ScatterReduction::add:
      return old + update;
    case ScatterReduction::mul:
      return old * update;
    case ScatterReduction::max:
      return std::max(old, update);
    case ScatterReduction::min:
      return std::min(old, update);
  }
  return kNan;
}

size_t flat_of(const Shape& shape, const Index& index) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return static_cast<size_t>(flat);
}

TEST(CpuScatterElements, EachAxisAndReduction) {
  const Tensor x = random({3, 4, 5}, 16);
  for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
    for (int kind = 0; kind < 5; ++kind) {
      const auto reduction = static_cast<ScatterReduction>(kind);
      Shape shape{2, 3, 4};
      shape[axis] = 7;  // indices collide
      const Tensor indices = indices_of(shape, x.shape()[axis], 17), updates = random(shape, 18);
      std::vector<double> wanted(x.values<float>().begin(), x.values<float>().end());
      for_each(shape, [&](const Index& index, size_t) {
        Index to = index;
        to[axis] = place(at(indices, index), x.shape()[axis]);
        double& element = wanted[flat_of(x.shape(), to)];
        element = scattered_by(reduction, element, at(updates, index));
      });
      expect_near(run(ScatterElementsOp{static_cast<int64_t>(axis) - 3, reduction}, {&x, &indices, &updates}),
                  x.shape(), 16 * kUnit, [&](const Index& index) { return wanted[flat_of(x.shape(), index)]; });
    }
  }
}

TEST(CpuScatterNd, EachReduction) {
  const Tensor x = random({3, 4, 5}, 19);
  for (const Shape& shape : {Shape{4, 1}, Shape{9, 2}, Shape{2, 20, 3}}) {
    for (int kind = 0; kind < 5; ++kind) {
      const auto reduction = static_cast<ScatterReduction>(kind);
      const Tensor indices = tuples_of(shape, x.shape(), 0, 20);
      Shape updates_shape(shape.begin(), shape.end() - 1);
      updates_shape.insert(updates_shape.end(), x.shape().begin() + shape.back(), x.shape().end());
      const Tensor updates = random(updates_shape, 21);
      std::vector<double> wanted(x.values<float>().begin(), x.values<float>().end());
      for_each(updates_shape, [&](const Index& index, size_t) {
        Index to, tuple(index.begin(), index.begin() + std::ssize(shape) - 1);
        for (int64_t i = 0; i < shape.back(); ++i) {
          tuple.resize(shape.size() - 1);
          tuple.push_back(i);
          to.push_back(place(at(indices, tuple), x.shape()[to.size()]));
        }
        to.insert(to.end(), index.begin() + std::ssize(shape) - 1, index.end());
        double& element = wanted[flat_of(x.shape(), to)];
        element = scattered_by(reduction, element, at(updates, index));
      });
      expect_near(run(ScatterNdOp{reduction}, {&x, &indices, &updates}), x.shape(), 16 * kUnit,
                  [&](const Index& index) { return wanted[flat_of(x.shape(), index)]; });
    }
  }
}

}  // namespace
}  // namespace convlab
