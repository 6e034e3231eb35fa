#pragma once

#include "convlab/kernels/conv/deep_layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The producers of deep_layer.cuh: how a task's input gets into a buffer. An input has
//   begin(task, buffer)    stages the task's pixels
//   finish(task, buffer)   after all producers have come to the end of begin; gives what consumers must know
//   kCopies                staged with copy_async, so that the data may come later

/// What consumers must know of a staged task.
struct Staged {
  float unscale = 1;           ///< sums times this are the convolution
  bool by_definition = false;  ///< the operands have not the range of the values: nothing is staged
};

/// The pixels of a task, row by row with padding, one thread taking every kThreads-th.
template <int kThreads>
class PixelWalk {
 public:
  __device__ PixelWalk(const DeepLayer& layer, int thread)
      : layer_(layer),
        width_(layer.q + layer.s - 1),
        left_(-thread),
        step_h_(kThreads / width_),
        step_w_(kThreads - step_h_ * width_) {
    const int row = thread / width_, column = thread - row * width_;
    h_ = row - layer.pad_top;
    w_ = column - layer.pad_left;
    slot_ = (row * layer.pitch + column) * 16;
  }

  /// From the first pixel on.
  __device__ PixelWalk of(const Task& task, int filter_rows) const {
    PixelWalk walk = *this;
    walk.h_ += task.first_row;
    walk.left_ += (task.rows + filter_rows - 1) * width_;
    return walk;
  }

  __device__ bool done() const { return left_ <= 0; }
  __device__ bool exists() const {  ///< in the image
    return static_cast<unsigned>(h_) < static_cast<unsigned>(layer_.h) &&
           static_cast<unsigned>(w_) < static_cast<unsigned>(layer_.w);
  }
  __device__ int pixel() const { return h_ * layer_.w + w_; }
  __device__ int slot() const { return slot_; }  ///< in bytes
  /// The slot to the left has this pixel as its neighbour; the first of a row is nobody's.
  __device__ bool is_neighbour() const { return w_ + layer_.pad_left > 0 && layer_.s > 1; }

  __device__ void next() {
    left_ -= kThreads;
    h_ += step_h_;
    w_ += step_w_;
    slot_ += (step_h_ * layer_.pitch + step_w_) * 16;
    if (w_ + layer_.pad_left < width_) return;
    ++h_;
    w_ -= width_;
    slot_ += (layer_.pitch - width_) * 16;
  }

 private:
  const DeepLayer& layer_;
  int width_, left_, step_h_, step_w_, h_, w_, slot_;
};

/// Images in Layout::channel_blocks, copied as they lie but for the slots of neighbours.
template <int kThreads>
class BlocksInput {
 public:
  static constexpr bool kCopies = true;

  __device__ BlocksInput(const DeepLayer& layer, const void* x, int thread, void*)
      : layer_(layer), images_(static_cast<const char*>(x)), walk_(layer, thread) {
    const int64_t elements = static_cast<int64_t>((layer.c + 3) / 4 * 4) * layer.h * layer.w;
    image_bytes_ = (elements + 63) / 64 * 64 * 2;
  }

  template <int kR>
  __device__ void begin(const Task& task, SharedAddress buffer) {
    const char* image = images_ + task.image * image_bytes_;
    const int area = layer_.h * layer_.w, full_planes = layer_.full_planes();
    for (PixelWalk<kThreads> at = walk_.of(task, kR); !at.done(); at.next()) {
      const bool exists = at.exists();
      const int pixel = exists ? at.pixel() : 0;
      SharedAddress slot = buffer + at.slot();
      const uint4* from = reinterpret_cast<const uint4*>(image) + pixel;
      for (int plane = 0; plane < full_planes; ++plane, from += area, slot += layer_.plane_bytes()) {
        copy_async(slot, from, exists);
      }
      if (!layer_.neighbours) continue;
      const uint2* half = reinterpret_cast<const uint2*>(image + full_planes * area * 16) + pixel;
      copy_async(slot, half, exists);
      if (at.is_neighbour()) copy_async(slot - 8, half, exists);
    }
  }

  template <int kR>
  __device__ Staged finish(const Task&, SharedAddress) {
    return {};
  }

 private:
  const DeepLayer& layer_;
  const char* images_;
  PixelWalk<kThreads> walk_;
  int64_t image_bytes_;
};

/// max(largest, |value|), or NaN where either is.
inline __device__ float larger_magnitude(float largest, float value) {
#ifdef __CUDACC__
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(value)));
  return largest;
#else
  return fabsf(value) <= largest ? largest : fabsf(value);
#endif
}

/// The magnitudes of values that were noted.
struct Range {
  float largest = 0;                ///< NaN if any is
  uint32_t smallest = 0xffffffffu;  ///< of those not zero: bits times two, less one, so that zero comes last

  __device__ void note(float value) {
    largest = larger_magnitude(largest, value);
    smallest = min(smallest, __float_as_uint(value) * 2 - 1);
  }

  /// Of all values that a warp has noted, as bits of `largest`, which are in the order of magnitudes, and `smallest`.
  __device__ uint2 of_warp() const {
    return {__reduce_max_sync(0xffffffffu, __float_as_uint(largest) & 0x7fffffffu),
            __reduce_min_sync(0xffffffffu, smallest)};
  }
  static __device__ Range joined(const uint2* of_warps, int count) {
    uint2 all = of_warps[0];
    for (int i = 1; i < count; ++i) all = {max(all.x, of_warps[i].x), min(all.y, of_warps[i].y)};
    return {__uint_as_float(all.x), all.y};
  }

