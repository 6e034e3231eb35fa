#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph_limits.h"
#include "convlab/model/op_info.h"

namespace convlab {

// Rules that the files in ops/ share.

void check_range(const char* name, int64_t value, int64_t least);
void check_image(const Shape& x);
void check_rank(const Shape& x, size_t least);
void check_vector(const char* name, const Shape& shape, int64_t count);

/// Throws unless the shape broadcasts to `y` without making it larger.
void check_broadcasts(const char* name, const Shape& shape, const Shape& y);

/// Whether the shape has one element, as a scalar or in one dimension.
bool is_single(const Shape& shape);

/// Returns which of `rank` dimensions the axes name. Throws if they name one twice.
std::vector<bool> marked(const std::vector<int64_t>& axes, int64_t rank);

/// Whether the axis is the first dimension of the shape.
bool is_first(int64_t axis, const Shape& shape);

// OpInfo::mixes_images. kNever: elements stay in their images, or the shapes show that they do not. kAlways: for
// example, because inputs or outputs are indices into all images. kAlongFirstAxis: if images are along `op.axis`.

inline constexpr auto kNever = [](const auto&, const SplitOperands&) { return false; };
inline constexpr auto kAlways = [](const auto&, const SplitOperands&) { return true; };
inline constexpr auto kAlongFirstAxis = [](const auto& op, const SplitOperands& inputs) {
  return is_first(op.axis, inputs[0].shape);
};

// OpInfo::usually_constant. kSameForAllImages: an operand of an elementwise operator that is the same for all images,
// such as a bias, or a scale of each channel.

bool is_same_for_all_images(Shapes inputs, size_t input);

inline constexpr auto kNone = [](const auto&, Shapes, size_t) { return false; };
inline constexpr auto kAllButFirst = [](const auto&, Shapes, size_t input) { return input > 0; };
inline constexpr auto kSameForAllImages = [](const auto&, Shapes inputs, size_t input) {
  return is_same_for_all_images(inputs, input);
};

}  // namespace convlab
