// Elementwise operations on quantized values: additions, maxima, sums and quantization.

#include "convlab/kernels/cpu/nhwc_int8/byte_levels.h"

#include <algorithm>

#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_int8/byte_levels.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;

/// level_of() of each lane, as int32.
HWY_INLINE hn::Vec<Ints> levels_of(hn::Vec<Floats> value, const LevelRule& rule) {
  const Floats d;
  const Ints whole;
  const auto low = hn::Set(d, static_cast<float>(rule.low - rule.zero));
  const auto high = hn::Set(d, static_cast<float>(rule.high - rule.zero));
  const auto above = hn::IfThenElse(hn::Gt(value, low), value, low);  // NaN becomes low
  return hn::Add(hn::NearestInt(hn::Min(above, high)), hn::Set(whole, rule.zero));
}

void add_all(const uint8_t* a, const uint8_t* b, int64_t count, const ByteSum& sum, uint8_t* y) {
  const Floats d;
  const Ints whole;
  const hn::Rebind<uint8_t, Floats> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto real = [&](const uint8_t* from) { return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(bytes, from))); };
  const auto one = [&](const uint8_t* of_a, const uint8_t* of_b, uint8_t* to) {
    const auto rest = hn::MulAdd(real(of_b), hn::Set(d, sum.b_factor), hn::Set(d, sum.rest));
    const auto value = hn::MulAdd(real(of_a), hn::Set(d, sum.a_factor), rest);
    hn::StoreU(hn::DemoteTo(bytes, levels_of(value, sum.rule)), bytes, to);
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) one(a + i, b + i, y + i);
  if (i == count) return;
  uint8_t rest[3][16] = {};
  std::copy_n(a + i, count - i, rest[0]);
  std::copy_n(b + i, count - i, rest[1]);
  one(rest[0], rest[1], rest[2]);
  std::copy_n(rest[2], count - i, y + i);
}

/// Maxima over pixels of a vector of channels at a time, starting at channel `first`. Returns the first channel left.
template <class D>
int64_t largest_in(D d, const uint8_t* const* pixels, size_t pixel_count, int64_t first, int64_t count, uint8_t* y) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; first + lanes <= count; first += lanes) {
    auto most = hn::Zero(d);
    for (size_t i = 0; i < pixel_count; ++i) most = hn::Max(most, hn::LoadU(d, pixels[i] + first));
    hn::StoreU(most, d, y + first);
  }
  return first;
}

void largest_of_all(const uint8_t* const* pixels, size_t pixel_count, int64_t count, uint8_t* y) {
  int64_t first = largest_in(hn::CappedTag<uint8_t, 64>(), pixels, pixel_count, 0, count, y);
  first = largest_in(hn::CappedTag<uint8_t, 16>(), pixels, pixel_count, first, count, y);
  largest_in(hn::CappedTag<uint8_t, 1>(), pixels, pixel_count, first, count, y);
}

void sum_all_pixels(const uint8_t* x, int64_t pixels, int64_t step, int64_t channels, int32_t* sums) {
  const Ints whole;
  const hn::Rebind<uint8_t, Ints> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(whole));
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto sum = hn::Zero(whole);
    for (int64_t i = 0; i < pixels; ++i) {
      sum = hn::Add(sum, hn::PromoteTo(whole, hn::LoadU(bytes, x + i * step + c)));
    }
    hn::StoreU(sum, whole, sums + c);
  }
  for (; c < channels; ++c) {
    sums[c] = 0;
    for (int64_t i = 0; i < pixels; ++i) sums[c] += x[i * step + c];
  }
}

void quantize_all_planes(const float* x, int64_t plane, int64_t planes, int64_t pixels, float scale,
                         const LevelRule& rule, uint8_t* y) {
  const Floats d;
  const Ints whole;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto divisor = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + lanes <= pixels; i += lanes) {
    auto pixel = levels_of(hn::Div(hn::LoadU(d, x + i), divisor), rule);
    if (planes > 1)
      pixel = hn::Or(pixel, hn::ShiftLeft<8>(levels_of(hn::Div(hn::LoadU(d, x + plane + i), divisor), rule)));
    if (planes > 2) {
      pixel = hn::Or(pixel, hn::ShiftLeft<16>(levels_of(hn::Div(hn::LoadU(d, x + 2 * plane + i), divisor), rule)));
    }
    if (planes > 3) {
      pixel = hn::Or(pixel, hn::ShiftLeft<24>(levels_of(hn::Div(hn::LoadU(d, x + 3 * plane + i), divisor), rule)));
    }
    hn::StoreU(pixel, whole, reinterpret_cast<int32_t*>(y + 4 * i));
  }
  for (; i < pixels; ++i) {
    for (int64_t c = 0; c < planes; ++c) y[4 * i + c] = level_of(x[c * plane + i] / scale, rule);
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(add_all);
HWY_EXPORT(largest_of_all);
HWY_EXPORT(sum_all_pixels);
HWY_EXPORT(quantize_all_planes);

}  // namespace

ByteSum sum_of(const ByteAddOp& op, int zero_of_a) {
  const double rest = -static_cast<double>(op.b_zero) * op.b_factor - static_cast<double>(zero_of_a) * op.a_factor;
  return {op.a_factor, op.b_factor, static_cast<float>(rest), rule_of(op)};
}

void add_levels(const uint8_t* a, const uint8_t* b, int64_t count, const ByteSum& sum, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(add_all)(a, b, count, sum, y);
}

void largest_levels(std::span<const uint8_t* const> pixels, int64_t count, uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(largest_of_all)(pixels.data(), pixels.size(), count, y);
}

void sum_pixels(const uint8_t* x, int64_t pixels, int64_t step, int64_t channels, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_all_pixels)(x, pixels, step, channels, sums);
}

void quantize_planes(const float* x, int64_t plane, int64_t planes, int64_t pixels, float scale, const LevelRule& rule,
                     uint8_t* y) {
  HWY_DYNAMIC_DISPATCH(quantize_all_planes)(x, plane, planes, pixels, scale, rule, y);
}

}  // namespace convlab
#endif  // HWY_ONCE
