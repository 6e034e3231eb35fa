// Applies the epilogue of fused CPU convolutions: bias, pooling and activation.

#include "convlab/kernels/cpu/simd/vector_epilogue.h"

#include <algorithm>

#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/simd/vector_epilogue.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;

/// add_and_activate() for an activation known at compile time, so that the loop does not test for it.
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
    case ActivationKind::swish:
      return add_and_apply<ActivationKind::swish>(activation, bias, from, to, count);
    case ActivationKind::hard_swish:
      return add_and_apply<ActivationKind::hard_swish>(activation, bias, from, to, count);
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(add_and_activate);

}  // namespace

void activate(const Activation& activation, float* values, int64_t count) {
  if (activation.kind == ActivationKind::none) return;
  HWY_DYNAMIC_DISPATCH(add_and_activate)(activation, -0.0f, values, values, count);  // x + -0 is x, also for x = -0
}

void add_bias_and_activate(const Epilogue& epilogue, float bias, float* values, int64_t count) {
  if (!epilogue.bias && epilogue.activation.kind == ActivationKind::none) return;
  HWY_DYNAMIC_DISPATCH(add_and_activate)
  (epilogue.activation, epilogue.bias ? bias : -0.0f, values, values, count);
}

RowRange rows_under(const ConvStep& step, int64_t first, int64_t count) {
  const RowRange outputs{first, count};
  return step.epilogue.pool ? rows_pooled_into(*step.epilogue.pool, outputs, step.problem.p()) : outputs;
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
  const Pool& pool = *epilogue.pool;
  const int64_t out_width = pool.output_w(width);
  float* out = y + first * out_width;
  // Rounding is monotonic, so the bias may be added to a maximum: the same bits with fewer additions.
  const bool bias_last = pool.kind == PoolKind::max;
  if (epilogue.bias && !bias_last) {
    HWY_DYNAMIC_DISPATCH(add_and_activate)(Activation{}, bias, sums, sums, have.count * width);
  }
  pool_rows(pool, sums, have, step.problem.p(), width, {first, count}, out);
  if (bias_last) {
    add_bias_and_activate(epilogue, bias, out, count * out_width);
  } else {
    activate(epilogue.activation, out, count * out_width);
  }
}

}  // namespace convlab
#endif  // HWY_ONCE
