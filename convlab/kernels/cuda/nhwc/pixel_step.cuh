#pragma once

// Converts a ConvStep for the nhwc kernels. Input in nchw, from a network's first layer or of 1x1 images, is first
// copied to nhwc in the workspace, with channels padded to a multiple of 8.

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cuda/nhwc/plain_copies.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

inline bool takes_plain(const ConvStep& step) { return step.input_format.order == Order::nchw; }

/// Returns the convolution of a step without addresses. Channels of nchw images are rounded up.
template <class Element>
PixelConvOf<Element> conv_of_step(const ConvStep& step) {
  PixelConvOf<Element> conv{.shape = kernel_shape(step.problem), .groups = static_cast<int>(step.problem.groups)};
  if (takes_plain(step)) conv.shape.c = conv.shape.channels = static_cast<int>(round_up(step.problem.c, 8));
  conv.x_step = takes_plain(step) || step.input_step == 0 ? conv.shape.c : step.input_step;
  conv.added_step = step.added_step != 0 ? step.added_step : step.problem.k;
  conv.y_step = step.output_step != 0 ? step.output_step : step.problem.k;
  conv.activation = step.epilogue.activation;
  conv.pools = step.epilogue.pool.has_value();
  return conv;
}

/// Returns the bytes of the nhwc copy of nchw images, which is at the start of the workspace.
template <class Element>
size_t plain_copy_bytes(const ConvStep& step) {
  return takes_plain(step) ? channels_last_bytes<Element>(step.problem.input_shape()) : 0;
}

/// Sets the addresses of a step's convolution.
template <class Element>
void set_addresses(const ConvArgs& args, PixelConvOf<Element>& conv) {
  const ConvStep& step = args.step;
  conv.x = static_cast<const Element*>(args.x);
  conv.w = args.prepared;
  conv.prefetch = args.prefetch;
  conv.bias = step.epilogue.bias ? args.bias : nullptr;
  conv.added = step.adds ? reinterpret_cast<const Element*>(args.added) : nullptr;
  if (step.output_format.order == Order::nchw) {
    conv.plain = args.y;
  } else {
    conv.y = reinterpret_cast<Element*>(args.y);
  }
}

/// Returns the convolution of a step with its addresses, after enqueuing the copy of nchw images to the workspace.
template <class Element>
PixelConvOf<Element> begin_step(const ConvArgs& args, Stream& stream) {
  const ConvStep& step = args.step;
  PixelConvOf<Element> conv = conv_of_step<Element>(step);
  set_addresses(args, conv);
  if (!takes_plain(step)) return conv;
  auto* const copy = static_cast<Element*>(args.workspace);
  if (step.input_format == kRawPixels) {
    copy_to_channels_last(static_cast<const uint8_t*>(args.x), step.problem.input_shape(), copy, stream);
  } else {
    copy_to_channels_last(static_cast<const float*>(args.x), step.problem.input_shape(), copy, stream);
  }
  conv.x = copy;
  return conv;
}

/// Returns the kernel that calls a struct's static functions.
template <class Conv>
Kernel kernel_of(const KernelInfo& info) {
  return {.info = info,
          .refuses = of_conv<Conv::refuses>,
          .prepared_bytes = of_conv<Conv::prepared_bytes>,
          .workspace_bytes = of_conv<Conv::workspace_bytes>,
          .prepare = of_conv<Conv::prepare>,
          .launch = of_conv<Conv::launch_step>,
          .format = Conv::kFormat,
          .packs_weights = true};
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
