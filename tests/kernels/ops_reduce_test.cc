// Tests operators along axes (reductions, normalizations, maxima, running sums) and Einsum, against references in
// double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

double reduced(ReduceKind kind, const std::vector<double>& terms) {
  const auto total = [&](const std::function<double(double)>& function) {
    double sum = 0;
    for (double term : terms) sum += function(term);
    return sum;
  };
  const auto extreme = [&](double sign) {
    double most = -kInfinity;
    for (double term : terms) most = std::isnan(term) || std::isnan(most) ? double(kNan) : std::max(most, sign * term);
    return sign * most;
  };
  switch (kind) {
    case ReduceKind::sum:
      return total([](double x) { return x; });
    case ReduceKind::mean:
      return total([](double x) { return x; }) / static_cast<double>(terms.size());
    case ReduceKind::max:
      return extreme(1);
    case ReduceKind::min:
      return extreme(-1);
    case ReduceKind::prod:
      return std::accumulate(terms.begin(), terms.end(), 1.0, std::multiplies<>());
    case ReduceKind::l1:
      return total([](double x) { return std::fabs(x); });
    case ReduceKind::l2:
      return std::sqrt(total([](double x) { return x * x; }));
    case ReduceKind::log_sum:
      return std::log(total([](double x) { return x; }));
    case ReduceKind::log_sum_exp:
      return std::log(total([](double x) { return std::exp(x); }));
    case ReduceKind::sum_square:
      return total([](double x) { return x * x; });
  }
  return kNan;
}

constexpr int kReduceKinds = static_cast<int>(ReduceKind::sum_square) + 1;

/// Returns the reduced elements of each result, by its index with reduced dimensions set to 0.
std::map<Index, std::vector<double>> terms_of(const Tensor& x, const std::vector<bool>& reduced_dims) {
  std::map<Index, std::vector<double>> terms;
  for_each(x.shape(), [&](const Index& index, size_t flat) {
    Index to = index;
    for (size_t i = 0; i < to.size(); ++i) to[i] = reduced_dims[i] ? 0 : to[i];
    terms[to].push_back(x.values<float>()[flat]);
  });
  return terms;
}

void expect_reduced(const Tensor& x, const std::vector<int64_t>& axes) {
  std::vector<bool> dims(x.shape().size(), axes.empty());
  for (int64_t axis : axes) dims[static_cast<size_t>(axis < 0 ? axis + std::ssize(x.shape()) : axis)] = true;
  const std::map<Index, std::vector<double>> terms = terms_of(x, dims);
  for (int kind = 0; kind < kReduceKinds; ++kind) {
    for (const bool keep : {true, false}) {
      const ReduceOp op{static_cast<ReduceKind>(kind), axes, keep};
      SCOPED_TRACE(name_of(Op{op}) + " of " + to_text(x.shape()));
      Shape shape;
      for (size_t i = 0; i < dims.size(); ++i) {
        if (!dims[i] || keep) shape.push_back(dims[i] ? 1 : x.shape()[i]);
      }
      expect_close(run(op, {&x}), shape, 4 * kUnit, [&](const Index& index) {
        Index full = index;
        for (size_t i = 0; i < dims.size() && !keep; ++i) {
          if (dims[i]) full.insert(full.begin() + static_cast<std::ptrdiff_t>(i), 0);
        }
        return reduced(op.kind, terms.at(full));
      });
    }
  }
}

TEST(CpuReduce, EveryKindOverEveryAxes) {
  const Tensor x = random({2, 3, 4, 5}, 1);
  for (int64_t mask = 0; mask < 16; ++mask) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < 4; ++i) {
      if ((mask >> i) % 2 == 1) axes.push_back(i % 2 == 0 ? i : i - 4);
    }
    expect_reduced(x, axes);
  }
}

TEST(CpuReduce, WideAndLongAndOdd) {
  expect_reduced(random({3, 1100}, 2), {0});
  expect_reduced(random({3, 1100}, 3), {1});
  expect_reduced(random({1, 1}, 4), {0});
  expect_reduced(random({2, 1, 13, 3}, 5), {1, 2});
  expect_reduced(random({}, 6), {});
  expect_reduced(random({2, 3, 2, 3, 2, 3}, 7), {1, 3, 5});
}

