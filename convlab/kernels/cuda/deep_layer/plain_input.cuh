#pragma once

#include "convlab/kernels/cuda/deep_layer/input.cuh"
#include "convlab/kernels/cuda/deep_layer/range.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// A pixel's channels in global memory. Without the asm the compiler computes each address from scratch.
struct GlobalChannels {
  const float* at;

  __device__ GlobalChannels of_pixel(int pixel) const { return {at + pixel}; }
  __device__ float read() const { return __ldg(at); }
  __device__ void advance(int area) {
    at += area;
#ifdef __CUDACC__
    asm("" : "+l"(at));
#endif
  }
};

/// A pixel's channels in shared memory.
struct SharedChannels {
  SharedAddress at;

  __device__ SharedChannels of_pixel(int pixel) const { return {at + pixel * 4}; }
  __device__ float read() const { return *from_shared<const float>(at); }
  __device__ void advance(int area) { at += area * 4; }
};

/// nchw fp32 images, scaled by a power of two that brings all of the task's values into the range of normal fp16
/// numbers, so that a product has the same bits with any such power. The power is predicted from the previous task. If
/// it does not fit, the task is staged again with the best one; if none fits, nothing is staged.
template <int kThreads>
class PlainInput {
 public:
  static constexpr bool kCopies = false;
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kScratchWords = 4 * kWarps;  ///< two ranges per warp, used alternately

  /// `raw` is a buffer for a raw image, with barrier `fetched`. If the layer has none, pixels are loaded when they are
  /// staged.
  __device__ PlainInput(const DeepLayer& layer, const void* x, int thread, void* scratch, SharedAddress raw,
                        uint64_t* fetched)
      : layer_(layer),
        images_(static_cast<const float*>(x)),
        raw_(layer.raw_bytes > 0 && reinterpret_cast<uintptr_t>(x) % 16 == 0 ? raw : 0),
        fetched_(fetched),
        thread_(thread),
        walk_(layer, thread),
        ranges_(static_cast<uint2*>(scratch)) {}

  /// Starts to copy the pixels for begin(), or prefetches them to L2. All producers must have synchronized since the
  /// last begin(), and since finish() if again() holds after it.
  template <int kR>
  __device__ void fetch(const Task& task) {
    if (raw_ == 0) return prefetch<kR>(task);
    const float* const from = image(task);
    if (kBulkCopies) {
      if (thread_ != 0) return;
      barrier_arrive_expecting(fetched_, layer_.raw_bytes);
      fetch_bulk(raw_, from, layer_.raw_bytes, fetched_);
    } else {
      for (int i = thread_; i < layer_.raw_bytes / 16; i += kThreads) {
        copy_async(raw_ + i * 16, reinterpret_cast<const uint4*>(from) + i, true);
      }
    }
  }

#ifdef __CUDACC__
  /// Waits until the fetched pixels have arrived.
  __device__ void await() {
    if (raw_ == 0) return;
    if (kBulkCopies) {
      barrier_wait(fetched_, fetched_parity_);
      fetched_parity_ ^= 1;
    } else {
      wait_for_copies();
      barrier_of_some(1, kThreads);
    }
  }
#endif

  /// Returns whether finish() has read the pixels again.
  __device__ bool again() const { return again_; }

  template <int kR>
  __device__ void begin(const Task& task, SharedAddress buffer) {
    const Range range = stage<kR>(task, buffer, power_of_two(exponent_));
    turn_ ^= kWarps;
    const uint2 of_warp = range.of_warp();
    if (thread_ % 32 == 0) ranges_[turn_ + thread_ / 32] = of_warp;
  }

  template <int kR>
  __device__ Staged finish(const Task& task, SharedAddress buffer) {
    const Range range = Range::joined(ranges_ + turn_, kWarps);
    again_ = false;
    if (range.largest == 0) return {};
    Staged staged{.unscale = power_of_two(-exponent_)};
    if (!range.fits(exponent_)) {
      const int best = 14 - range.top();
      if (!range.fits(best)) return {.by_definition = true};
      stage<kR>(task, buffer, power_of_two(best));
      again_ = true;
      staged.unscale = power_of_two(-best);
    }
    constexpr int kRoom = 3;  // powers of two, for larger values in the next task
    exponent_ = max(-60, min(60, 14 - kRoom - range.top()));
    return staged;
  }

 private:
  __device__ const float* image(const Task& task) const {
    return images_ + static_cast<int64_t>(task.image) * layer_.c * layer_.h * layer_.w;
  }

