#pragma once

// Convolution kernels of a network's first layer, whatever their terms: plain images, of numbers or bytes, are folded
// (see first_fold.cuh), then multiplied as hopper_igemm.cuh multiplies any others.

#ifdef __CUDACC__

#include "convlab/kernels/gpu_channels/first_fold.cuh"
#include "convlab/kernels/gpu_channels/hopper_igemm.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

template <class Terms>
struct HopperFirst {
  using Element = typename Terms::Element;
  static constexpr Layout kLayout = kPixelLayout<Element>;

  static Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
    constexpr int64_t kMostChannels = 64;
    const ConvProblem& problem = step.problem;
    if (!runs_on_hopper(caps)) return "is made of instructions that only compute capability 9.0 has";
    if (step.epilogue.pool) return "does not pool";
    if (!takes_plain(step)) return "takes plain images";
    if (step.output_layout != kLayout || problem.k % 8 != 0) {
      return fmt::format("gives {} in multiples of 8", name_of(kLayout));
    }
    if (problem.groups != 1) return "takes one group only";
    if (problem.n * problem.p() * problem.q() > kMostOfHopper || problem.n * problem.h * problem.w > kMostOfHopper ||
        problem.terms() > kMostOfHopper || problem.k > kMostOfHopper) {
      return fmt::format("takes at most {} pixels, maps, and terms of a sum", kMostOfHopper);
    }
    if (!problem.unit_stride() && !problem.unit_dilation()) return "takes no dilation with strides";
    const FirstFold fold = fold_of(problem);
    if (problem.c * fold.of_channel() > kMostChannels) {
      return fmt::format(
          "takes at most {} channels, as many as there are in a "
          "stride's pixels or a filter's columns",
          kMostChannels);
    }
    constexpr int kFarthestTap = 255;
    const ConvShape& shape = fold.folded;
    if ((shape.r - 1) * shape.dilation_h > kFarthestTap || shape.s - 1 > kFarthestTap) {
      return fmt::format("takes filters whose last pixel is at most {} from the first", kFarthestTap);
    }
    if (shape.pad_top > 128 || shape.pad_left > 128 || !PixelCorners(shape).fit()) {
      return "takes images whose outputs begin and end at most 128 pixels from "
             "the image's border";
    }
    return std::nullopt;
  }

  static PixelConvOf<Element> conv_of(const ConvStep& step, const FirstFold& fold) {
    PixelConvOf<Element> conv = conv_of_step<Element>(step);
    conv.shape = fold.folded;
    conv.x_step = fold.folded.c;
    return conv;
  }

  /// What is prepared: filters as they are multiplied and, behind these, as they are folded.
  struct Filters {
    PixelPlan<Element> plan;
    int64_t packed, folded;  ///< elements

    Filters(const ConvStep& step, const FirstFold& fold) : plan(plan_terms<Terms>(conv_of(step, fold))) {
      const ConvShape& shape = fold.folded;
      packed = checked_mul(shape.k, packed_terms<Terms>(plan));
      folded = checked_product({shape.k, shape.c, shape.r, shape.s});
    }
  };

  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
    const Filters filters(step, fold_of(step.problem));
    return static_cast<size_t>(filters.packed) * sizeof(Element) + static_cast<size_t>(filters.folded) * sizeof(float);
  }

  static void prepare(const ConvArgs& args, Stream& stream) {
    const FirstFold fold = fold_of(args.step.problem);
    const Filters filters(args.step, fold);
    auto* const packed = static_cast<Element*>(args.prepared);
    auto* const folded = reinterpret_cast<float*>(packed + filters.packed);
    launch(fold_filters, {.grid = ceil_div(filters.folded, kFoldThreads), .block = kFoldThreads}, stream.native(),
           args.w, folded, fold);
    pack_filters<Terms>(filters.plan, folded, fold.folded.c, packed, stream.native());
  }

  static size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
    const ConvShape shape = fold_of(step.problem).folded;
    return static_cast<size_t>(checked_product({shape.n, shape.h, shape.w, shape.c, sizeof(Element)}));
  }

  static void launch_step(const ConvArgs& args, Stream& stream) {
    const ConvStep& step = args.step;
    const FirstFold fold = fold_of(step.problem);
    const ConvShape& shape = fold.folded;
    auto* const images = static_cast<Element*>(args.workspace);
    const int64_t count = checked_product({shape.n, shape.h, shape.w, shape.c / 8});
    const LaunchShape blocks{.grid = ceil_div(count, kFoldThreads), .block = kFoldThreads};
    if (step.input == ElementType::u8) {
      launch(fold_images<uint8_t, Element>, blocks, stream.native(), static_cast<const uint8_t*>(args.x), images, fold,
             count);
    } else {
      launch(fold_images<float, Element>, blocks, stream.native(), static_cast<const float*>(args.x), images, fold,
             count);
    }
    PixelConvOf<Element> conv = conv_of(step, fold);
    set_addresses(args, conv);
    conv.x = images;
    launch_hopper_conv<Terms>(conv, stream.caps().multiprocessors, stream.native());
  }
};

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
