// Composes consecutive affine operators into one convolution.

#include <cmath>
#include <utility>

#include "convlab/model/shapes.h"
#include "convlab/rewrite/linear.h"

namespace convlab {
namespace {

/// Returns weights[k][c][r][s] of a form under construction.
double& at(ConvForm& form, int64_t k, int64_t c, int64_t r, int64_t s) {
  return form.weights[static_cast<size_t>(((k * form.c + c) * form.r + r) * form.s + s)];
}
double at(const ConvForm& form, int64_t k, int64_t c, int64_t r, int64_t s) {
  return form.weights[static_cast<size_t>(((k * form.c + c) * form.r + r) * form.s + s)];
}

void allocate(ConvForm& form) {
  form.weights.assign(static_cast<size_t>(form.filter_count()), 0);
  form.bias.assign(static_cast<size_t>(form.k), 0);
}

/// Groups become zeros between channels, and dilation becomes zeros between filter elements.
ConvForm of_conv(const ConvOp& op, const LinearOp& step, bool sizes_only) {
  const ConvProblem problem = conv_problem(op, step.x, step.given[1]->shape());
  ConvForm form{.k = problem.k,
                .c = problem.c,
                .r = (problem.r - 1) * problem.dilation_h + 1,
                .s = (problem.s - 1) * problem.dilation_w + 1,
                .stride_h = problem.stride_h,
                .stride_w = problem.stride_w,
                .pad_top = problem.pad_top,
                .pad_left = problem.pad_left,
                .pad_bottom = problem.pad_bottom,
                .pad_right = problem.pad_right,
                .biased = step.given.size() > 2};
  if (sizes_only) return form;
  allocate(form);
  const float* w = step.given[1]->values<float>().data();
  for (int64_t k = 0; k < problem.k; ++k) {
    const int64_t first = k / problem.maps_per_group() * problem.channels_per_group();
    if (form.biased) form.bias[static_cast<size_t>(k)] = step.given[2]->values<float>()[static_cast<size_t>(k)];
    for (int64_t c = first; c < first + problem.channels_per_group(); ++c) {
      for (int64_t r = 0; r < problem.r; ++r) {
        for (int64_t s = 0; s < problem.s; ++s) at(form, k, c, r * problem.dilation_h, s * problem.dilation_w) = *w++;
      }
    }
  }
  return form;
}

/// Each output channel is the mean over windows of its own input channel. Returns nullopt if divisors differ between
/// windows.
std::optional<ConvForm> of_average(const Pool& pool, const LinearOp& step, bool sizes_only) {
  ConvForm form{.k = step.x[1],
                .c = step.x[1],
                .r = (pool.kernel_h - 1) * pool.dilation_h + 1,
                .s = (pool.kernel_w - 1) * pool.dilation_w + 1,
                .stride_h = pool.stride_h,
                .stride_w = pool.stride_w,
                .pad_top = pool.pad_top,
                .pad_left = pool.pad_left,
                .pad_bottom = pool.pad_bottom,
                .pad_right = pool.pad_right};
  if (pool.ceil_mode || (form.padded() && !pool.count_include_pad)) return std::nullopt;
  if (sizes_only) return form;
  allocate(form);
  const double share = 1 / static_cast<double>(pool.kernel_h * pool.kernel_w);
  for (int64_t k = 0; k < form.k; ++k) {
    for (int64_t r = 0; r < form.r; r += pool.dilation_h) {
      for (int64_t s = 0; s < form.s; s += pool.dilation_w) at(form, k, k, r, s) = share;
    }
  }
  return form;
}

/// Returns y = scale * x + shift per channel as a 1x1 filter.
ConvForm of_channels(int64_t channels, bool biased, bool sizes_only, auto scale, auto shift) {
  ConvForm form{.k = channels, .c = channels, .biased = biased};
  if (sizes_only) return form;
  allocate(form);
  for (int64_t k = 0; k < channels; ++k) {
    at(form, k, k, 0, 0) = scale(static_cast<size_t>(k));
    form.bias[static_cast<size_t>(k)] = shift(static_cast<size_t>(k));
  }
  return form;
}

std::optional<ConvForm> of_step(const LinearOp& step, bool sizes_only) {
  if (step.x.size() != 4 || step.y.size() != 4) return std::nullopt;
  const Op& op = step.node->op;
  const auto zero = [](size_t) { return 0.0; };
  const auto one = [](size_t) { return 1.0; };
  if (const auto* conv = std::get_if<ConvOp>(&op)) return of_conv(*conv, step, sizes_only);
  if (const auto* pool = std::get_if<PoolOp>(&op)) return of_average(resolved_pool(*pool, step.x), step, sizes_only);
  if (std::holds_alternative<GlobalAveragePoolOp>(op)) {
    return of_average({.kind = PoolKind::average, .kernel_h = step.x[2], .kernel_w = step.x[3]}, step, sizes_only);
  }
  if (const auto* norm = std::get_if<BatchNormOp>(&op)) {
    const auto parameter = [&](size_t which, size_t k) {
      return static_cast<double>(step.given[which]->values<float>()[k]);
    };
    const auto scale = [&](size_t k) { return parameter(1, k) / std::sqrt(parameter(4, k) + norm->epsilon); };
    return of_channels(step.x[1], true, sizes_only, scale,
                       [&](size_t k) { return parameter(2, k) - parameter(3, k) * scale(k); });
  }
  if (std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op)) {
    const Tensor& constant = *step.given[step.given[0] == nullptr ? 1 : 0];
    const Shape& shape = constant.shape();
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] != 1 && shape.size() - d != 3) return std::nullopt;  // differs within a channel
    }
    const auto value = [&](size_t k) {
      return static_cast<double>(constant.values<float>()[constant.count() == 1 ? 0 : k]);
    };
    const bool adds = std::holds_alternative<AddOp>(op);
    return adds ? of_channels(step.x[1], true, sizes_only, one, value)
                : of_channels(step.x[1], false, sizes_only, value, zero);
  }
  return std::nullopt;
}