TEST(CpuReduce, LongSumsStayPrecise) {
  Tensor x(ElementType::f32, {2, 300000});
  for (float& value : x.values<float>()) value = 0.1f;
  expect_near(run(ReduceOp{ReduceKind::sum, {1}, false}, {&x}), {2}, 30000 * kUnit,
              [](const Index&) { return 300000 * double(0.1f); });
}

TEST(CpuReduce, ImagesAreReducedAlikeWhateverTheBatch) {
  const Tensor x = random({3, 5, 7, 9}, 8);
  const Tensor one = Tensor::of<float>({1, 5, 7, 9}, x.values<float>().first(5 * 7 * 9));
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{1}, {2, 3}, {3}, {1, 2, 3}}) {
    const ReduceOp op{ReduceKind::sum, axes};
    const Tensor all = run(op, {&x}), first = run(op, {&one});
    EXPECT_EQ(std::memcmp(all.raw(), first.raw(), first.bytes()), 0);
  }
}

TEST(CpuReduce, NanAndInfinity) {
  const Tensor x = filled({4, 2}, {1, kNan, kNan, 2, -kInfinity, -kInfinity, kInfinity, 100});
  const auto at_row = [&](ReduceKind kind) { return run(ReduceOp{kind, {1}, false}, {&x}); };
  const double most[] = {kNan, kNan, -kInfinity, kInfinity}, least[] = {kNan, kNan, -kInfinity, 100};
  expect_near(at_row(ReduceKind::max), {4}, 0, [&](const Index& i) { return most[i[0]]; });
  expect_near(at_row(ReduceKind::min), {4}, 0, [&](const Index& i) { return least[i[0]]; });
  expect_near(at_row(ReduceKind::log_sum_exp), {4}, 0, [&](const Index& i) { return most[i[0]]; });
  const Tensor large = filled({1, 3}, {1e30f, 1e30f, -1e30f});
  expect_near(run(ReduceOp{ReduceKind::log_sum_exp}, {&large}), {1, 1}, 0, [](const Index&) { return double(1e30f); });
}

/// Random integers: many are equal, and some are NaN.
Tensor ties(const Shape& shape, uint64_t seed, bool nan) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) {
    value = nan && rng.integer(0, 9) == 0 ? kNan : static_cast<float>(rng.integer(-3, 3));
  }
  return tensor;
}

/// Returns the line through an index along an axis.
std::vector<double> line_of(const Tensor& x, Index index, size_t axis) {
  std::vector<double> line;
  for (int64_t i = 0; i < x.shape()[axis]; ++i) {
    index[axis] = i;
    line.push_back(at(x, index));
  }
  return line;
}

TEST(CpuArgReduce, FirstOrLastOfEquals) {
  for (const bool nan : {false, true}) {
    const Tensor x = ties({3, 7, 5}, 9, nan);
    for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
      for (int flags = 0; flags < 4; ++flags) {
        const bool largest = flags % 2 == 1, last = flags / 2 == 1;
        Shape shape = x.shape();
        shape[axis] = 1;
        const ArgReduceOp op{static_cast<int64_t>(axis), true, largest, last};
        expect_near(run(op, {&x}), shape, 0, [&](const Index& index) {
          const std::vector<double> line = line_of(x, index, axis);
          const auto score = [&](double value) { return std::isnan(value) ? 1e9 : largest ? value : -value; };
          size_t best = 0;
          for (size_t i = 1; i < line.size(); ++i) {
            if (score(line[i]) > score(line[best]) || (last && score(line[i]) == score(line[best]))) best = i;
          }
          return static_cast<double>(best);
        });
      }
    }
  }
  const Tensor x = random({2, 3}, 10);
  EXPECT_EQ(run(ArgReduceOp{-1, false}, {&x}).shape(), Shape{2});
}

