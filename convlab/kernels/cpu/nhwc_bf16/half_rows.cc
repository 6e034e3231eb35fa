// Converts rows of fp32 and uint8 pixels to bf16, and back.

#include "convlab/kernels/cpu/nhwc_bf16/half_rows.h"

#include <algorithm>

#include "convlab/base/bf16.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_bf16/half_rows.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nhwc_bf16/half_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using Row = hn::CappedTag<float, 16>;

void row_to_halves(const float* from, int64_t count, uint16_t* to) {
  const Row d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) store_halves(d, hn::LoadU(d, from + i), to + i);
  for (; i < count; ++i) to[i] = to_bf16(from[i]);
}

void row_to_floats(const uint16_t* from, int64_t count, float* to) {
  const Row d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(load_halves(d, from + i), d, to + i);
  for (; i < count; ++i) to[i] = from_bf16(from[i]);
}

/// Converts pixels of up to four planes to nhwc with four channels; missing channels are zero.
void few_maps_to_pixels(const float* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Row d;
  const hn::RebindToUnsigned<Row> bits;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto upper = hn::Set(bits, 0xffff0000u);
  const auto channel = [&](int64_t c, int64_t at) HWY_ATTR {
    return c < channels ? rounded_to_half(d, hn::LoadU(d, from + c * plane_step + at)) : hn::Zero(bits);
  };
  for (; i + lanes <= count; i += lanes) {
    const auto first = hn::Or(hn::ShiftRight<16>(channel(0, i)), hn::And(channel(1, i), upper));
    const auto second = hn::Or(hn::ShiftRight<16>(channel(2, i)), hn::And(channel(3, i), upper));
    hn::StoreInterleaved2(first, second, bits, reinterpret_cast<uint32_t*>(to + 4 * i));
  }
#endif
  for (; i < count; ++i) {
    for (int64_t c = 0; c < 4; ++c) to[4 * i + c] = c < channels ? to_bf16(from[c * plane_step + i]) : uint16_t{0};
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(row_to_halves);
HWY_EXPORT(row_to_floats);
HWY_EXPORT(few_maps_to_pixels);

constexpr int64_t kPixels = 64;  // at a time: the pixels being written stay in L1

template <class Pixel>
void interleave(const Pixel* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to, int64_t to_step,
                int64_t to_channels) {
  uint16_t row[kPixels];
  for (int64_t first = 0; first < count; first += kPixels) {
    const int64_t pixels = std::min(kPixels, count - first);
    uint16_t* const pixel = to + first * to_step;
    for (int64_t c = 0; c < to_channels; ++c) {
      const Pixel* const map = from + c * plane_step + first;
      if (c >= channels) {
        std::fill_n(row, pixels, uint16_t{0});
      } else if constexpr (sizeof(Pixel) == 1) {
        for (int64_t i = 0; i < pixels; ++i) row[i] = to_bf16(static_cast<float>(map[i]));
      } else {
        floats_to_halves(map, pixels, row);
      }
      for (int64_t i = 0; i < pixels; ++i) pixel[i * to_step + c] = row[i];
    }
  }
}

}  // namespace

void floats_to_halves(const float* from, int64_t count, uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(row_to_halves)(from, count, to);
}

void halves_to_floats(const uint16_t* from, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(row_to_floats)(from, count, to);
}

void maps_to_pixels(const float* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to,
                    int64_t to_step, int64_t to_channels) {
  if (to_step == 4 && to_channels == 4) {
    return HWY_DYNAMIC_DISPATCH(few_maps_to_pixels)(from, plane_step, channels, count, to);
  }
  interleave(from, plane_step, channels, count, to, to_step, to_channels);
}

void maps_to_pixels(const uint8_t* from, int64_t plane_step, int64_t channels, int64_t count, uint16_t* to,
                    int64_t to_step, int64_t to_channels) {
  interleave(from, plane_step, channels, count, to, to_step, to_channels);
}

void pixels_to_maps(const uint16_t* from, int64_t from_step, int64_t channels, int64_t count, float* to,
                    int64_t plane_step) {
  for (int64_t first = 0; first < count; first += kPixels) {
    const int64_t pixels = std::min(kPixels, count - first);
    const uint16_t* const pixel = from + first * from_step;
    for (int64_t c = 0; c < channels; ++c) {
      float* const map = to + c * plane_step + first;
      for (int64_t i = 0; i < pixels; ++i) map[i] = from_bf16(pixel[i * from_step + c]);
    }
  }
}

}  // namespace convlab
#endif  // HWY_ONCE