/// Returns `second` after `first`. Each pixel in between stands for a filter's worth of input pixels, so the filter
/// grows by the other one, spread by the stride. If `second` pads the intermediate image with zeros, `first` must
/// return zeros there: it does if it is 1x1 without bias.
std::optional<ConvForm> composed(const ConvForm& first, const ConvForm& second, bool sizes_only) {
  const bool pointwise = first.r == 1 && first.s == 1 && first.stride_h == 1 && first.stride_w == 1;
  if (second.padded() && (!pointwise || first.biased || first.padded())) return std::nullopt;
  const ConvForm& pads = second.padded() ? second : first;
  ConvForm form{.k = second.k,
                .c = first.c,
                .r = (second.r - 1) * first.stride_h + first.r,
                .s = (second.s - 1) * first.stride_w + first.s,
                .stride_h = first.stride_h * second.stride_h,
                .stride_w = first.stride_w * second.stride_w,
                .pad_top = pads.pad_top,
                .pad_left = pads.pad_left,
                .pad_bottom = pads.pad_bottom,
                .pad_right = pads.pad_right,
                .biased = first.biased || second.biased};
  if (sizes_only) return form;
  allocate(form);
  form.bias = second.bias;
  for (int64_t k = 0; k < form.k; ++k) {
    for (int64_t m = 0; m < second.c; ++m) {
      for (int64_t rs = 0; rs < second.r * second.s; ++rs) {
        const int64_t r2 = rs / second.s, s2 = rs % second.s;
        const double weight = at(second, k, m, r2, s2);
        if (weight == 0) continue;  // groups and dilation add zeros
        form.bias[static_cast<size_t>(k)] += weight * first.bias[static_cast<size_t>(m)];
        for (int64_t c = 0; c < form.c; ++c) {
          for (int64_t r = 0; r < first.r; ++r) {
            for (int64_t s = 0; s < first.s; ++s) {
              at(form, k, c, r2 * first.stride_h + r, s2 * first.stride_w + s) += weight * at(first, m, c, r, s);
            }
          }
        }
      }
    }
  }
  return form;
}

}  // namespace

std::optional<ConvForm> conv_form(const std::vector<LinearOp>& steps, bool sizes_only) {
  std::optional<ConvForm> form = of_step(steps.front(), sizes_only);
  for (size_t i = 1; form && i < steps.size(); ++i) {
    const std::optional<ConvForm> next = of_step(steps[i], sizes_only);
    form = next ? composed(*form, *next, sizes_only) : std::nullopt;
  }
  return form;
}

}  // namespace convlab
