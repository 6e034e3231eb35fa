// cpu.reduce: computes sums, means, norms, products and extremes over any axes.
// Threads: a work item is a row of results. Everything is accumulated in double, in a fixed order. If the last
// dimension is kept, a row of accumulators processes one input row at a time.
// Supports every case of its operator.
// Limited by memory bandwidth; log_sum_exp by exp().

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_reduce {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ReduceOp>(step.op)) return "only reductions are supported";
  return std::nullopt;
}

/// How an array is reduced. Adjacent dimensions that are both kept or both reduced are merged.
struct Reduction {
  Shape kept, reduced;
  std::vector<int64_t> kept_strides, reduced_strides;
  int64_t terms = 1;
  int64_t width = 1;  ///< of the last dimension, which is in neither `kept` nor `reduced`
  bool width_is_kept = false;

  explicit Reduction(const Step& step) {
    const Shape& x = step.inputs[0].shape;
    const std::vector<bool> marks = reduced_axes(std::get<ReduceOp>(step.op), x.size());
    size_t rank = x.size();
    width_is_kept = rank > 0 && !marks.back();
    for (; rank > 0 && marks[rank - 1] != width_is_kept; --rank) width *= x[rank - 1];
    int64_t stride = width;
    for (size_t i = rank; i-- > 0; stride *= x[i]) {
      Shape& sizes = marks[i] ? reduced : kept;
      std::vector<int64_t>& strides = marks[i] ? reduced_strides : kept_strides;
      const bool grows = i + 1 < rank && marks[i + 1] == marks[i];
      if (grows) {
        sizes.front() *= x[i];
      } else {
        sizes.insert(sizes.begin(), x[i]);
        strides.insert(strides.begin(), stride);
      }
    }
    terms = element_count(reduced) * (width_is_kept ? 1 : width);
  }

  static int64_t offset(const Shape& sizes, const std::vector<int64_t>& strides, int64_t index) {
    int64_t at = 0;
    for (size_t i = sizes.size(); i-- > 0; index /= sizes[i]) at += index % sizes[i] * strides[i];
    return at;
  }
};

// An accumulation rule: its start value, how it adds a value, how it joins two accumulators, and how it computes the
// result. `most` is the largest value, for log_sum_exp.

struct Sum {
  static constexpr double kStart = 0;
  static double add(double sum, double x, double) { return sum + x; }
  static double join(double a, double b) { return a + b; }
  static double finish(double sum, double, double) { return sum; }
};
struct Mean : Sum {
  static double finish(double sum, double terms, double) { return sum / terms; }
};
struct LogSum : Sum {
  static double finish(double sum, double, double) { return std::log(sum); }
};
struct Absolute : Sum {
  static double add(double sum, double x, double) { return sum + std::fabs(x); }
};
struct Squares : Sum {
  static double add(double sum, double x, double) { return sum + x * x; }
};
struct Norm : Squares {
  static double finish(double sum, double, double) { return std::sqrt(sum); }
};
struct Product : Sum {
  static constexpr double kStart = 1;
  static double add(double product, double x, double) { return product * x; }
  static double join(double a, double b) { return a * b; }
};
// `|`, not `||`: without branches, compilers vectorize it.
struct Largest : Sum {
  static constexpr double kStart = -std::numeric_limits<double>::infinity();
  static double add(double most, double x, double) { return ((x > most) | (x != x)) ? x : most; }
  static double join(double a, double b) { return add(a, b, 0); }
};
struct Smallest : Largest {
  static constexpr double kStart = std::numeric_limits<double>::infinity();
  static double add(double least, double x, double) { return ((x < least) | (x != x)) ? x : least; }
  static double join(double a, double b) { return add(a, b, 0); }
};
struct LogSumExp : Sum {
  /// Returns the shift of the exponents that keeps the exponentials in range.
  static double shift(double most) { return std::isfinite(most) ? most : 0; }
  static double add(double sum, double x, double most) { return sum + std::exp(x - shift(most)); }
  static double finish(double sum, double, double most) { return std::log(sum) + shift(most); }
};

