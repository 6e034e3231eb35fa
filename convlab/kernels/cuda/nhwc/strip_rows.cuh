#pragma once

// Buffers for prefetched input rows of depthwise_strips.cuh, in registers or shared memory. Each thread has its own.

#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

inline constexpr int kStripThreads = 128;

/// Some pairs of adjacent channels of a pixel.
template <class Element, int kPairs>
struct alignas(kPairs * sizeof(PixelPair<Element>)) PixelPart {
  PixelPair<Element> pairs[kPairs];

  /// Loads through the read-only cache.
  static __device__ PixelPart load(const Element* from) {
    using Bits = std::conditional_t<sizeof(PixelPart) == 4, unsigned, uint2>;
    static_assert(sizeof(PixelPart) == sizeof(Bits));
    union {
      Bits bits;
      PixelPart part;
    } loaded{__ldg(reinterpret_cast<const Bits*>(from))};
    return loaded.part;
  }

  static __device__ PixelPart zero() {
    PixelPart part;
#pragma unroll
    for (PixelPair<Element>& pair : part.pairs) pair = pair_of<Element>(0, 0);
    return part;
  }
};

/// Rows are prefetched to registers while the previous ones are multiplied. All are zero at first.
template <class Part, int kColumns, int kSlots_>
class RowsInRegisters {
 public:
  static constexpr int kSlots = kSlots_, kAhead = kSlots;  ///< a row is loaded when its slot's last row has been read
  static constexpr size_t kSharedBytes = 0;

  __device__ RowsInRegisters() {
#pragma unroll
    for (auto& row : parts_) {
#pragma unroll
      for (Part& part : row) part = Part::zero();
    }
  }

  template <class Element>
  __device__ void fetch(int slot, int column, const Element* from) {
    parts_[slot][column] = Part::load(from);
  }
  __device__ void end_row() {}  ///< all loads of the row have been issued
  __device__ void wait() {}     ///< waits until the next row has arrived
  __device__ Part part(int slot, int column) const { return parts_[slot][column]; }

 private:
  Part parts_[kSlots][kColumns];
};

/// The same in shared memory.
template <class Part, int kColumns, int kSlots_>
class RowsInShared {
 public:
  static constexpr int kSlots = kSlots_, kAhead = kSlots - 1;  ///< a slot is filled when its row has been multiplied
  static constexpr size_t kSharedBytes = sizeof(Part) * kSlots * kColumns * kStripThreads;

  __device__ RowsInShared() : own_(dynamic_shared<Part>() + threadIdx.x), address_(to_shared(own_)) {
#pragma unroll
    for (int i = 0; i < kSlots * kColumns; ++i) own_[i * kStripThreads] = Part::zero();
  }

  template <class Element>
  __device__ void fetch(int slot, int column, const Element* from) {
    copy_async(static_cast<SharedAddress>(address_ + place(slot, column) * sizeof(Part)),
               reinterpret_cast<const Part*>(from), true);
  }
  __device__ void end_row() { __pipeline_commit(); }
  __device__ void wait() { __pipeline_wait_prior(kAhead - 1); }
  __device__ Part part(int slot, int column) const { return own_[place(slot, column)]; }

 private:
  static constexpr __device__ int place(int slot, int column) { return (slot * kColumns + column) * kStripThreads; }

  Part* own_;
  SharedAddress address_;
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