TEST(CpuTopK, ValuesAndIndices) {
  for (const bool largest : {false, true}) {
    for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
      for (int64_t k = 1; k <= 3; ++k) {
        const Tensor x = ties({3, 4, 5}, 11, true);
        TopKOp op{static_cast<int64_t>(axis) - 3, k, largest};
        const auto places = [&](const Index& index) {
          const std::vector<double> line = line_of(x, index, axis);
          std::vector<size_t> order(line.size());
          std::iota(order.begin(), order.end(), size_t{0});
          const auto score = [&](size_t i) { return (largest ? 1 : -1) * (std::isnan(line[i]) ? 1e9 : line[i]); };
          std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return score(i) > score(j); });
          return order[static_cast<size_t>(index[axis])];
        };
        Shape shape = x.shape();
        shape[axis] = k;
        expect_near(run(op, {&x}), shape, 0,
                    [&](const Index& index) { return line_of(x, index, axis)[places(index)]; });
        op.indices = true;
        expect_near(run(op, {&x}), shape, 0, [&](const Index& index) { return static_cast<double>(places(index)); });
      }
    }
  }
}

TEST(CpuCumSum, EachWay) {
  const Tensor x = random({3, 4, 50}, 12);
  for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
    for (int flags = 0; flags < 4; ++flags) {
      const CumSumOp op{static_cast<int64_t>(axis), flags % 2 == 1, flags / 2 == 1};
      expect_close(run(op, {&x}), x.shape(), 2 * kUnit, [&](const Index& index) {
        std::vector<double> line = line_of(x, index, axis);
        auto place = static_cast<std::ptrdiff_t>(index[axis]);
        if (op.reverse) {
          std::ranges::reverse(line);
          place = std::ssize(line) - 1 - place;
        }
        return std::accumulate(line.begin(), line.begin() + place + (op.exclusive ? 0 : 1), 0.0);
      });
    }
  }
}

TEST(CpuLpNormalize, LinesOfLengthOne) {
  Tensor x = random({3, 4, 5}, 13);
  for (size_t i = 0; i < 5; ++i) x.values<float>()[i] = 0;
  for (const size_t axis : {size_t{0}, size_t{1}, size_t{2}}) {
    for (const int64_t p : {1, 2}) {
      expect_near(run(LpNormalizeOp{static_cast<int64_t>(axis), p}, {&x}), x.shape(), 2 * kUnit,
                  [&](const Index& index) {
                    double sum = 0;
                    for (double value : line_of(x, index, axis)) sum += p == 1 ? std::fabs(value) : value * value;
                    const double norm = p == 1 ? sum : std::sqrt(sum);
                    return at(x, index) / norm;  // NaN in a line of zeros
                  });
    }
  }
}

TEST(CpuLrn, NeighboringChannels) {
  const Tensor x = random({2, 7, 5, 60}, 14);
  for (const int64_t size : {1, 3, 4, 5, 20}) {
    const LrnOp op{0.5f, 0.75f, 1.5f, size};
    expect_near(run(op, {&x}), x.shape(), 4 * kUnit, [&](const Index& index) {
      double sum = 0;
      const int64_t low = index[1] - (size - 1) / 2, high = index[1] + size / 2;  // ceil((size - 1) / 2) after
      for (int64_t c = std::max<int64_t>(low, 0); c <= std::min<int64_t>(high, 6); ++c) {
        Index other = index;
        other[1] = c;
        sum += at(x, other) * at(x, other);
      }
      return at(x, index) / std::pow(1.5 + 0.5 / static_cast<double>(size) * sum, 0.75);
    });
  }
}

struct Statistics {
  double mean = 0, inverse = 0;
};

Statistics statistics_of(const std::vector<double>& terms, bool center, double epsilon) {
  const auto count = static_cast<double>(terms.size());
  Statistics result;
  if (center) result.mean = std::accumulate(terms.begin(), terms.end(), 0.0) / count;
  double sum = 0;
  for (double term : terms) sum += (term - result.mean) * (term - result.mean);
  result.inverse = 1 / std::sqrt(sum / count + epsilon);
  return result;
}

