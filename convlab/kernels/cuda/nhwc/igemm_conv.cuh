#pragma once

// Convolution kernels based on igemm.cuh, for any element type: supported steps, weight packing and launch.

#include "convlab/kernels/cuda/nhwc/igemm_step.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

template <class Terms>
struct IgemmConv {
  using Element = typename Terms::Element;
  static constexpr Format kFormat = kPixelFormat<Element>;

  static IgemmPlan plan_of(const ConvStep& step, const DeviceCaps& caps) {
    const PixelConvOf<Element> conv = conv_of_step<Element>(step);
    return make_igemm_plan<Terms>(conv.shape, conv.groups, caps);
  }

  static Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
    const ConvProblem& problem = step.problem;
    if (caps.kind == DeviceKind::cuda && caps.compute_capability < 80) {
      return "compute capability 8.0 or later is required";
    }
    if (step.epilogue.pool) return "fused pooling is not supported";
    const Shape y = step.output_shape();
    const bool to_plain = step.output_format.order == Order::nchw;
    if (takes_plain(step)) {
      if (problem.groups != 1) return "groups are not supported with nchw input";
    } else if (step.input_format != kFormat || problem.channels_per_group() % 8 != 0) {
      return fmt::format("input must be nchw, or {} with a multiple of 8 channels per group", name_of(kFormat));
    }
    if (to_plain ? y[2] != 1 || y[3] != 1 || step.adds : step.output_format != kFormat) {
      return fmt::format("output must be {}, or 1x1 in nchw", name_of(kFormat));
    }
    if (!to_plain && problem.maps_per_group() % 8 != 0) return "output channels per group must be a multiple of 8";
    constexpr int64_t kMost = int64_t{1} << 31;
    if (problem.n * problem.p() * problem.q() >= kMost || problem.h * problem.w >= kMost ||
        problem.r * problem.s * round_up(problem.c, 8) >= kMost || problem.groups > 65535) {
      return "pixels and the K dimension must be below 2^31, and groups at most 65535";
    }
    return std::nullopt;
  }

  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps& caps) {
    return igemm_weight_bytes<Terms>(step.problem.k, plan_of(step, caps).cut.slices);
  }

  static size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
    return plain_copy_bytes<Element>(step) + igemm_workspace<Terms>(plan_of(step, caps));
  }

  static void prepare(const ConvArgs& args, Stream& stream) {
    const ConvProblem& problem = args.step.problem;
    const int64_t taps = problem.r * problem.s, given = problem.channels_per_group();
    pack_igemm_weights<Terms>({.w = args.w,
                               .map_step = given * taps,
                               .channel_step = taps,
                               .tap_step = 1,
                               .taps = taps,
                               .given = given,
                               .channels = conv_of_step<Element>(args.step).shape.channels},
                              problem.k, args.prepared, stream);
  }

  static void launch_step(const ConvArgs& args, Stream& stream) {
    const PixelConvOf<Element> conv = begin_step<Element>(args, stream);
    auto* const workspace = static_cast<unsigned char*>(args.workspace) + plain_copy_bytes<Element>(args.step);
    launch_igemm<Terms>(conv, plan_of(args.step, stream.caps()), workspace, stream);
  }
};

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
