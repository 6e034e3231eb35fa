// Epilogue of sums (PairsEnd in bf16_jobs.h), one output of some output channels at a time: maximum of four, bias,
// activation, and conversion to bf16 or fp32.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_
#undef CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_
#else
#define CONVLAB_KERNELS_CPU_BF16_ENDS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_jobs.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_values-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Addresses of the sums of one output: the first channel's, and the steps to the next channel's and, for the maximum
/// of four, to the sum on the right and the one below.
struct OutputSums {
  const float* first = nullptr;
  int64_t map_step = 0, right = 0, below = 0;
};

/// Finishes one output's channels [first, last); first is even.
using Finish = void (*)(const PairsEnd& end, int64_t first, int64_t last, int64_t output, const OutputSums& sums);

/// Stores outputs as pairs. Copies everything that the loop rereads into locals first: the compiler must assume that
/// storing pairs may change it.
template <int kWindow, Sums kSums, End kEnd, bool kSplit>
void finish_pairs(const PairsEnd& end, int64_t first, int64_t last, int64_t output, const OutputSums& sums) {
  const Floats d;
  const Activation activation = end.activation;
  const int64_t low_at = end.low_at, map_step = sums.map_step, right = sums.right, below = sums.below;
  const float* const bias = end.bias;
  std::byte* const pairs = end.pairs + output * end.pairs_step + first / 2 * kPairBytes;
  for (int64_t part = 0; part < kRowFloats; part += static_cast<int64_t>(hn::Lanes(d))) {
    const float* from = sums.first + part;
    std::byte* to = pairs + part * 4;
    int64_t map = first;
    for (; map + 1 < last; map += 2, from += 2 * map_step, to += kPairBytes) {
      const V even = ended<kWindow, kSums, kEnd>(activation, bias[map], from, right, below);
      const V odd = ended<kWindow, kSums, kEnd>(activation, bias[map + 1], from + map_step, right, below);
      store_pairs<kSplit>(even, odd, to, low_at);
    }
    if (map == last) continue;
    store_pairs<kSplit>(ended<kWindow, kSums, kEnd>(activation, bias[map], from, right, below), hn::Zero(d), to,
                        low_at);
  }
}

template <int kWindow, Sums kSums, End kEnd>
void finish_floats(const PairsEnd& end, int64_t first, int64_t last, int64_t output, const OutputSums& sums) {
  const Floats d;
  for (int64_t part = 0; part < kRowFloats; part += static_cast<int64_t>(hn::Lanes(d))) {
    const float* from = sums.first + part;
    float* to = end.floats + first * end.map_step + output * end.floats_step + part;
    for (int64_t map = first; map < last; ++map, from += sums.map_step, to += end.map_step) {
      hn::Store(ended<kWindow, kSums, kEnd>(end.activation, end.bias[map], from, sums.right, sums.below), d, to);
    }
  }
}

/// Returns the function that finishes outputs according to `end`, each the maximum of kWindow sums.
template <int kWindow, Sums kSums>
Finish finish_of(const PairsEnd& end) {
  const bool is_tanh = end.activation.kind == ActivationKind::tanh;
  if (end.pairs == nullptr) {
    return is_tanh ? finish_floats<kWindow, kSums, End::tanh> : finish_floats<kWindow, kSums, End::any>;
  }
  if (end.low_at != 0) {
    return is_tanh ? finish_pairs<kWindow, kSums, End::tanh, true> : finish_pairs<kWindow, kSums, End::any, true>;
  }
  return is_tanh ? finish_pairs<kWindow, kSums, End::short_tanh, false> : finish_pairs<kWindow, kSums, End::any, false>;
}

/// Finishes outputs of channels [first, last), each in one go, by a function chosen at run time.
class EndingOfAny {
 public:
  EndingOfAny(const PairsEnd& end, bool pooled, bool finite, int64_t first, int64_t last, const OutputSums& sums)
      : end_(end),
        finish_(!pooled  ? finish_of<1, Sums::any>(end)
                : finite ? finish_of<4, Sums::finite>(end)
                         : finish_of<4, Sums::any>(end)),
        first_(first),
        last_(last),
        sums_(sums) {}

  void begin(int64_t output, const float* sums) {
    output_ = output;
    sums_.first = sums;
  }
  bool has_more() const { return sums_.first != nullptr; }
  void end_some() {
    finish_(end_, first_, last_, output_, sums_);
    sums_.first = nullptr;
  }

 private:
  const PairsEnd& end_;
  Finish finish_;
  int64_t first_, last_;
  OutputSums sums_;
  int64_t output_ = 0;
};

/// Pooled tanh, with which most networks begin: without a call, and a pair of channels at a time, to fit between tiles.
template <End kEnd, bool kSplit>
class EndingOfPooledTanh {
 public:
  static bool ends(const PairConvolution& job) {
    return job.pooled && job.finite && job.end.pairs != nullptr && (job.end.low_at != 0) == kSplit &&
           job.end.activation.kind == ActivationKind::tanh && job.end.maps % 2 == 0;
  }

  EndingOfPooledTanh(const PairsEnd& end, bool, bool, int64_t first, int64_t last, const OutputSums& sums)
      : bias_(end.bias + first),
        bias_end_(end.bias + last),
        next_bias_(bias_end_),
        pairs_(end.pairs + first / 2 * kPairBytes),
        pairs_step_(end.pairs_step),
        low_at_(end.low_at),
        sums_(sums) {}

  HWY_INLINE void begin(int64_t output, const float* sums) {
    next_bias_ = bias_;
    sums_.first = sums;
    to_ = pairs_ + output * pairs_step_;
  }
  HWY_INLINE bool has_more() const { return next_bias_ != bias_end_; }
  HWY_INLINE void end_some() {
    const Floats d;
    for (int64_t part = 0; part < kRowFloats; part += static_cast<int64_t>(hn::Lanes(d))) {
      const float *even = sums_.first + part, *odd = even + sums_.map_step;
      store_pairs<kSplit>(ended<4, Sums::finite, kEnd>({}, next_bias_[0], even, sums_.right, sums_.below),
                          ended<4, Sums::finite, kEnd>({}, next_bias_[1], odd, sums_.right, sums_.below),
                          to_ + part * 4, low_at_);
    }
    next_bias_ += 2;
    sums_.first += 2 * sums_.map_step;
    to_ += kPairBytes;
  }

 private:
  const float *bias_, *bias_end_, *next_bias_;
  std::byte* pairs_;
  int64_t pairs_step_, low_at_;
  OutputSums sums_;  ///< of the next pair
  std::byte* to_ = nullptr;
};

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