TEST(CpuNormalize, LayersFromEachAxis) {
  Tensor x = random({3, 4, 5, 6}, 15);
  for (float& value : x.values<float>()) value += 100;  // the mean is far from 0
  const Shape factors[] = {{}, {6}, {5, 6}, {4, 5, 6}, {5, 1}, {4, 1, 1}, {3, 1, 1, 6}, {3, 4, 5, 6}};
  for (int64_t axis = 0; axis < 4; ++axis) {
    std::vector<bool> dims(4, false);
    for (auto i = static_cast<size_t>(axis); i < 4; ++i) dims[i] = true;
    const auto terms = terms_of(x, dims);
    for (const bool center : {true, false}) {
      const auto statistics = [&](Index index) {
        for (size_t i = 0; i < 4; ++i) index[i] = dims[i] ? 0 : index[i];
        return statistics_of(terms.at(index), center, 0.01f);
      };
      NormalizeOp op{.axis = axis - 4, .epsilon = 0.01f, .center = center};
      const auto normalized = [&](const Index& index) {
        const Statistics own = statistics(index);
        return (at(x, index) - own.mean) * own.inverse;
      };
      expect_near(run(op, {&x}), x.shape(), 8 * kUnit, normalized);
      for (const Shape& shape : factors) {
        SCOPED_TRACE(to_text(shape));
        const Tensor scale = random(shape, 16), bias = random(shape, 17);
        expect_near(run(op, {&x, &scale}), x.shape(), 8 * kUnit,
                    [&](const Index& i) { return normalized(i) * broadcast_at(scale, i); });
        expect_near(run(op, {&x, &scale, &bias}), x.shape(), 16 * kUnit,
                    [&](const Index& i) { return normalized(i) * broadcast_at(scale, i) + broadcast_at(bias, i); });
      }
      Shape small = x.shape();
      std::fill(small.begin() + axis, small.end(), 1);
      op.part = NormalizePart::mean;
      expect_close(run(op, {&x}), small, kUnit, [&](const Index& i) { return statistics(i).mean; });
      op.part = NormalizePart::inverse_deviation;
      expect_close(run(op, {&x}), small, 8 * kUnit, [&](const Index& i) { return statistics(i).inverse; });
    }
  }
}

TEST(CpuNormalize, GroupsOfChannels) {
  for (const Shape& shape : {Shape{2, 6, 5, 7}, Shape{2, 6}, Shape{3, 6, 4}}) {
    const Tensor x = random(shape, 18), scale = random({6}, 19), bias = random({6}, 20);
    for (const int64_t groups : {1, 2, 3, 6}) {
      std::map<Index, std::vector<double>> terms;
      const auto group = [&](const Index& index) { return Index{index[0], index[1] / (6 / groups)}; };
      for_each(shape, [&](const Index& index, size_t) { terms[group(index)].push_back(at(x, index)); });
      const NormalizeOp op{.groups = groups, .epsilon = 0.1f};
      const auto normalized = [&](const Index& index) {
        const Statistics own = statistics_of(terms.at(group(index)), true, 0.1f);
        return (at(x, index) - own.mean) * own.inverse;
      };
      expect_near(run(op, {&x}), shape, 4 * kUnit, normalized);
      expect_near(run(op, {&x, &scale, &bias}), shape, 8 * kUnit,
                  [&](const Index& index) { return normalized(index) * at(scale, {index[1]}) + at(bias, {index[1]}); });
    }
  }
}

