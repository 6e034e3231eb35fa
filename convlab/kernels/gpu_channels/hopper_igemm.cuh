#pragma once

// Convolution kernels by hopper_conv.cuh, whatever their terms: what they refuse, prepare and launch.

#ifdef __CUDACC__

#include <optional>

#include <fmt/core.h>

#include "convlab/kernels/gpu_channels/hopper_step.cuh"
#include "convlab/kernels/gpu_channels/pixel_op.h"
#include "convlab/kernels/gpu_channels/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

/// What a step must keep to, whatever is done with its images first.
inline constexpr int64_t kMostOfHopper = int64_t{1} << 30;

template <class Terms>
struct HopperConv {
  using Element = typename Terms::Element;
  static constexpr Layout kLayout = kPixelLayout<Element>;

  static Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
    const ConvProblem& problem = step.problem;
    if (!runs_on_hopper(caps)) return "is made of instructions that only compute capability 9.0 has";
    if (step.epilogue.pool) return "does not pool";
    if (!takes_plain(step) && (step.input_layout != kLayout || problem.c % 8 != 0)) {
      return fmt::format("takes plain images, or {} in multiples of 8", name_of(kLayout));
    }
    if (step.output_layout != kLayout || problem.k % 8 != 0) {
      return fmt::format("gives {} in multiples of 8", name_of(kLayout));
    }
    if (problem.groups != 1) return "takes one group only";
    if (problem.n * problem.p() * problem.q() > kMostOfHopper || problem.n * problem.h * problem.w > kMostOfHopper ||
        checked_mul(problem.r * problem.s, round_up(problem.c, kSliceTerms<Element>) * (Terms::kSplit ? 2 : 1)) >
            kMostOfHopper ||
        problem.k > kMostOfHopper) {
      return fmt::format("takes at most {} pixels, maps, and terms of a sum", kMostOfHopper);
    }
    if (problem.stride_h > 8 || problem.stride_w > 8) return "takes strides of at most 8";
    constexpr int64_t kFarthestTap = 255;
    if ((problem.r - 1) * problem.dilation_h > kFarthestTap || (problem.s - 1) * problem.dilation_w > kFarthestTap) {
      return fmt::format("takes filters whose last pixel is at most {} from the first", kFarthestTap);
    }
    if (problem.pad_top > 128 || problem.pad_left > 128 || !PixelCorners(kernel_shape(problem)).fit()) {
      return "takes images whose outputs begin and end at most 128 pixels from the image's border";
    }
    return std::nullopt;
  }

  static int64_t packed_elements(const ConvStep& step) {
    return checked_mul(step.problem.k, packed_terms<Terms>(plan_terms<Terms>(conv_of_step<Element>(step))));
  }

  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
    return static_cast<size_t>(checked_mul(packed_elements(step), sizeof(Element)));
  }

  static size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) { return plain_copy_bytes<Element>(step); }

  static void prepare(const ConvArgs& args, Stream& stream) {
    const auto plan = plan_terms<Terms>(conv_of_step<Element>(args.step));
    pack_filters<Terms>(plan, args.w, static_cast<int>(args.step.problem.c), static_cast<Element*>(args.prepared),
                        stream.native());
  }

  static void launch_step(const ConvArgs& args, Stream& stream) {
    launch_hopper_conv<Terms>(begin_step<Element>(args, stream), stream.caps().multiprocessors, stream.native());
  }
};

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
