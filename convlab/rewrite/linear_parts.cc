// Partitions chains of linear operators at the lowest cost.

#include "convlab/rewrite/linear_parts.h"

#include <algorithm>
#include <optional>

#include "convlab/rewrite/evaluate.h"

namespace convlab {
namespace {

/// Multiply-adds that a machine computes in the time of loading one byte: about 5 on today's GPUs and CPUs (an H200 7,
/// a pair of Xeon cores 5).
constexpr double kMultiplyAddsPerByte = 5;

/// The largest matrix, whatever it saves: in double it has half a gigabyte.
constexpr int64_t kMostMatrixCount = int64_t{1} << 26;

/// The most multiply-adds to compute a matrix: some seconds.
constexpr double kMostMakingWork = 0x1p34;

/// Returns the cost of one operator: its images before and after, and their share of the weights, in float32.
LinearCost cost_of(double multiply_adds, const Shape& x, const Shape& y, double weights) {
  const auto images = static_cast<double>(image_element_count(x) + image_element_count(y));
  return {multiply_adds, 4 * (images + weights / static_cast<double>(x[0]))};
}

LinearPart kept(const std::vector<LinearOp>& chain, size_t at) {
  const LinearOp& step = chain[at];
  LinearPart part{.begin = at, .end = at + 1};
  if (only_reshapes(step.node->op)) return part;
  double weights = 0;
  for (const Tensor* given : step.given) weights += given != nullptr ? static_cast<double>(given->count()) : 0;
  part.cost = cost_of(multiply_adds(step), step.x, step.y, weights);
  return part;
}

std::optional<LinearPart> as_conv(const std::vector<LinearOp>& chain, size_t begin, size_t end) {
  const auto form = conv_form(
      {chain.begin() + static_cast<std::ptrdiff_t>(begin), chain.begin() + static_cast<std::ptrdiff_t>(end)}, true);
  if (!form || form->filter_count() > kMostMatrixCount) return std::nullopt;
  double making_work = 0;  // upper bound: each step's taps are combined with those of all others
  for (size_t i = begin; i < end; ++i) {
    const double taps = multiply_adds(chain[i]) / static_cast<double>(image_element_count(chain[i].y));
    making_work += taps * static_cast<double>(form->filter_count());
  }
  if (making_work > kMostMakingWork) return std::nullopt;
  const Shape &x = chain[begin].x, &y = chain[end - 1].y;
  const auto terms = static_cast<double>(form->c * form->r * form->s);
  return LinearPart{
      begin, end, LinearPart::Form::conv,
      cost_of(static_cast<double>(image_element_count(y)) * terms, x, y, static_cast<double>(form->filter_count()))};
}

std::optional<LinearPart> as_dense(const std::vector<LinearOp>& chain, size_t begin, size_t end) {
  const Shape &x = chain[begin].x, &y = chain[end - 1].y;
  double making_work = 0;
  for (size_t i = begin; i < end; ++i) {
    making_work +=
        only_reshapes(chain[i].node->op) ? 0 : multiply_adds(chain[i]) * static_cast<double>(image_element_count(y));
    // Intermediate matrices must stay small, too.
    if (std::max(image_element_count(chain[i].x), image_element_count(chain[i].y)) >
        kMostMatrixCount / image_element_count(y)) {
      return std::nullopt;
    }
  }
  if (making_work > kMostMakingWork) return std::nullopt;
  const auto count = static_cast<double>(image_element_count(x) * image_element_count(y));
  return LinearPart{begin, end, LinearPart::Form::dense, cost_of(count, x, y, count)};
}

}  // namespace

double LinearCost::total() const { return multiply_adds + kMultiplyAddsPerByte * bytes; }

std::string to_text(const LinearCost& cost) {
  return fmt::format("{:.2f} million multiply-adds and {:.1f} kB per image", cost.multiply_adds * 1e-6,
                     cost.bytes * 1e-3);
}

LinearCost cost_of(const std::vector<LinearOp>& chain) {
  LinearCost cost;
  for (size_t i = 0; i < chain.size(); ++i) cost = cost + kept(chain, i).cost;
  return cost;
}

/// Dynamic programming over prefixes: the best partition of the first `end` steps is that of the first `begin` steps
/// plus one part. A single kept step comes first, and only a lower cost replaces it.
std::vector<LinearPart> cheapest_parts(const std::vector<LinearOp>& chain) {
  struct Best {
    LinearCost cost;
    LinearPart last;
  };
  std::vector<Best> best(chain.size() + 1);
  for (size_t end = 1; end <= chain.size(); ++end) {
    const LinearPart single = kept(chain, end - 1);
    best[end] = {best[end - 1].cost + single.cost, single};
    for (size_t begin = 0; begin + 1 < end; ++begin) {
      for (const std::optional<LinearPart>& part : {as_conv(chain, begin, end), as_dense(chain, begin, end)}) {
        if (!part) continue;
        const LinearCost cost = best[begin].cost + part->cost;
        if (cost.total() < best[end].cost.total()) best[end] = {cost, *part};
      }
    }
  }
  std::vector<LinearPart> parts;
  for (size_t end = chain.size(); end > 0; end = parts.back().begin) parts.push_back(best[end].last);
  std::ranges::reverse(parts);
  return parts;
}

std::string why_not_one(const std::vector<LinearOp>& chain) {
  const auto conv = as_conv(chain, 0, chain.size()), dense = as_dense(chain, 0, chain.size());
  if (!conv && !dense) {
    return fmt::format("the matrix would exceed {} elements or take more than {:.0e} multiply-adds to compute",
                       kMostMatrixCount, kMostMakingWork);
  }

  const bool as_filter = conv && (!dense || conv->cost.total() <= dense->cost.total());
  return fmt::format("one {} would need {} instead of {}", as_filter ? "convolution" : "matrix",
                     to_text(as_filter ? conv->cost : dense->cost), to_text(cost_of(chain)));
}

}  // namespace convlab
