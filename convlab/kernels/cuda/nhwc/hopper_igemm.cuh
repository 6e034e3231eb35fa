#pragma once

// Convolution kernels based on hopper_conv.cuh, for any element type: supported steps, weight packing and launch.

#ifdef __CUDACC__

#include <optional>

#include <fmt/core.h>

#include "convlab/kernels/cuda/nhwc/hopper_step.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_weights.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// Largest supported number of pixels, output channels and K elements.
inline constexpr int64_t kMostOfHopper = int64_t{1} << 30;

/// Returns the filters of `given` input channels for igemm_weights.cuh. Each tap begins at a slice boundary or, if a
/// slice holds several taps, at an equal fraction of a slice.
template <class Element>
PlainFilters filters_of(const PixelPlan<Element>& plan, const float* w, int64_t given) {
  const int64_t taps = int64_t{plan.conv.shape.r} * plan.conv.shape.s;
  return {.w = w,
          .map_step = given * taps,
          .channel_step = taps,
          .tap_step = 1,
          .taps = taps,
          .given = given,
          .channels = plan.taps == 1 ? plan.period * kSliceTerms<Element> : kSliceTerms<Element> / plan.taps};
}

/// Each block packs one output channel for HopperSplitHalves. Output channels from `maps` on are zero padding.
__global__ void __launch_bounds__(256)
    pack_split_map(const PlainFilters filters, int64_t maps, __half* __restrict__ packed, float* __restrict__ undo,
                   int64_t slices) {
  constexpr int kSlice = HopperSplitHalves::kSlice;
  const int64_t map = blockIdx.x, there = gridDim.x;
  const bool exists = map < maps;
  const float factor = exists ? scale_map(filters, map, undo + map) : 0;
  for (int64_t term = threadIdx.x; term < slices * kSlice; term += 256) {
    const float value = exists ? term_of_map(filters, map, term) * factor : 0;
    __half* const slice = packed + term / kSlice * there * (HopperSplitHalves::kSliceBytes / sizeof(__half));
    HopperSplitHalves::pack(value, slice + HopperSplitHalves::place(map, static_cast<int>(term % kSlice)), there);
  }
}

template <class Terms>
struct HopperConv {
  using Element = typename Terms::Element;
  static constexpr Format kFormat = kPixelFormat<Element>;

  static Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
    const ConvProblem& problem = step.problem;
    if (!runs_on_hopper(caps)) return "compute capability 9.0 is required";
    if (!takes_plain(step) && (step.input_format != kFormat || problem.c % 8 != 0)) {
      return fmt::format("input must be nchw, or {} with a multiple of 8 channels", name_of(kFormat));
    }
    if (step.output_format != kFormat || problem.k % 8 != 0) {
      return fmt::format("output must be {} with a multiple of 8 channels", name_of(kFormat));
    }
    if (problem.groups != 1) return "groups are not supported";
    if (problem.n * problem.p() * problem.q() > kMostOfHopper || problem.n * problem.h * problem.w > kMostOfHopper ||
        checked_mul(problem.r * problem.s, round_up(problem.c, kSliceTerms<Element>) * Terms::kFilterParts) >
            kMostOfHopper ||
        problem.k > kMostOfHopper) {
      return fmt::format("pixels, output channels and the K dimension must be at most {}", kMostOfHopper);
    }
    if (problem.stride_h > 8 || problem.stride_w > 8) return "strides must be at most 8";
    constexpr int64_t kFarthestTap = 255;
    if ((problem.r - 1) * problem.dilation_h > kFarthestTap || (problem.s - 1) * problem.dilation_w > kFarthestTap) {
      return fmt::format("dilated filter must span at most {} pixels", kFarthestTap);
    }
    if (problem.pad_top > 128 || problem.pad_left > 128 || !PixelCorners(kernel_shape(problem)).fit()) {
      return "padding must be at most 128 pixels on each side of the image";
    }
    if (step.epilogue.pool &&
        (!step.epilogue.pool->is_max_2x2() ||
         !pools_quickly<Terms>(plan_terms<Terms>(conv_of_step<Element>(step)), caps.multiprocessors))) {
      return "fused pooling other than 2x2 max, or slower than a separate step, is not supported";
    }
    return std::nullopt;
  }

  static int64_t maps_there(const ConvStep& step) {
    if constexpr (Terms::kScales) return Terms::maps_there(step.problem.k);
    return step.problem.k;
  }

  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
    return igemm_weight_bytes<Terms>(maps_there(step), plan_terms<Terms>(conv_of_step<Element>(step)).slices);
  }

  static size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) { return plain_copy_bytes<Element>(step); }

  static void prepare(const ConvArgs& args, Stream& stream) {
    const auto plan = plan_terms<Terms>(conv_of_step<Element>(args.step));
    const PlainFilters filters = filters_of(plan, args.w, args.step.problem.c);
    if constexpr (Terms::kScales) {
      const int64_t maps = maps_there(args.step);
      auto* const undo = const_cast<float*>(igemm_undo<Terms>(args.prepared, maps, plan.slices));
      launch(pack_split_map, {.grid = maps, .block = 256}, stream.native(), filters, args.step.problem.k,
             static_cast<__half*>(args.prepared), undo, int64_t{plan.slices});
    } else {
      pack_igemm_weights<Terms>(filters, args.step.problem.k, args.prepared, stream);
    }
  }

  static void launch_step(const ConvArgs& args, Stream& stream) {
    launch_hopper_conv<Terms>(begin_step<Element>(args, stream), stream.caps().multiprocessors, stream.native());
  }
};

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
