#pragma once

#include "convlab/kernels/cuda/deep_layer/deep_layer.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The producers of deep_layer.cuh: how a task's input is staged in a buffer. An input class has
//   fetch(task)            unless kCopies: starts to prefetch the pixels
//   await()                unless kCopies, on GPUs: waits until they have arrived
//   begin(task, buffer)    stages the task's pixels
//   finish(task, buffer)   after all producers have finished begin(); returns information for the consumers
//   kCopies                whether begin() uses copy_async, so that the data may arrive later
// plain_input.cuh has the other input class.

/// Information about a staged task for the consumers.
struct Staged {
  float unscale = 1;           ///< factor from sums to results of the convolution
  bool by_definition = false;  ///< the values are outside fp16 range: nothing is staged
};

/// Iterates over the pixels of a task, row by row with padding. A thread visits every kThreads-th.
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

  /// Returns the iteration from the first pixel of a task on.
  __device__ PixelWalk of(const Task& task, int filter_rows) const {
    PixelWalk walk = *this;
    walk.h_ += task.first_row;
    walk.left_ += (task.rows + filter_rows - 1) * width_;
    return walk;
  }

  __device__ bool done() const { return left_ <= 0; }
  __device__ bool exists() const {  ///< whether it is in the image
    return static_cast<unsigned>(h_) < static_cast<unsigned>(layer_.h) &&
           static_cast<unsigned>(w_) < static_cast<unsigned>(layer_.w);
  }
  __device__ int pixel() const { return h_ * layer_.w + w_; }
  __device__ int slot() const { return slot_; }  ///< in bytes
  /// Returns whether the slot to the left has this pixel as its neighbor; the first pixel of a row has no such slot.
  __device__ bool is_neighbor() const { return w_ + layer_.pad_left > 0 && layer_.s > 1; }

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

/// Images in nchw8c float16, copied without change, except for the slots of neighbors.
template <int kThreads>
class BlocksInput {
 public:
  static constexpr bool kCopies = true;

  __device__ BlocksInput(const DeepLayer& layer, const void* x, int thread, void*, SharedAddress, uint64_t*)
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
      if (!layer_.neighbors) continue;
      const uint2* half = reinterpret_cast<const uint2*>(image + full_planes * area * 16) + pixel;
      copy_async(slot, half, exists);
      if (at.is_neighbor()) copy_async(slot - 8, half, exists);
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

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
