#pragma once

// Convolutions with few output channels and large images, as in a network's first layers, with filters of 2 or 3 pixels
// a side and stride 1. The implicit GEMM of hopper_conv.cuh copies each pixel once per tap, which L2 bandwidth limits.
// Here a tile's pixels are copied once: a patch of 4 rows of 64 pixels and their halo. For tap (r, s), pixel i of the
// tile reads pixel i + 64 r + s of the patch, so that the wgmma operand starts at a different row for each tap. The
// last pixels of a row are not results.
//
// Products are transposed: the rows of wgmma are 64 output channels, and its columns are the tile's 256 pixels, because
// with few columns tensor cores would wait for operands. Two warpgroups alternate: while one writes its tile, the other
// multiplies.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/hopper_multiply.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_turned.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

constexpr int kPatchColumns = 64, kPatchRows = 4, kPatchMaps = 64, kPatchPixels = kPatchColumns * kPatchRows;
constexpr int kPatchSide = 3;  // maximum filter height and width

/// A block's tiles, for TurnedWriter: one for each of two warpgroups.
template <class Terms>
using PatchTile = HopperTile<Terms, kPatchPixels, kPatchMaps, 1, 2, 0, 2>;

/// A block's shared memory.
template <class Terms>
struct PatchShared {
  static constexpr int kPatches = 3, kFilters = 5;  ///< copied ahead
  static constexpr int kPatch =
      (kPatchRows + kPatchSide - 1) * kPatchColumns * 128 + 1024;  ///< tiles read past the end of their patch
  static constexpr int kFilter = kPatchMaps * 128;                 ///< a slice of a tile's output channels
  static constexpr size_t kBytes = PatchTile<Terms>::kBytes + 1024 + kPatches * kPatch + kFilters * kFilter +
                                   2 * (kPatches + kFilters) * sizeof(uint64_t);
  static_assert(kBytes <= kMostShared);

  PixelShared<PatchTile<Terms>> end;
  unsigned char *patches, *filters;
  uint64_t *patch_full, *patch_empty, *filter_full, *filter_empty;

  __device__ PatchShared() {
    patches = aligned_to_rows(end.parts + 1);
    filters = patches + kPatches * kPatch;
    patch_full = reinterpret_cast<uint64_t*>(filters + kFilters * kFilter);
    patch_empty = patch_full + kPatches;
    filter_full = patch_empty + kPatches;
    filter_empty = filter_full + kFilters;
  }
};

/// Tiling of a convolution. The last tiles of a row and of a column are aligned with the image's end and recompute some
/// results. With 2x2 pooling, no tile contains a part of a window, and an odd last row or column is in none.
struct PatchCut {
  int p, q;     ///< the results' rows and columns
  int columns;  ///< results in a tile's row
  int row_tiles, column_tiles, map_tiles, tiles;
  int slices;  ///< per pixel

  PatchCut(const ConvShape& shape, bool pools, int slice_terms)
      : p(pools ? shape.p / 2 * 2 : shape.p),
        q(pools ? shape.q / 2 * 2 : shape.q),
        columns(std::min(pools ? (kPatchColumns - shape.s + 1) / 2 * 2 : kPatchColumns - shape.s + 1, q)),
        row_tiles(static_cast<int>(ceil_div(p, kPatchRows))),
        column_tiles(static_cast<int>(ceil_div(q, columns))),
        map_tiles(static_cast<int>(ceil_div(shape.k, kPatchMaps))),
        tiles(shape.n * row_tiles * column_tiles * map_tiles),
        slices(shape.channels / slice_terms) {}
};

struct PatchPlace {
  int map, q, p, image;

  __device__ PatchPlace(const PatchCut& cut, int tile) {
    const auto next = [&](int count) {
      const int i = tile % count;
      tile /= count;
      return i;
    };
    map = next(cut.map_tiles) * kPatchMaps;
    q = min(next(cut.column_tiles) * cut.columns, cut.q - cut.columns);
    p = min(next(cut.row_tiles) * kPatchRows, cut.p - kPatchRows);
    image = tile;
  }
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Copies channels of a box of pixels from (left, top) on. Pixels outside the image become zero.
inline __device__ void fetch_patch(SharedAddress to, const CUtensorMap& map, int channel, int left, int top, int image,
                                   uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
      "l"(&map), "r"(to_shared(barrier)), "r"(channel), "r"(left), "r"(top), "r"(image)
      : "memory");
}

