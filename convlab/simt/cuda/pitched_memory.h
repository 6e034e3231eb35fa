#pragma once

#include <cstddef>

/// Sizes and positions in two and three dimensions, and memory whose rows have a pitch.
namespace convlab::simt::cuda {

/// Width in elements for arrays, in bytes for linear memory; height in rows; depth in slices or layers.
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
/// xsize: the width of the rows in bytes; ysize: the rows of a slice.
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};

constexpr cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
constexpr cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
constexpr cudaPitchedPtr make_cudaPitchedPtr(void* memory, size_t pitch, size_t width, size_t height) {
  return {memory, pitch, width, height};
}

}  // namespace convlab::simt::cuda
