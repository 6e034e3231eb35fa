#pragma once

// Convolution kernels of a network's first layer for compute capability 9.0, for any element type: float or uint8 nchw
// images of few channels to nhwc.
//
//   image -> a patch in shared memory -> registers, as A fragments -> wgmma, with filters from shared memory
//         -> bias, activation -> boxes in shared memory -> TMA -> y
//
// There is no copy of the image in global memory, and the blocks of a multiprocessor hide each other's copy latency.

#ifdef __CUDACC__

#include <optional>

#include <fmt/core.h>

#include "convlab/kernels/cuda/nhwc/first_patch.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// conv.x is not used.
template <class Tile, class Input>
__global__ void __launch_bounds__(kFirstThreads, Tile::Terms::kSplit ? 2 : 3)
    convolve_first(const Input* images, const __grid_constant__ CUtensorMap y,
                   const __grid_constant__ PixelConvOf<typename Tile::Element> conv,
                   const __grid_constant__ FirstCut cut) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const ConvShape& shape = conv.shape;
  const FirstShared<Tile> shared(cut);
  int block = blockIdx.x;
  const auto next = [&](int count) {
    const int i = block % count;
    block /= count;
    return i;
  };
  const int map_tile = next(cut.map_tiles), column_tile = next(cut.column_tiles), row_tile = next(cut.row_tiles);
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), lane = threadIdx.x % 32,
            pixels = cut.segments * kSegment;
  const int p = row_tile * kFirstRows, q = min(column_tile * pixels, shape.q - pixels);
  if (threadIdx.x == 0) {
    barrier_init(shared.filters_there, 1);
    fence_for_async();
    const int bytes = filter_bytes<Tile>(cut);
    barrier_arrive_expecting(shared.filters_there, bytes);
    fetch_bulk(to_shared(shared.filters), static_cast<const unsigned char*>(conv.w) + int64_t{map_tile} * bytes, bytes,
               shared.filters_there);
  }
  make_items(shared, shape, cut);
  begin_in_turn();
  copy_patch(shared, images + int64_t{block} * shape.c * shape.h * shape.w, p * shape.stride_h - shape.pad_top,
             q * shape.stride_w - shape.pad_left, shape, cut);
  __syncthreads();
  barrier_wait(shared.filters_there, 0);

  const CUtensorMap& added = y;  // nothing is added
  BoxWriter<Tile> writer{shared.end, added, y, conv, warp};
  const int64_t row = (int64_t{block} * shape.p + p + warp) * shape.q + q;
  for (int segment = 0; segment < cut.segments; ++segment) {
    const int column = (segment * kSegment + lane / 4) * shape.stride_w, shift = column % cut.copies;
    const FirstPixels pixels{
        .upper = reinterpret_cast<const unsigned char*>(shared.patch + warp * shape.stride_h * cut.pitch + column -
                                                        shift + shift * cut.copy_terms),
        .below = 8 * shape.stride_w * static_cast<int>(sizeof(typename Tile::Element))};
    const int map = map_tile * Tile::kMaps;
    float sums[1][Tile::kMaps / 2];
    if constexpr (Tile::Terms::kSplit) {
      multiply_split(shared, cut, pixels, sums[0], shape.k - map);
      add_bias(sums[0], conv.bias, map, shape.k);
    } else {
      begin_with_bias(sums, conv.bias, map, shape.k);
      for (int slice = 0; slice < cut.slices; ++slice) multiply_first(shared, cut, slice, pixels, sums[0]);
    }
    if (p + warp < shape.p) {
      writer.write(sums, static_cast<int>(row) + segment * kSegment, map);
    }
  }
  if (elected()) await_stores<0>();
#endif
}

template <class Terms>
struct HopperFirst {
  using Element = typename Terms::Element;
  static constexpr Format kFormat = kPixelFormat<Element>;
  static size_t workspace_bytes(const ConvStep&, const DeviceCaps&) { return 0; }

  /// Calls `with.template operator()<Tile>()`. Tiles have 64 output channels if the filters fit twice in a
  /// multiprocessor's shared memory, and otherwise 32. If these do not fit twice either, tiles have 64 if the filters
  /// fit once.
  static auto with_tile(const ConvShape& shape, auto&& with) {
    using Wide = FirstTile<Terms, 64>;
    using Slim = FirstTile<Terms, 32>;
    const auto least = [&]<class Tile>() {
      return first_bytes<Tile>(FirstCut(shape, Tile::kMaps, 1, kItemTerms<Element>));
    };
    const size_t of_wide = least.template operator()<Wide>(), of_slim = least.template operator()<Slim>();
    const bool wide = shape.k > 32 && (of_wide <= kTwoBlocks || (of_slim > kTwoBlocks && of_wide <= kMostShared));
    return wide ? with.template operator()<Wide>() : with.template operator()<Slim>();
  }