/// Tests an equation without "...": sums over all letters that the output lacks.
void expect_einsum(const std::string& equation, const std::vector<Shape>& shapes) {
  SCOPED_TRACE(equation);
  std::vector<std::string> terms{""};
  const size_t arrow = equation.find("->");
  for (char each : equation.substr(0, arrow)) {
    if (each == ',') {
      terms.emplace_back();
    } else if (each != ' ') {
      terms.back() += each;
    }
  }
  std::string output = equation.substr(arrow + 2);
  std::erase(output, ' ');
  std::vector<Tensor> tensors;
  std::vector<const Tensor*> inputs;
  std::string letters = output;
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < terms.size(); ++i) {
    tensors.push_back(random(shapes[i], 21 + i));
    for (size_t d = 0; d < terms[i].size(); ++d) {
      sizes[terms[i][d]] = std::max(sizes[terms[i][d]], shapes[i][d]);
      if (letters.find(terms[i][d]) == std::string::npos) letters += terms[i][d];
    }
  }
  for (const Tensor& tensor : tensors) inputs.push_back(&tensor);
  Shape all, shape;
  for (char each : letters) all.push_back(sizes[each]);
  for (char each : output) shape.push_back(sizes[each]);
  std::map<Index, double> sums;
  for_each(all, [&](const Index& index, size_t) {
    double product = 1;
    for (size_t i = 0; i < terms.size(); ++i) {
      Index own;
      for (char each : terms[i]) own.push_back(index[letters.find(each)]);
      product *= broadcast_at(tensors[i], own);
    }
    sums[Index(index.begin(), index.begin() + std::ssize(output))] += product;
  });
  expect_close(run(EinsumOp{equation}, inputs), shape, 100 * kUnit, [&](const Index& index) { return sums.at(index); });
}

TEST(CpuEinsum, Equations) {
  expect_einsum("ij,jk->ik", {{5, 7}, {7, 3}});
  expect_einsum("ij, jk -> ki", {{5, 7}, {7, 3}});
  expect_einsum("bhid,bhjd->bhij", {{2, 3, 5, 8}, {2, 3, 6, 8}});
  expect_einsum("bhij,bhjd->bihd", {{2, 3, 5, 6}, {2, 3, 6, 8}});
  expect_einsum("i,j->ij", {{5}, {7}});
  expect_einsum("i,i->", {{50}, {50}});
  expect_einsum("ij->ji", {{5, 7}});
  expect_einsum("ij->", {{5, 7}});
  expect_einsum("ii->i", {{5, 5}});
  expect_einsum("ii->", {{5, 5}});
  expect_einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}});
  expect_einsum("bij,bjk->ik", {{3, 2, 4}, {3, 4, 5}});
  expect_einsum("ij,ij->ij", {{3, 4}, {3, 4}});
  expect_einsum("ij,kj->ik", {{3, 4}, {5, 1}});  // a size of 1 is broadcast
  expect_einsum("ij,kl->ik", {{3, 4}, {5, 6}});
  expect_einsum("nchw,kc->nkhw", {{2, 3, 4, 5}, {6, 3}});
}

TEST(CpuEinsum, EllipsisAndImpliedOutput) {
  const Tensor a = random({2, 1, 3, 4}, 30), b = random({5, 4, 6}, 31), c = random({3, 4}, 32),
               square = random({3, 3}, 33);
  const Tensor product = run(MatMulOp{}, {&a, &b});
  expect_close(run(EinsumOp{"...ij,...jk->...ik"}, {&a, &b}), {2, 5, 3, 6}, 8 * kUnit,
               [&](const Index& i) { return at(product, i); });
  expect_close(run(EinsumOp{"...ij,...jk"}, {&a, &b}), {2, 5, 3, 6}, 8 * kUnit,
               [&](const Index& i) { return at(product, i); });
  expect_near(run(EinsumOp{"ba"}, {&c}), {4, 3}, 0, [&](const Index& i) { return at(c, {i[1], i[0]}); });
  expect_near(run(EinsumOp{"ii"}, {&square}), {}, 2 * kUnit, [&](const Index&) {
    return at(square, {0, 0}) + at(square, {1, 1}) + at(square, {2, 2});
  });
  for (const char* wrong : {"ij,jk", "ijk->i", "ij->iz", "ij->ii", "i.j->ij", "i->i", "...i...->i", "ij->i->j"}) {
    EXPECT_THROW(step_of(EinsumOp{wrong}, {&c}), Error) << wrong;
  }
}

}  // namespace
}  // namespace convlab
