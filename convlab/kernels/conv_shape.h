#pragma once

#include "convlab/kernels/conv_step.h"

namespace convlab {

/// A ConvProblem as GPU kernels receive it: by value, in 32 bits. Offsets inside one image and one filter fit into int
/// (refuse_unless_rung checks it); an image's offset in its batch does not, and is computed in 64 bits.
struct ConvShape {
  int n, c, h, w;
  int k, r, s;
  int p, q;  ///< output height and width
  int pad_top, pad_left;
  int stride_h, stride_w;
  int dilation_h, dilation_w;
  int channels;  ///< input channels per group
  int maps;      ///< output channels per group
};

ConvShape kernel_shape(const ConvProblem& problem);

/// Returns a reason unless the step is plain fp32 NCHW in and out, and its image, filters and batch fit ConvShape.
/// Every ladder rung checks this first.
Refusal refuse_unless_rung(const ConvStep& step);

/// For rungs whose idea does not work with general strides: also rejects strides, dilation and groups other than 1.
Refusal refuse_unless_dense(const ConvStep& step);

}  // namespace convlab