  static ConvShape shape_of(const ConvStep& step) { return kernel_shape(step.problem); }

  static Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
    constexpr int64_t kMostChannels = 8, kMostPixels = int64_t{1} << 30;
    const ConvProblem& problem = step.problem;
    if (!runs_on_hopper(caps)) return "compute capability 9.0 is required";
    if (step.epilogue.pool || step.adds) return "fused pooling and fused addition are not supported";
    if (!takes_plain(step) || problem.c > kMostChannels) {
      return fmt::format("input must be nchw with at most {} channels", kMostChannels);
    }
    if (step.output_format != kFormat || problem.k % 8 != 0) {
      return fmt::format("output must be {} with a multiple of 8 channels", name_of(kFormat));
    }
    if (problem.groups != 1 || problem.dilation_w != 1) return "groups and horizontal dilation are not supported";
    if (problem.q() < kSegment) return fmt::format("output width must be at least {}", kSegment);
    if (problem.n * problem.p() * problem.q() > kMostPixels || problem.k > kMostPixels) {
      return fmt::format("at most {} output pixels and output channels are supported", kMostPixels);
    }
    constexpr int64_t kMostOfFilter = 64, kMostStep = 16;
    if (problem.r > kMostOfFilter || problem.s > kMostOfFilter || problem.stride_h > kMostStep ||
        problem.stride_w > kMostStep || problem.dilation_h > kMostStep) {
      return fmt::format("filter must be at most {0}x{0}, strides and dilation at most {1}", kMostOfFilter, kMostStep);
    }
    const ConvShape shape = shape_of(step);
    const size_t bytes =
        with_tile(shape, [&]<class Tile>() { return first_bytes<Tile>(cut_first<Tile>(shape, caps.multiprocessors)); });
    if (bytes > caps.shared_bytes_per_block) {
      return fmt::format("the tile does not fit in {} bytes of shared memory", caps.shared_bytes_per_block);
    }
    return std::nullopt;
  }

  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps& caps) {
    const ConvShape shape = shape_of(step);
    return with_tile(shape, [&]<class Tile>() {
      const FirstCut cut = cut_first<Tile>(shape, caps.multiprocessors);
      return static_cast<size_t>(checked_mul(cut.map_tiles, filter_bytes<Tile>(cut)));
    });
  }

  static void prepare(const ConvArgs& args, Stream& stream) {
    const ConvShape shape = shape_of(args.step);
    with_tile(shape, [&]<class Tile>() {
      const FirstCut cut = cut_first<Tile>(shape, stream.caps().multiprocessors);
      launch(pack_first<Tile>, {.grid = checked_mul(cut.map_tiles, Tile::kMaps), .block = kFirstThreads},
             stream.native(), args.w, static_cast<unsigned char*>(args.prepared), shape, cut);
    });
  }

  static void launch_step(const ConvArgs& args, Stream& stream) {
    const ConvStep& step = args.step;
    PixelConvOf<Element> conv = conv_of_step<Element>(step);
    conv.shape = shape_of(step);
    set_addresses(args, conv);
    const ConvShape& shape = conv.shape;
    with_tile(shape, [&]<class Tile>() {
      const FirstCut cut = cut_first<Tile>(shape, stream.caps().multiprocessors);
      const CUtensorMap y = describe_rows<Element>(kCopiedType<Element>, conv.y, int64_t{shape.n} * shape.p * shape.q,
                                                   shape.k, conv.y_step, Tile::kBoxMaps, kSegment);
      const LaunchShape blocks{
          .grid = cut.blocks(shape.n), .block = kFirstThreads, .shared_bytes = first_bytes<Tile>(cut), .early = true};
      if (step.input_format == kRawPixels) {
        launch(convolve_first<Tile, uint8_t>, blocks, stream.native(), static_cast<const uint8_t*>(args.x), y, conv,
               cut);
      } else {
        launch(convolve_first<Tile, float>, blocks, stream.native(), static_cast<const float*>(args.x), y, conv, cut);
      }
    });
  }
};

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