  /// Powers of two: largest < 2^(top() + 1), smallest >= 2^bottom(). Infinity and NaN have a top of 128.
  __device__ int top() const { return static_cast<int>(__float_as_uint(largest) >> 23) - 127; }
  __device__ int bottom() const { return static_cast<int>((smallest + 1) >> 24) - 127; }

  /// Whether all values times 2^exponent are zero or normal numbers in fp16, and 2^`spare` of room is left below.
  __device__ bool fits(int exponent, int spare = 0) const {
    constexpr int kTop = 14, kBottom = -14, kSubnormal = -127, kMost = 60;
    if (largest == 0) return true;
    return top() + exponent <= kTop && bottom() > kSubnormal && bottom() + exponent >= kBottom + spare &&
           exponent >= -kMost && exponent <= kMost;
  }
};

/// 2^exponent, of a normal number.
inline __device__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<uint32_t>(exponent + 127) << 23);
}

/// Plain fp32 images, times a power of two that brings all of the task's values into the range of fp16's normal numbers:
/// so a product has the same bits whichever power it was. The power is guessed from the task before; where it does not
/// do, the task is staged once more with the best, and where none does, not at all.
template <int kThreads>
class PlainInput {
 public:
  static constexpr bool kCopies = false;
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kScratchWords = 4 * kWarps;  ///< two ranges a warp, used by turns

  __device__ PlainInput(const DeepLayer& layer, const void* x, int thread, void* scratch)
      : layer_(layer),
        images_(static_cast<const float*>(x)),
        thread_(thread),
        walk_(layer, thread),
        ranges_(static_cast<uint2*>(scratch)) {}

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
    if (range.largest == 0) return {};
    Staged staged{.unscale = power_of_two(-exponent_)};
    if (!range.fits(exponent_)) {
      const int best = 14 - range.top();
      if (!range.fits(best)) return {.by_definition = true};
      stage<kR>(task, buffer, power_of_two(best));
      staged.unscale = power_of_two(-best);
    }
    constexpr int kRoom = 3;  // for larger values in the next task
    exponent_ = max(-60, min(60, 14 - kRoom - range.top()));
    return staged;
  }

  /// Asks for what begin will read.
  template <int kR>
  __device__ void prefetch(const Task& task) {
    const int first = max(0, task.first_row - layer_.pad_top);
    const int rows = min(layer_.h, task.first_row - layer_.pad_top + task.rows + kR - 1) - first;
    const float* image = images_ + static_cast<int64_t>(task.image) * layer_.c * layer_.h * layer_.w;
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

 private:
  template <int kR>
  __device__ Range stage(const Task& task, SharedAddress buffer, float scale) {
    const float* image = images_ + static_cast<int64_t>(task.image) * layer_.c * layer_.h * layer_.w;
    Range range;
    for (int plane = 0; plane < layer_.planes; ++plane) {
      const SharedAddress to = buffer + plane * layer_.plane_bytes();
      if (layer_.neighbours && plane + 1 == layer_.planes) {
        stage_plane<kR, 4>(task, image, plane * 8, to, scale, range);
      } else {
        stage_plane<kR, 8>(task, image, plane * 8, to, scale, range);
      }
    }
    return range;
  }

  /// Stages kChannels channels. For channels beyond the last it stages the last: the filters are zero there, and only
  /// finite values are ever multiplied.
  template <int kR, int kChannels>
  __device__ void stage_plane(const Task& task, const float* __restrict__ image, int channel, SharedAddress to,
                              float scale, Range& range) {
    constexpr int kPixels = 3;  // whose loads are all on their way before one is used
    const int area = layer_.h * layer_.w, last = min(kChannels, layer_.c - channel) - 1;
    const float* from = image + channel * area;
    PixelWalk<kThreads> at = walk_.of(task, kR);
    while (!at.done()) {
      float value[kPixels][kChannels];
      SharedAddress slot[kPixels];
      bool is_neighbour[kPixels];
#pragma unroll
      for (int i = 0; i < kPixels; ++i, at.next()) {
        const bool exists = !at.done() && at.exists();
        const float* pixel = from + (exists ? at.pixel() : 0);
        slot[i] = at.done() ? ~0u : at.slot();
        is_neighbour[i] = at.is_neighbour();
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
          value[i][c] = exists ? *pixel : 0;
          if (c < last) pixel += area;
        }
      }
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        if (slot[i] == ~0u) break;
        uint32_t words[kChannels / 2];
#pragma unroll
        for (int c = 0; c < kChannels; c += 2) {
          range.note(value[i][c]);
          range.note(value[i][c + 1]);
          words[c / 2] = half_pair(value[i][c] * scale, value[i][c + 1] * scale);
        }
        if constexpr (kChannels == 8) {
          *from_shared<uint4>(to + slot[i]) = {words[0], words[1], words[2], words[3]};
        } else {
          *from_shared<uint2>(to + slot[i]) = {words[0], words[1]};
          if (is_neighbour[i]) *from_shared<uint2>(to + slot[i] - 8) = {words[0], words[1]};
        }
      }
    }
  }

  const DeepLayer& layer_;
  const float* images_;
  int thread_;
  PixelWalk<kThreads> walk_;
  uint2* ranges_;
  int turn_ = 0, exponent_ = 12;
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
