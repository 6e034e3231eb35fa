// Vectorized Winograd transforms of input rows and sums, and the transform of filter rows.

#include "convlab/kernels/cpu/nchw16n/winograd_transforms.h"

#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw16n/winograd_transforms.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, kImageLanes>;
using V = hn::Vec<F>;

void transform_input(const float* row, int64_t tiles, int64_t step, float* to, int64_t point_step) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V half = hn::Set(d, 0.5f), quarter = hn::Set(d, 0.25f), two = hn::Set(d, 2), four = hn::Set(d, 4);
  const V c125 = hn::Set(d, 1.25f), c25 = hn::Set(d, 2.5f), c425 = hn::Set(d, 4.25f), c5 = hn::Set(d, 5);
  const V c525 = hn::Set(d, 5.25f);
  for (int64_t t = 0; t < tiles; ++t, row += step * kImageLanes, to += kImageLanes) {
    for (int64_t part = 0; part < kImageLanes; part += lanes) {
      V x[kWinogradPoints];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kWinogradPoints; ++i) x[i] = hn::Load(d, row + i * kImageLanes + part);
      const auto store = [&](int64_t point, V value) HWY_ATTR { hn::Store(value, d, to + point * point_step + part); };
      // Points come in pairs of opposite sign: the terms even and odd in the point are computed once for both.
      const auto store_pair = [&](int64_t point, V even, V odd) HWY_ATTR {
        store(point, hn::Add(even, odd));
        store(point + 1, hn::Sub(even, odd));
      };
      store(0, hn::MulAdd(c525, hn::Sub(x[4], x[2]), hn::Sub(x[0], x[6])));
      store_pair(1, hn::NegMulAdd(c425, x[4], hn::Add(x[2], x[6])), hn::NegMulAdd(c425, x[3], hn::Add(x[1], x[5])));
      store_pair(3, hn::NegMulAdd(c125, x[4], hn::MulAdd(quarter, x[2], x[6])),
                 hn::MulAdd(half, x[1], hn::NegMulAdd(c25, x[3], hn::Mul(two, x[5]))));
      store_pair(5, hn::NegMulAdd(c5, x[4], hn::MulAdd(four, x[2], x[6])),
                 hn::MulAdd(two, x[1], hn::NegMulAdd(c25, x[3], hn::Mul(half, x[5]))));
      store(7, hn::MulAdd(c525, hn::Sub(x[3], x[5]), hn::Sub(x[7], x[1])));
    }
  }
}

/// Computes one tile of kOutputs outputs, and writes the first `wanted` of them.
template <int kOutputs>
HWY_INLINE void output_tile(const float* from, int64_t point_step, int64_t wanted, float bias, float* to) {
  const F d;
  const V offset = hn::Set(d, bias);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t part = 0; part < kImageLanes; part += lanes) {
    V m[kWinogradPoints];
#pragma GCC unroll 8
    for (int64_t i = 0; i < kWinogradPoints; ++i) m[i] = hn::Load(d, from + i * point_step + part);
    // Even parts go to outputs 0, 2, ..., odd parts to 1, 3, ...: m[1] is in both, so each output gets the bias once.
    m[1] = hn::Add(m[1], offset);
    const V even[3] = {hn::Add(m[1], m[2]), hn::Add(m[3], m[4]), hn::Add(m[5], m[6])};
    const V odd[3] = {hn::Sub(m[1], m[2]), hn::Sub(m[3], m[4]), hn::Sub(m[5], m[6])};
#pragma GCC unroll 8
    for (int i = 0; i < kOutputs; ++i) {
      const V* of = i % 2 == 0 ? even : odd;
      const float power = static_cast<float>(1 << i);
      V sum = hn::MulAdd(hn::Set(d, power), of[1], hn::MulAdd(hn::Set(d, 1 / power), of[2], of[0]));
      if (i == 0) sum = hn::Add(sum, m[0]);
      if (i == kOutputs - 1) sum = hn::Add(sum, m[7]);
      if (i < wanted) hn::Store(sum, d, to + i * kImageLanes + part);
    }
  }
}

template <int kOutputs>
void output_tiles(const WinogradOutput& job) {
  const float* from = job.from;
  int64_t pixel = 0;
  for (; pixel + kOutputs <= job.pixels; pixel += kOutputs, from += kImageLanes) {
    output_tile<kOutputs>(from, job.point_step, kOutputs, job.bias, job.y + pixel * kImageLanes);
  }
  if (pixel == job.pixels) return;
  output_tile<kOutputs>(from, job.point_step, job.pixels - pixel, job.bias, job.y + pixel * kImageLanes);
}

void transform_output(const WinogradOutput& job, int64_t outputs) {
  constexpr std::array kOf{output_tiles<2>, output_tiles<3>, output_tiles<4>,
                           output_tiles<5>, output_tiles<6>, output_tiles<7>};
  kOf[static_cast<size_t>(outputs - 2)](job);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(transform_input);
HWY_EXPORT(transform_output);

}  // namespace

std::array<double, kWinogradPoints> winograd_filter(const float* row, int64_t s) {
  constexpr std::array<double, kWinogradPoints - 1> kPoint{0, 1, -1, 2, -2, 0.5, -0.5};
  constexpr std::array<double, kWinogradPoints - 1> kFactor{1,        -2 / 9.0,  -2 / 9.0, 1 / 90.0,
                                                            1 / 90.0, 32 / 45.0, 32 / 45.0};
  std::array<double, kWinogradPoints> result{};
  for (size_t i = 0; i < kPoint.size(); ++i) {
    double power = kFactor[i];
    for (int64_t j = 0; j < s; ++j, power *= kPoint[i]) result[i] += power * row[j];
  }
  result.back() = row[s - 1];  // the point at infinity
  return result;
}

void winograd_input(const float* row, int64_t tiles, int64_t step, float* to, int64_t point_step) {
  HWY_DYNAMIC_DISPATCH(transform_input)(row, tiles, step, to, point_step);
}

void winograd_output(const WinogradOutput& job, int64_t outputs) {
  HWY_DYNAMIC_DISPATCH(transform_output)(job, outputs);
}

}  // namespace convlab
#endif  // HWY_ONCE
