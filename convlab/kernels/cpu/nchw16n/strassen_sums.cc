// Vectorized additions and subtractions of Strassen's method.

#include "convlab/kernels/cpu/nchw16n/strassen_sums.h"

#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw16n/strassen_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, kImageLanes>;
using I = hn::RebindToSigned<F>;

constexpr int64_t kLanes = hn::MaxLanes(F());
constexpr int64_t kVectors = kImageLanes / kLanes;

HWY_INLINE hn::Vec<I> magnitude(hn::Vec<F> value) { return hn::BitCast(I(), hn::Abs(value)); }

template <bool kNotesA, bool kNotesB>
void subtract(const float* a, const float* b, int64_t pixels, float* to, Largest* of_a, Largest* of_b) {
  const F d;
  hn::Vec<I> largest_a[kVectors], largest_b[kVectors];
  for (int64_t v = 0; v < kVectors; ++v) {
    if constexpr (kNotesA) largest_a[v] = hn::LoadU(I(), of_a->data() + v * kLanes);
    if constexpr (kNotesB) largest_b[v] = hn::LoadU(I(), of_b->data() + v * kLanes);
  }
  for (int64_t i = 0; i < pixels * kImageLanes; i += kImageLanes) {
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t at = i + v * kLanes;
      const hn::Vec<F> from = hn::Load(d, a + at), less = hn::Load(d, b + at);
      if constexpr (kNotesA) largest_a[v] = hn::Max(largest_a[v], magnitude(from));
      if constexpr (kNotesB) largest_b[v] = hn::Max(largest_b[v], magnitude(less));
      hn::Store(hn::Sub(from, less), d, to + at);
    }
  }
  for (int64_t v = 0; v < kVectors; ++v) {
    if constexpr (kNotesA) hn::StoreU(largest_a[v], I(), of_a->data() + v * kLanes);
    if constexpr (kNotesB) hn::StoreU(largest_b[v], I(), of_b->data() + v * kLanes);
  }
}

void subtract_all(const float* a, const float* b, int64_t pixels, float* to, Largest* of_a, Largest* of_b) {
  if (of_a != nullptr && of_b != nullptr) return subtract<true, true>(a, b, pixels, to, of_a, of_b);
  if (of_a != nullptr) return subtract<true, false>(a, b, pixels, to, of_a, of_b);
  if (of_b != nullptr) return subtract<false, true>(a, b, pixels, to, of_a, of_b);
  subtract<false, false>(a, b, pixels, to, of_a, of_b);
}

void add_all(const StrassenQuadrants& job) {
  const F d;
  for (int64_t part = 0; part < kImageLanes; part += kLanes) {
    const auto some = [part](const Largest& largest) {
      return hn::RebindMask(F(), hn::Ne(hn::LoadU(I(), largest.data() + part), hn::Zero(I())));
    };
    const auto left = some(*job.left), right = some(*job.right);
    for (int64_t at = part; at < job.pixels * kImageLanes; at += kImageLanes) {
      const auto p = [&](int64_t number) { return hn::Load(d, job.sums + (number - 1) * job.step + at); };
      const hn::Vec<F> u2 = hn::Add(p(1), p(6)), u3 = hn::Add(u2, p(7)), u4 = hn::Add(u2, p(5));
      hn::Store(hn::IfThenElseZero(left, hn::Add(p(1), p(2))), d, job.c11 + at);
      hn::Store(hn::IfThenElseZero(right, hn::Add(u4, p(3))), d, job.c12 + at);
      hn::Store(hn::IfThenElseZero(left, hn::Sub(u3, p(4))), d, job.c21 + at);
      hn::Store(hn::IfThenElseZero(right, hn::Add(u3, p(5))), d, job.c22 + at);
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(subtract_all);
HWY_EXPORT(add_all);

}  // namespace

void subtract_pixels(const float* a, const float* b, int64_t pixels, float* to, Largest* of_a, Largest* of_b) {
  HWY_DYNAMIC_DISPATCH(subtract_all)(a, b, pixels, to, of_a, of_b);
}

void add_strassen(const StrassenQuadrants& job) { HWY_DYNAMIC_DISPATCH(add_all)(job); }

}  // namespace convlab
#endif  // HWY_ONCE
