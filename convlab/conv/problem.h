#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convlab/tensor/shape.h"

namespace convlab {

/// One 2-D convolution (cross-correlation, as in all frameworks), NCHW:
///   y[n][k][p][q] = sum over c, r, s of x[n][g*C/G + c][p*stride_h + r*dilation_h - pad_top][q*stride_w + ...] *
///                                       w[k][c][r][s],   g = k / (K/G),
/// where x is 0 outside the image.
struct ConvProblem {
  int64_t n = 1;                ///< images
  int64_t c = 1, h = 1, w = 1;  ///< input channels, height, width
  int64_t k = 1, r = 1, s = 1;  ///< output channels, filter height, filter width
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t groups = 1;

  bool operator==(const ConvProblem&) const = default;

  int64_t p() const { return (h + pad_top + pad_bottom - (r - 1) * dilation_h - 1) / stride_h + 1; }  ///< output height
  int64_t q() const { return (w + pad_left + pad_right - (s - 1) * dilation_w - 1) / stride_w + 1; }  ///< output width
  int64_t channels_per_group() const { return c / groups; }
  int64_t maps_per_group() const { return k / groups; }

  Shape input_shape() const { return {n, c, h, w}; }
  Shape filter_shape() const { return {k, channels_per_group(), r, s}; }
  Shape output_shape() const { return {n, k, p(), q()}; }

  int64_t input_count() const { return n * c * h * w; }
  int64_t filter_count() const { return k * channels_per_group() * r * s; }
  int64_t output_count() const { return n * k * p() * q(); }

  /// Returns the length of the reduction for one output: C/G * R * S.
  int64_t terms() const { return channels_per_group() * r * s; }

  /// Returns the floating-point operations of direct convolution: a multiply-add counts as two operations, and padding
  /// counts as if it were input (other libraries count the same way).
  double flops() const { return 2.0 * static_cast<double>(output_count()) * static_cast<double>(terms()); }

  /// Returns the minimum bytes that must move: input, filters (4 bytes per element) and output once each.
  double compulsory_bytes(int64_t bytes_per_input, int64_t bytes_per_output) const {
    return static_cast<double>(input_count() * bytes_per_input + filter_count() * 4 +
                               output_count() * bytes_per_output);
  }

  bool padded() const { return (pad_top | pad_left | pad_bottom | pad_right) != 0; }
  bool unit_stride() const { return stride_h == 1 && stride_w == 1; }
  bool unit_dilation() const { return dilation_h == 1 && dilation_w == 1; }
};

/// Throws Error(bad_input) with the reason unless all sizes are positive, paddings are not negative, groups divide c
/// and k, the dilated filter fits into the padded image, and every size computed above fits in 64 bits with room to
/// spare.
void validate(const ConvProblem& problem);

/// Parses one line of text without default values: "n10000_c12h33w33_k24r5s5", then "_p1" (all sides) or "_p1x2x1x2"
/// (top, left, bottom, right), "_st2" or "_st2x1" (height, width), "_d2" or "_d2x1", "_g3". n may be omitted, too; it
/// is then 1. The operator's name may precede it: "conv_n10000_c12h33w33_k24r5s5". Throws Error(bad_input) with the
/// position in the text. Validates the result.
ConvProblem parse_problem(std::string_view text);

/// Returns the shortest text that parse_problem() parses to this problem.
std::string to_text(const ConvProblem& problem);

/// Returns the shape for a person: "10x4x40x40, 16 filters 7x7", followed by values that are not the default: "stride
/// 2", "padding 1", "dilation 2x1", "3 groups".
std::string shape_text(const ConvProblem& problem);

}  // namespace convlab
