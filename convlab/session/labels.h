#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace convlab {

/// Returns the class with the largest score of each image; the lowest index of equal scores. `scores` holds `classes`
/// numbers per image. Throws Error(wrong_result) with the image's index, counted from `first`, if a score is NaN.
std::vector<int> labels_of(std::span<const float> scores, int64_t classes, int64_t first = 0);

/// Same as labels_of(), from the output of ArgMaxOp: a class index per image, or NaN. Writes to `labels`, which has the
/// size of `places`: allocating 100000 labels would take longer than finding them. Errors count images from `first`.
void labels_of_places(std::span<const float> places, int64_t first, std::span<int> labels);

}  // namespace convlab
