// Converts images between nchw and the layouts nchw16n and nchw8c.

#include "convlab/kernels/cpu/simd/lane_order.h"

#include <algorithm>

#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/simd/lane_order.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, kImageLanes>;

#if HWY_TARGET != HWY_SCALAR  // whose vectors have one element

constexpr size_t kSide = kImageLanes;

/// Transposes 16 pixels of 16 images: four times, each row is interleaved with the row half the rows further.
void transpose_bytes(const uint8_t* const* images, int64_t at, uint8_t* to) {
  const hn::FixedTag<uint8_t, kSide> bytes;
  hn::Vec<decltype(bytes)> rows[kSide], next[kSide];
#pragma GCC unroll 16
  for (size_t i = 0; i < kSide; ++i) rows[i] = hn::LoadU(bytes, images[i] + at);
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
#pragma GCC unroll 8
    for (size_t i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(bytes, rows[i], rows[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(bytes, rows[i], rows[i + kSide / 2]);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kSide; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kSide; ++i) hn::StoreU(rows[i], bytes, to + i * kSide);
}

void transpose_bytes(const uint8_t* const* images, int64_t at, float* to) {
  HWY_ALIGN uint8_t transposed[kSide * kSide];
  transpose_bytes(images, at, transposed);
  const F d;
  const hn::Rebind<uint8_t, F> part;
  const hn::Rebind<int32_t, F> integers;
  for (size_t i = 0; i < kSide * kSide; i += hn::Lanes(d)) {
    hn::Store(hn::ConvertTo(d, hn::PromoteTo(integers, hn::Load(part, transposed + i))), d, to + i);
  }
}

using Four = hn::FixedTag<float, 4>;

/// Transposes in place.
HWY_INLINE void transpose_4x4(hn::Vec<Four> (&rows)[4]) {
  const Four d;
  for (int round = 0; round < 2; ++round) {
    const auto a = hn::InterleaveLower(d, rows[0], rows[2]), b = hn::InterleaveUpper(d, rows[0], rows[2]);
    const auto c = hn::InterleaveLower(d, rows[1], rows[3]), e = hn::InterleaveUpper(d, rows[1], rows[3]);
    rows[0] = a, rows[1] = b, rows[2] = c, rows[3] = e;
  }
}

#endif

template <class To>
HWY_INLINE void bytes_to_pixels(const uint8_t* const* images, int64_t count, To* to) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  // The last 16 pixels may overlap those already converted, which are converted again.
  for (; j < count && count >= kImageLanes; j += kImageLanes) {
    const int64_t at = std::min(j, count - kImageLanes);
    transpose_bytes(images, at, to + at * kImageLanes);
  }
#endif
  for (; j < count; ++j) {
    for (int64_t i = 0; i < kImageLanes; ++i) to[j * kImageLanes + i] = images[i][j];
  }
}

void bytes_to_floats(const uint8_t* const* images, int64_t count, float* to) { bytes_to_pixels(images, count, to); }
void bytes_to_bytes(const uint8_t* const* images, int64_t count, uint8_t* to) { bytes_to_pixels(images, count, to); }

/// Floats of kLanes images or channels.
template <int64_t kLanes>
void floats_to_pixels(const float* const* images, int64_t count, float* to) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const Four d;
  for (; j + 4 <= count; j += 4) {
    for (int64_t i = 0; i < kLanes; i += 4) {
      hn::Vec<Four> rows[4];
      for (int k = 0; k < 4; ++k) rows[k] = hn::LoadU(d, images[i + k] + j);
      transpose_4x4(rows);
      for (int k = 0; k < 4; ++k) hn::Store(rows[k], d, to + (j + k) * kLanes + i);
    }
  }
#endif
  for (; j < count; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) to[j * kLanes + i] = images[i][j];
  }
}

template <int64_t kLanes>
void pixels_to_floats(const float* from, int64_t count, float* const* images, int64_t wanted) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const Four d;
  for (; j + 4 <= count; j += 4) {
    for (int64_t i = 0; i < wanted; i += 4) {
      hn::Vec<Four> rows[4];
      for (int k = 0; k < 4; ++k) rows[k] = hn::Load(d, from + (j + k) * kLanes + i);
      transpose_4x4(rows);
      for (int64_t k = 0; k < std::min<int64_t>(4, wanted - i); ++k) hn::StoreU(rows[k], d, images[i + k] + j);
    }
  }
#endif
  for (; j < count; ++j) {
    for (int64_t i = 0; i < wanted; ++i) images[i][j] = from[j * kLanes + i];
  }
}

void floats_to_images(const float* const* images, int64_t count, float* to) {
  floats_to_pixels<kImageLanes>(images, count, to);
}
void floats_to_channels(const float* const* maps, int64_t count, float* to) {
  floats_to_pixels<kChannelLanes>(maps, count, to);
}
void images_to_floats(const float* from, int64_t count, float* const* images, int64_t wanted) {
  pixels_to_floats<kImageLanes>(from, count, images, wanted);
}
void channels_to_floats(const float* from, int64_t count, float* const* maps) {
  pixels_to_floats<kChannelLanes>(from, count, maps, kChannelLanes);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(bytes_to_floats);
HWY_EXPORT(bytes_to_bytes);
HWY_EXPORT(floats_to_images);
HWY_EXPORT(floats_to_channels);
HWY_EXPORT(images_to_floats);
HWY_EXPORT(channels_to_floats);

}  // namespace

void to_lanes(const uint8_t* const* images, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(bytes_to_floats)(images, count, to);
}

void to_lanes(const uint8_t* const* images, int64_t count, uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(bytes_to_bytes)(images, count, to);
}

void to_lanes(const float* const* images, int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(floats_to_images)(images, count, to);
}

void from_lanes(const float* from, int64_t count, float* to, int64_t image_step, int64_t wanted) {
  float* images[kImageLanes];
  wanted = std::min(wanted, kImageLanes);
  for (int64_t i = 0; i < wanted; ++i) images[i] = to + i * image_step;
  HWY_DYNAMIC_DISPATCH(images_to_floats)(from, count, images, wanted);
}

void maps_to_lanes(const float* maps, int64_t map_step, int64_t count, float* to) {
  const float* each[kChannelLanes];
  for (int64_t i = 0; i < kChannelLanes; ++i) each[i] = maps + i * map_step;
  HWY_DYNAMIC_DISPATCH(floats_to_channels)(each, count, to);
}

void lanes_to_maps(const float* from, int64_t count, float* maps, int64_t map_step) {
  float* each[kChannelLanes];
  for (int64_t i = 0; i < kChannelLanes; ++i) each[i] = maps + i * map_step;
  HWY_DYNAMIC_DISPATCH(channels_to_floats)(from, count, each);
}

}  // namespace convlab
#endif  // HWY_ONCE