template <class Terms>
__device__ void copy_patches(const PatchShared<Terms>& shared, const CUtensorMap& x, const CUtensorMap& w,
                             const ConvShape& shape, const PatchCut& cut) {
  using Shared = PatchShared<Terms>;
  constexpr int kTerms = kSliceTerms<typename Terms::Element>;
  const auto bytes = static_cast<uint32_t>((kPatchRows + shape.r - 1) * kPatchColumns * 128);
  PixelTurn<Shared::kPatches> patch;
  PixelTurn<Shared::kFilters> filter;
  for (int tile = blockIdx.x; tile < cut.tiles; tile += gridDim.x) {
    const PatchPlace place(cut, tile);
    for (int slice = 0; slice < cut.slices; ++slice) {
      uint64_t* const patch_full = shared.patch_full + patch.stage;
      barrier_wait(shared.patch_empty + patch.stage, patch.parity ^ 1);
      if (elected()) {
        barrier_arrive_expecting(patch_full, bytes);
        fetch_patch(to_shared(shared.patches + patch.stage * Shared::kPatch), x, slice * kTerms,
                    place.q - shape.pad_left, place.p - shape.pad_top, place.image, patch_full);
      }
      patch.next();
      for (int tap = 0; tap < shape.r * shape.s; ++tap) {
        uint64_t* const filter_full = shared.filter_full + filter.stage;
        barrier_wait(shared.filter_empty + filter.stage, filter.parity ^ 1);
        if (elected()) {
          barrier_arrive_expecting(filter_full, Shared::kFilter);
          fetch_rows(to_shared(shared.filters + filter.stage * Shared::kFilter), w, (tap * cut.slices + slice) * kTerms,
                     place.map, filter_full);
        }
        filter.next();
      }
    }
  }
}

template <class Terms>
__device__ void multiply_patches(const PatchShared<Terms>& shared, const CUtensorMap& y,
                                 const PixelConvOf<typename Terms::Element>& conv, const PatchCut& cut, int warp) {
  using Shared = PatchShared<Terms>;
  using Tile = PatchTile<Terms>;
  const ConvShape& shape = conv.shape;
  const int taps = shape.r * shape.s, team = warp / 4;
  const TurnedWriter<Tile> writer{shared.end, y, conv, warp};
  PixelTurn<Shared::kPatches> patch;
  PixelTurn<Shared::kFilters> filter;
  patch.skip(team * cut.slices);
  filter.skip(team * cut.slices * taps);
  int turns_parity = team == 0 ? 1 : 0;
  for (int tile = blockIdx.x + team * gridDim.x; tile < cut.tiles; tile += 2 * gridDim.x) {
    float sums[Tile::kBlocks][kPatchMaps / 2];
    auto& all = reinterpret_cast<float(&)[kPatchPixels / 2]>(sums);
    int filter_before = -1, patch_before = -1;
    barrier_wait(shared.end.turns + team, turns_parity);
    turns_parity ^= 1;
    for (int slice = 0; slice < cut.slices; ++slice) {
      barrier_wait(shared.patch_full + patch.stage, patch.parity);
      const SharedAddress pixels = to_shared(shared.patches + patch.stage * Shared::kPatch);
      for (int tap = 0; tap < taps; ++tap) {
        barrier_wait(shared.filter_full + filter.stage, filter.parity);
        const int first = tap / shape.s * kPatchColumns + tap % shape.s;
        const PixelOperand a = pixel_operand<1>(to_shared(shared.filters + filter.stage * Shared::kFilter));
        const PixelOperand b = pixel_operand<1>(pixels + first * 128);
        hold(all);
        fence_multiplications();
#pragma unroll
        for (int step = 0; step < 4; ++step) {
          PixelMultiply<typename Terms::Element, kPatchPixels>::run(all, a.later(step * 2), b.later(step * 2),
                                                                    slice > 0 || tap > 0 || step > 0);
        }
        commit_multiplications();
        await_multiplications<1>();
        if (filter_before >= 0) leave_stage(shared.filter_empty + filter_before);
        if (tap == 0 && patch_before >= 0) leave_stage(shared.patch_empty + patch_before);
        filter_before = filter.stage;
        filter.next();
      }
      patch_before = patch.stage;
      patch.next();
    }
    if (threadIdx.x % 32 == 0) barrier_arrive(shared.end.turns + (team + 1) % 2);
    await_multiplications();
    hold(all);
    leave_stage(shared.filter_empty + filter_before);
    leave_stage(shared.patch_empty + patch_before);
    patch.skip(cut.slices);
    filter.skip(cut.slices * taps);
    const PatchPlace place(cut, tile);
    if (conv.pools) {
      writer.write_pooled(sums, (place.image * (cut.p / 2) + place.p / 2) * (cut.q / 2) + place.q / 2, cut.q / 2,
                          place.map);
    } else {
      writer.write(sums, (place.image * cut.p + place.p) * cut.q + place.q, cut.q, place.map);
    }
  }
  if (warp % 4 == 0 && elected()) await_stores<0>();
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <class Terms>
__global__ void __launch_bounds__(PatchTile<Terms>::kThreads, 1)
    convolve_patches(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap w,
                     const __grid_constant__ CUtensorMap y,
                     const __grid_constant__ PixelConvOf<typename Terms::Element> conv,
                     const __grid_constant__ PatchCut cut) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Shared = PatchShared<Terms>;
  using Tile = PatchTile<Terms>;
  const Shared shared;
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), warpgroup = warp / 4;
  if (threadIdx.x == 0) {
    prefetch_map(x);
    prefetch_map(w);
    prefetch_map(y);
    const auto make = [](uint64_t* full, uint64_t* empty, int count) {
      for (int i = 0; i < count; ++i) {
        barrier_init(full + i, 1);
        barrier_init(empty + i, 4);  // one lane of each warp arrives
      }
    };
    make(shared.patch_full, shared.patch_empty, Shared::kPatches);
    make(shared.filter_full, shared.filter_empty, Shared::kFilters);
    for (int team = 0; team < 2; ++team) barrier_init(shared.end.turns + team, 4);
    fence_for_async();
  }
  if (threadIdx.x == Tile::kThreads - 32) prefetch_share(conv.prefetch);
  __syncthreads();
  begin_in_turn();
  if (warpgroup == Tile::kConsumers) {
    leave_registers<Tile::kProducerRegisters>();
    if (warp % 4 == 0) copy_patches(shared, x, w, conv.shape, cut);
  } else {
    take_registers<Tile::kConsumerRegisters>();
    multiply_patches(shared, y, conv, cut, warp);
  }