/// Computes one result: accumulates all values in eight interleaved accumulators, row after row.
template <class Rule>
double reduced_rows(const Reduction& reduction, const float* x, double most) {
  constexpr int64_t kSums = 8;
  std::array<double, kSums> sums;
  sums.fill(Rule::kStart);
  for (int64_t row = 0; row < element_count(reduction.reduced); ++row) {
    const float* from = x + Reduction::offset(reduction.reduced, reduction.reduced_strides, row);
    int64_t i = 0;
    for (; i + kSums <= reduction.width; i += kSums) {
      for (int64_t j = 0; j < kSums; ++j) {
        sums[static_cast<size_t>(j)] = Rule::add(sums[static_cast<size_t>(j)], from[i + j], most);
      }
    }
    for (size_t j = 0; i < reduction.width; ++i, ++j) sums[j] = Rule::add(sums[j], from[i], most);
  }
  for (size_t step = 1; step < kSums; step *= 2) {
    for (size_t j = 0; j < kSums; j += 2 * step) sums[j] = Rule::join(sums[j], sums[j + step]);
  }
  return sums[0];
}

template <class Rule>
void reduce_to_elements(const Reduction& reduction, const Args& args, ThreadPool& threads) {
  const auto terms = static_cast<double>(reduction.terms);
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(reduction.terms, 1));
  threads.parallel_for(element_count(args.step.outputs[0].shape), grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const float* x = args.input(0) + Reduction::offset(reduction.kept, reduction.kept_strides, i);
      double most = 0;
      if constexpr (std::is_same_v<Rule, LogSumExp>) most = reduced_rows<Largest>(reduction, x, 0);
      args.output()[i] = static_cast<float>(Rule::finish(reduced_rows<Rule>(reduction, x, most), terms, most));
    }
  });
}

constexpr int64_t kColumns = 256;

/// Computes `columns` adjacent results.
template <class Rule>
void reduce_columns(const Reduction& reduction, const float* x, int64_t columns, const double* most, double* sums) {
  std::fill_n(sums, columns, Rule::kStart);
  for (int64_t row = 0; row < element_count(reduction.reduced); ++row) {
    const float* from = x + Reduction::offset(reduction.reduced, reduction.reduced_strides, row);
    for (int64_t i = 0; i < columns; ++i) sums[i] = Rule::add(sums[i], from[i], most[i]);
  }
}

template <class Rule>
void reduce_to_rows(const Reduction& reduction, const Args& args, ThreadPool& threads) {
  const auto terms = static_cast<double>(reduction.terms);
  const int64_t pieces = (reduction.width + kColumns - 1) / kColumns, rows = element_count(reduction.kept);
  threads.parallel_for(rows * pieces, 1, [&](int64_t begin, int64_t end, int) {
    double sums[kColumns], most[kColumns] = {};
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t row = piece / pieces, first = piece % pieces * kColumns;
      const int64_t columns = std::min(kColumns, reduction.width - first);
      const float* x = args.input(0) + Reduction::offset(reduction.kept, reduction.kept_strides, row) + first;
      if constexpr (std::is_same_v<Rule, LogSumExp>) {
        reduce_columns<Largest>(reduction, x, columns, most, sums);
        std::copy_n(sums, columns, most);
      }
      reduce_columns<Rule>(reduction, x, columns, most, sums);
      float* y = args.output() + row * reduction.width + first;
      for (int64_t i = 0; i < columns; ++i) y[i] = static_cast<float>(Rule::finish(sums[i], terms, most[i]));
    }
  });
}

template <class Rule>
void reduce(const Args& args, ThreadPool& threads) {
  const Reduction reduction(args.step);
  if (reduction.width_is_kept) {
    reduce_to_rows<Rule>(reduction, args, threads);
  } else {
    reduce_to_elements<Rule>(reduction, args, threads);
  }
}

void launch(const Args& args, Stream& stream) {
  ThreadPool& threads = *stream.threads();
  switch (std::get<ReduceOp>(args.step.op).kind) {
    case ReduceKind::sum:
      return reduce<Sum>(args, threads);
    case ReduceKind::mean:
      return reduce<Mean>(args, threads);
    case ReduceKind::max:
      return reduce<Largest>(args, threads);
    case ReduceKind::min:
      return reduce<Smallest>(args, threads);
    case ReduceKind::prod:
      return reduce<Product>(args, threads);
    case ReduceKind::l1:
      return reduce<Absolute>(args, threads);
    case ReduceKind::l2:
      return reduce<Norm>(args, threads);
    case ReduceKind::log_sum:
      return reduce<LogSum>(args, threads);
    case ReduceKind::log_sum_exp:
      return reduce<LogSumExp>(args, threads);
    case ReduceKind::sum_square:
      return reduce<Squares>(args, threads);
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.reduce",
             .device = DeviceKind::cpu,
             .family = Family::reduction,
             .idea = "sums, means, norms and extremes over any axes, in double, with adjacent axes merged"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_reduce
