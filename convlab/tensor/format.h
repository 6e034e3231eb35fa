#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/tensor/element_type.h"
#include "convlab/tensor/shape.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// The memory order of a batch, in oneDNN's vocabulary; the first dimension counts its images. For a 2-D shape, the
/// second dimension counts the channels of one pixel.
///
/// nchw: row-major, for any shape.
/// nhwc: pixel after image, a pixel's channels contiguous and rounded up to a multiple of 8: in 16-bit types, adjacent
///   channels are the pairs that instructions multiply and sum at once, and a pixel is a row of their operand. Images
///   of one pixel use nchw instead.
/// nhwc4: nhwc, each pixel padded by up to 3 elements of any value to a multiple of 4: instructions multiply and sum
///   four 8-bit channels at once. int8 values are stored as uint8, shifted up by 128, and so are their zero points (see
///   rewrite/rewrite_to_bytes.h).
/// nchw8c: image after image, [ceil(c / 8)][h][w][8 channels]. In float32, a vector holds several channels of a pixel,
///   concatenated channels are contiguous, and with one pixel per image this order equals nchw. In float16, a pixel's
///   block is the 16 bytes of one row of a tensor core operand: padding channels are zero, the last block is
///   [h][w][4] if at most 4 channels are left, and an image is padded with zeros to a multiple of 64 elements (128
///   bytes).
/// nchw16n: [ceil(n / 16)][element of an image][16 images], so that a vector register holds the same element of several
///   images. The last block has its full size; its lanes beyond n may hold anything, including NaN. An image's elements
///   keep their order, so that Flatten and Reshape of images copy nothing.
/// nchw16n2c: blocks of 16 images, each [h][w][ceil(c / 2)][16 images][2 channels], for instructions that multiply
///   pairs. Padding channels are zero; lanes beyond n may hold anything. With bf16x2 elements, each block is stored
///   twice: the elements rounded to bfloat16, then the rounding residuals.
enum class Order { nchw, nhwc, nhwc4, nchw8c, nchw16n, nchw16n2c };

/// How an array is stored.
struct Format {
  Order order = Order::nchw;
  ElementType type = ElementType::f32;

  constexpr bool operator==(const Format&) const = default;
};

inline constexpr Format kNchw{};
inline constexpr Format kRawPixels{Order::nchw, ElementType::u8};  ///< raw pixels, with values 0..255
inline constexpr Format kNhwc{Order::nhwc, ElementType::f32};
inline constexpr Format kNhwcF16{Order::nhwc, ElementType::f16};
inline constexpr Format kNhwcBf16{Order::nhwc, ElementType::bf16};
inline constexpr Format kNhwc4U8{Order::nhwc4, ElementType::u8};
inline constexpr Format kNchw8c{Order::nchw8c, ElementType::f32};
inline constexpr Format kNchw8cF16{Order::nchw8c, ElementType::f16};
inline constexpr Format kNchw16n{Order::nchw16n, ElementType::f32};
inline constexpr Format kNchw16n2cBf16{Order::nchw16n2c, ElementType::bf16};
inline constexpr Format kNchw16n2cBf16x2{Order::nchw16n2c, ElementType::bf16x2};

inline constexpr int64_t kImageLanes = 16;   ///< images in a block of nchw16n and nchw16n2c
inline constexpr int64_t kChannelLanes = 8;  ///< channels in a block of nchw8c, or 16-bit nhwc channels in 16 bytes
inline constexpr int64_t kChannelBytes = 4;  ///< channels that one instruction multiplies and sums in nhwc4

/// A batch as orders see it: a shape of any rank, with all dimensions after the channels as pixels.
struct BatchSizes {
  int64_t images, channels, pixels;
};

/// Properties of an order: one row of a table that the planner, verify and the tests read.
struct OrderInfo {
  std::string_view name;
  bool interleaves_images;  ///< in blocks of kImageLanes
  bool reshapes_freely;     ///< an image's elements are in nchw order, so that the image can be reshaped without a copy
  /// Returns the elements of an array, including padding and lanes beyond n.
  int64_t (*element_count)(const BatchSizes&, ElementType);
  /// Returns the index of an element in the array.
  int64_t (*index)(const BatchSizes&, ElementType, int64_t image, int64_t channel, int64_t pixel);
};

const OrderInfo& info(Order order);

/// Returns "nchw", or the order and the element type if that is not float32: "nhwc bfloat16".
std::string name_of(Format format);

/// Returns the number of elements of an array of this shape and format, including padding and lanes beyond n. shape[0]
/// is n, except in nchw.
int64_t element_count(const Shape& shape, Format format);

/// Returns the bytes of an array of this shape and format.
int64_t byte_count(const Shape& shape, Format format);

/// Whether padding channels must be zero. Otherwise they may hold anything.
constexpr bool pads_with_zeros(Format format) { return format.order == Order::nchw16n2c || format == kNchw8cF16; }

/// Copies nchw images, float32 or of the format's type, rounded to nearest even. Elements that may hold anything become
/// NaN.
Tensor pack(const Tensor& images, Format format);

/// Copies an array back to nchw float32 images of this shape. An element whose bits are all set, which marks one that
/// was never written, keeps all bits set. Throws Error(wrong_result) if padding that must be zero is not.
std::vector<float> unpack(const void* elements, const Shape& shape, Format format);

}  // namespace convlab
