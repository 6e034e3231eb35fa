#include "convlab/kernels/cpu/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convlab/kernels/cpu/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/epilogue.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;

/// add_and_activate() for a kind known at compile time, so that it is not asked for in the loop.
template <ActivationKind kKind>
void add_and_apply(const Activation& activation, float bias, const float* from, float* to, int64_t count) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, bias);
  const Activation known{kKind, activation.alpha, activation.beta};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(activated(d, known, hn::Add(hn::LoadU(d, from + i), offset)), d, to + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[16] = {};
  std::copy(from + i, from + count, rest);
  hn::Store(activated(d, known, hn::Add(hn::Load(d, rest), offset)), d, rest);
  std::copy(rest, rest + (count - i), to + i);
}

/// to[i] = activation(from[i] + bias); `to` may be `from`.
void add_and_activate(const Activation& activation, float bias, const float* from, float* to, int64_t count) {
  switch (activation.kind) {
    case ActivationKind::none:
      return add_and_apply<ActivationKind::none>(activation, bias, from, to, count);
    case ActivationKind::relu:
      return add_and_apply<ActivationKind::relu>(activation, bias, from, to, count);
    case ActivationKind::leaky_relu:
      return add_and_apply<ActivationKind::leaky_relu>(activation, bias, from, to, count);
    case ActivationKind::clip:
      return add_and_apply<ActivationKind::clip>(activation, bias, from, to, count);
    case ActivationKind::sigmoid:
      return add_and_apply<ActivationKind::sigmoid>(activation, bias, from, to, count);
    case ActivationKind::tanh:
      return add_and_apply<ActivationKind::tanh>(activation, bias, from, to, count);
  }
}

/// out[j] = the largest of above[2j], above[2j + 1], below[2j], below[2j + 1]; NaN wins.
void max_2x2_row(const float* above, const float* below, float* out, int64_t count) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    hn::Vec<F> a, b, e, f;
    hn::LoadInterleaved2(d, above + 2 * j, a, b);
    hn::LoadInterleaved2(d, below + 2 * j, e, f);
    hn::StoreU(max_of_four_or_nan(a, b, e, f), d, out + j);
  }
  for (; j < count; ++j) {
    float largest = above[2 * j];
    for (const float value : {above[2 * j + 1], below[2 * j], below[2 * j + 1]}) {
      if (!(value <= largest) && !std::isnan(largest)) largest = value;
    }
    out[j] = largest;
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(add_and_activate);
HWY_EXPORT(max_2x2_row);

/// Any pooling, by its definition: `sums` are the rows `have` of a map of `height` by `width`, bias included.
void pool_rows(const Pool& pool, const float* sums, RowRange have, int64_t height, int64_t width, int64_t first,
               int64_t count, int64_t out_width, float* out) {
  for (int64_t p = first; p < first + count; ++p) {
    for (int64_t q = 0; q < out_width; ++q) {
      float largest = -std::numeric_limits<float>::infinity();
      double sum = 0;
      int64_t inside = 0, window = 0;
      for (int64_t r = 0; r < pool.kernel_h; ++r) {
        const int64_t h = p * pool.stride_h + r * pool.dilation_h - pool.pad_top;
        for (int64_t s = 0; s < pool.kernel_w; ++s) {
          const int64_t w = q * pool.stride_w + s * pool.dilation_w - pool.pad_left;
          // A window of ceil_mode may reach beyond the padding; what lies there never counts.
          if (h < height + pool.pad_bottom && w < width + pool.pad_right) ++window;
          if (h < 0 || h >= height || w < 0 || w >= width) continue;
          const float value = sums[(h - have.first) * width + w];
          if (!(value <= largest) && !std::isnan(largest)) largest = value;  // so that NaN wins
          sum += value;
          ++inside;
        }
      }
      const int64_t divisor = pool.count_include_pad ? window : inside;
      out[p * out_width + q] =
          pool.kind == PoolKind::max ? largest : static_cast<float>(sum / static_cast<double>(divisor));
    }
  }
}

}  // namespace

void activate(const Activation& activation, float* values, int64_t count) {
  if (activation.kind == ActivationKind::none) return;
  HWY_DYNAMIC_DISPATCH(add_and_activate)(activation, -0.0f, values, values, count);  // x + -0 is x, for -0, too
}

void max_of_squares(const float* above, const float* below, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(max_2x2_row)(above, below, out, count);
}

void add_bias_and_activate(const Epilogue& epilogue, float bias, float* values, int64_t count) {
  if (!epilogue.bias && epilogue.activation.kind == ActivationKind::none) return;
  HWY_DYNAMIC_DISPATCH(add_and_activate)
  (epilogue.activation, epilogue.bias ? bias : -0.0f, values, values, count);
}

RowRange rows_under(const ConvStep& step, int64_t first, int64_t count) {
  if (!step.epilogue.pool) return {first, count};
  const Pool& pool = *step.epilogue.pool;
  const int64_t height = step.problem.p();
  const int64_t begin = std::clamp<int64_t>(first * pool.stride_h - pool.pad_top, 0, height);
  const int64_t end = std::clamp<int64_t>(
      (first + count - 1) * pool.stride_h - pool.pad_top + (pool.kernel_h - 1) * pool.dilation_h + 1, begin, height);
  return {begin, end - begin};
}

void finish_rows(const ConvStep& step, float* sums, RowRange have, float bias, int64_t first, int64_t count, float* y) {
  const Epilogue& epilogue = step.epilogue;
  const int64_t width = step.problem.q();
  if (!epilogue.pool) {
    if (sums == y + first * width && !epilogue.bias && epilogue.activation.kind == ActivationKind::none) return;
    HWY_DYNAMIC_DISPATCH(add_and_activate)
    (epilogue.activation, epilogue.bias ? bias : -0.0f, sums + (first - have.first) * width, y + first * width,
     count * width);
    return;
  }
  const int64_t out_width = epilogue.pool->output_w(width);
  float* out = y + first * out_width;
  if (epilogue.pool->is_max_2x2()) {
    // Rounding is monotonic, so the bias may be added to the maximum: the same bits with a quarter of the additions.
    for (int64_t p = 0; p < count; ++p) {
      const float* above = sums + (2 * (first + p) - have.first) * width;
      max_of_squares(above, above + width, out + p * out_width, out_width);
    }
    add_bias_and_activate(epilogue, bias, out, count * out_width);
    return;
  }
  if (epilogue.bias) {
    HWY_DYNAMIC_DISPATCH(add_and_activate)(Activation{}, bias, sums, sums, have.count * width);
  }
  pool_rows(*epilogue.pool, sums, have, step.problem.p(), width, first, count, out_width, y);
  activate(epilogue.activation, out, count * out_width);
}

}  // namespace convlab
#endif  // HWY_ONCE