#endif
}

/// Returns the descriptor of the images. A copy loads a patch: 64 columns of kPatchRows + r - 1 rows, with one slice of
/// channels.
template <class Terms>
CUtensorMap describe_patches(const PixelConvOf<typename Terms::Element>& conv) {
  using Element = typename Terms::Element;
  static const auto encode = driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  const DescribedImages<Element> images(conv);
  const auto rows = static_cast<cuuint32_t>(kPatchRows + conv.shape.r - 1);
  const cuuint32_t box[] = {kSliceTerms<Element>, kPatchColumns, rows, 1}, steps[] = {1, 1, 1, 1};
  CUtensorMap map;
  images.check(encode(&map, kTermType<Terms>, 4, const_cast<Element*>(conv.x), images.sizes.data(),
                      images.strides.data(), box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return map;
}

/// conv.w: filters packed by pack_igemm_weights().
template <class Terms>
void launch_patches(const PixelConvOf<typename Terms::Element>& conv, int64_t multiprocessors, void* stream) {
  using Element = typename Terms::Element;
  using Tile = PatchTile<Terms>;
  constexpr int kTerms = kSliceTerms<Element>;
  const ConvShape& shape = conv.shape;
  const PatchCut cut(shape, conv.pools, kTerms);
  const int each = conv.pools ? 2 : 1;
  const int64_t terms = int64_t{shape.channels} * shape.r * shape.s;
  const CUtensorMap x = describe_patches<Terms>(conv);
  const CUtensorMap w = describe_rows(kCopiedType<Element>, static_cast<const Element*>(conv.w), shape.k, terms, terms,
                                      kTerms, kPatchMaps);
  const int64_t results = int64_t{shape.n} * (cut.p / each) * (cut.q / each);
  const CUtensorMap y = describe_rows<Element>(kCopiedType<Element>, conv.y, results, shape.k, conv.y_step,
                                               Tile::kBoxMaps, cut.columns / each);
  launch(convolve_patches<Terms>,
         {.grid = std::min<int64_t>(cut.tiles, multiprocessors),
          .block = Tile::kThreads,
          .shared_bytes = PatchShared<Terms>::kBytes,
          .early = true},
         stream, x, w, y, conv, cut);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
