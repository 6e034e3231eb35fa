#pragma once

// TMA (compute capability 9.0) for nhwc float16: descriptors and copies. Rows of 128, 64 or 32 bytes
// are swizzled in shared memory, so that wgmma and stmatrix have no bank conflicts.

#ifdef __CUDACC__

#include <array>

#include "convlab/device/cluster.cuh"
#include "convlab/device/early_launch.cuh"
#include "convlab/kernels/cuda/dense/dense_hopper.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_conv.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

template <class Function>
Function* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found), name);
  if (found != cudaDriverEntryPointSuccess) throw unavailable("the driver does not export {}; update the driver", name);
  return reinterpret_cast<Function*>(function);
}

constexpr CUtensorMapSwizzle swizzle_of(int row_bytes) {
  return row_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : row_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                           : CU_TENSOR_MAP_SWIZZLE_32B;
}

/// TMA data types. For TF32 elements, TMA rounds floats to nearest.
template <class Element>
constexpr CUtensorMapDataType kCopiedType =
    kIsHalf<Element> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
template <class Terms>
constexpr CUtensorMapDataType kTermType =
    Terms::kSplit || kIsHalf<typename Terms::Element> ? kCopiedType<typename Terms::Element>
                                                      : CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;

/// Returns the descriptor of a matrix that is copied in boxes of `box_columns` (128, 64 or 32 bytes) by `box_rows`.
/// `step`: elements from one row to the next.
template <class Element>
CUtensorMap describe_rows(CUtensorMapDataType type, const Element* data, int64_t rows, int64_t columns, int64_t step,
                          int box_columns, int box_rows) {
  static const auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(step) * sizeof(Element)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, type, 2, const_cast<Element*>(data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             swizzle_of(box_columns * static_cast<int>(sizeof(Element))), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return map;
  throw unavailable("CUDA error while encoding a TMA descriptor for a {} x {} matrix: {}", rows, columns,
                    static_cast<int>(result));
}

/// The corners, {column, row}, of the box of pixels that a filter's first tap visits (im2col bounding box). `last` is
/// relative to the image's last pixel.
struct PixelCorners {
  std::array<int, 2> first, last;

  explicit PixelCorners(const ConvShape& shape)
      : first{-shape.pad_left, -shape.pad_top},
        last{(shape.q - 1) * shape.stride_w - shape.pad_left - (shape.w - 1),
             (shape.p - 1) * shape.stride_h - shape.pad_top - (shape.h - 1)} {}

  bool fit() const {
    const auto fits = [](int corner) { return corner >= -128 && corner <= 127; };
    return fits(first[0]) && fits(first[1]) && fits(last[0]) && fits(last[1]);
  }
};

/// Images for TMA descriptors: the sizes of channels, columns, rows and images, and the strides in bytes of the last
/// three.
template <class Element>
struct DescribedImages {
  std::array<cuuint64_t, 4> sizes;
  std::array<cuuint64_t, 3> strides;

  explicit DescribedImages(const PixelConvOf<Element>& conv) {
    const ConvShape& shape = conv.shape;
    const auto size = [](int64_t value) { return static_cast<cuuint64_t>(value); };
    const int64_t pixel = conv.x_step * static_cast<int64_t>(sizeof(Element)), row = shape.w * pixel;
    sizes = {size(shape.channels), size(shape.w), size(shape.h), size(shape.n)};
    strides = {size(pixel), size(row), size(shape.h * row)};
  }
  void check(CUresult result) const {
    if (result == CUDA_SUCCESS) return;
    throw unavailable("CUDA error while encoding a TMA descriptor for {} x {} x {} images: {}", sizes[2], sizes[1],
                      sizes[0], static_cast<int>(result));
  }
};

/// Returns the im2col descriptor of the images. A copy loads `channels` channels of `pixels` consecutive pixels that a
/// filter tap visits.
template <class Element>
CUtensorMap describe_pixels(CUtensorMapDataType type, const PixelConvOf<Element>& conv, int channels, int pixels) {
  static const auto encode = driver_function<decltype(cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  const ConvShape& shape = conv.shape;
  const DescribedImages<Element> images(conv);
  const cuuint32_t steps[] = {1, static_cast<cuuint32_t>(shape.stride_w), static_cast<cuuint32_t>(shape.stride_h), 1};
  const PixelCorners corners(shape);
  CUtensorMap map;
  images.check(encode(&map, type, 4, const_cast<Element*>(conv.x), images.sizes.data(), images.strides.data(),
                      corners.first.data(), corners.last.data(), static_cast<cuuint32_t>(channels),
                      static_cast<cuuint32_t>(pixels), steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                      swizzle_of(channels * static_cast<int>(sizeof(Element))), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Returns true in one lane of a converged warp, which issues the copies for all. If the whole warp loops, the compiler
/// knows which values are warp-uniform, and copies need no loops over lanes.
inline __device__ bool elected() {
  uint32_t is;
  asm volatile("{.reg .pred one; elect.sync _|one, 0xffffffff; selp.u32 %0, 1, 0, one;}" : "=r"(is));
  return is != 0;
}

/// Copies a box of a matrix from (column, row) on. Elements outside the matrix become zero.
inline __device__ void fetch_rows(SharedAddress to, const CUtensorMap& map, int column, int row, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          to),
      "l"(&map), "r"(to_shared(barrier)), "r"(column), "r"(row)
      : "memory");
}

/// Copies channels of the pixels that a filter tap visits for consecutive outputs. The first tap visits pixel (top,
/// left) of `image` for the first of these. `down`, `right`: offset of this tap from the first tap.
inline __device__ void fetch_pixels(SharedAddress to, const CUtensorMap& map, int channel, int left, int top, int image,
                                    int right, int down, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};" ::"r"(to),
      "l"(&map), "r"(to_shared(barrier)), "r"(channel), "r"(left), "r"(top), "r"(image),
      "h"(static_cast<uint16_t>(right)), "h"(static_cast<uint16_t>(down))
      : "memory");
}

/// Stores a box of a matrix. Elements outside the matrix are skipped. Each store is its own bulk group.
inline __device__ void store_rows(const CUtensorMap& map, int column, int row, SharedAddress from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];\n"
      "cp.async.bulk.commit_group;" ::"l"(&map),
      "r"(from), "r"(column), "r"(row)
      : "memory");
}

/// Waits until all stores of this thread but the last kLeft have read their shared memory.
template <int kLeft>
__device__ void await_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

/// Prefetches this block's share of the range to L2.
inline __device__ void prefetch_share(const PrefetchHint& prefetch) {
  constexpr int64_t kPiece = 8192;
  for (int64_t at = blockIdx.x * kPiece; at < prefetch.bytes; at += gridDim.x * kPiece) {
    const auto bytes = static_cast<uint32_t>(prefetch.bytes - at < kPiece ? prefetch.bytes - at : kPiece) / 16 * 16;
    if (bytes > 0) prefetch_bulk(static_cast<const std::byte*>(prefetch.from) + at, bytes);
  }
}

inline __device__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