  template <int kR>
  __device__ void prefetch(const Task& task) {
    const int first = max(0, task.first_row - layer_.pad_top);
    const int rows = min(layer_.h, task.first_row - layer_.pad_top + task.rows + kR - 1) - first;
    const float* const image = this->image(task);
    constexpr int kLine = 32;  // floats
    if (rows == layer_.h) {
      const int lines = layer_.c * layer_.h * layer_.w / kLine;
      for (int line = thread_; line < lines; line += kThreads) prefetch_line(image + line * kLine);
    } else {
      for (int channel = thread_; channel < layer_.c; channel += kThreads) {
        const float* from = image + (channel * layer_.h + first) * layer_.w;
        for (int i = 0; i < rows * layer_.w; i += kLine) prefetch_line(from + i);
      }
    }
  }

  static constexpr int kPixels = 5;  ///< that a thread stages at a time, so that many loads are in flight

  /// Offsets of these pixels.
  struct Pixels {
    SharedAddress slot[kPixels];  ///< in a plane; ~0 for none
    int from[kPixels];            ///< in a channel; -1 for padding
    bool is_neighbor[kPixels];
  };

  template <int kR>
  __device__ Range stage(const Task& task, SharedAddress buffer, float scale) {
    Range range;
    for (PixelWalk<kThreads> at = walk_.of(task, kR); !at.done();) {
      Pixels pixels;
#pragma unroll
      for (int i = 0; i < kPixels; ++i, at.next()) {
        pixels.slot[i] = at.done() ? ~0u : at.slot();
        pixels.from[i] = !at.done() && at.exists() ? at.pixel() : -1;
        pixels.is_neighbor[i] = at.is_neighbor();
      }
      for (int plane = 0; plane < layer_.planes; ++plane) {
        const SharedAddress to = buffer + plane * layer_.plane_bytes();
        // Channels left; floats before them.
        const int channels = layer_.c - plane * 8, from = plane * 8 * layer_.h * layer_.w;
        if (raw_ != 0) {
          const SharedChannels of_plane{raw_ + from * 4};
          if (channels >= 8) {
            stage_channels<8, true>(pixels, of_plane, channels, to, scale, range);
          } else {
            stage_channels<4, true>(pixels, of_plane, channels, to, scale, range);
          }
          continue;
        }
        const GlobalChannels of_plane{image(task) + from};
        if (channels >= 8) {
          stage_channels<8, true>(pixels, of_plane, channels, to, scale, range);
        } else if (channels > 4) {
          stage_channels<8, false>(pixels, of_plane, channels, to, scale, range);
        } else {
          stage_channels<4, false>(pixels, of_plane, channels, to, scale, range);
        }
      }
    }
    return range;
  }

  /// Stages kChannels channels of some pixels. Channels that do not exist repeat the last: their filters are zero, and
  /// only finite values are ever multiplied.
  template <int kChannels, bool kAllExist, class Channels>
  __device__ void stage_channels(const Pixels& pixels, const Channels& of_plane, int channels, SharedAddress to,
                                 float scale, Range& range) {
    const int area = layer_.h * layer_.w;
    float value[kPixels][kChannels];
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      const bool exists = pixels.from[i] >= 0;
      Channels from = of_plane.of_pixel(exists ? pixels.from[i] : 0);
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        value[i][c] = exists ? from.read() : 0;
        if (c + 1 < kChannels) from.advance(kAllExist || c + 1 < channels ? area : 0);
      }
    }
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      if (pixels.slot[i] == ~0u) break;
      uint32_t words[kChannels / 2];
#pragma unroll
      for (int c = 0; c < kChannels; c += 2) {
        range.note(value[i][c]);
        range.note(value[i][c + 1]);
        words[c / 2] = half_pair(value[i][c] * scale, value[i][c + 1] * scale);
      }
      const SharedAddress slot = to + pixels.slot[i];
      if constexpr (kChannels == 8) {
        *from_shared<uint4>(slot) = {words[0], words[1], words[2], words[3]};
      } else {
        *from_shared<uint2>(slot) = {words[0], words[1]};
        if (pixels.is_neighbor[i]) *from_shared<uint2>(slot - 8) = {words[0], words[1]};
      }
    }
  }

  const DeepLayer& layer_;
  const float* images_;
  SharedAddress raw_;  ///< or 0
  uint64_t* fetched_;
  uint32_t fetched_parity_ = 0;
  int thread_;
  PixelWalk<kThreads> walk_;
  uint2* ranges_;
  int turn_ = 0, exponent_ = 12;
  bool again_ = false;
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
