#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace convlab {

/// The class with the largest score of each image, the lowest of equals. `scores` holds `classes` numbers per image.
/// Error(wrong_result) that names the image, counted from `first` on, if one is NaN: then the network has no answer.
std::vector<int> labels_of(std::span<const float> scores, int64_t classes, int64_t first = 0);

/// The same from ArgMaxOp's output: a class per image, or NaN. Writes to `labels`, one for each place: allocating
/// 100000 of them would take longer than finding them. An error counts images from `first` on.
void labels_of_places(std::span<const float> places, int64_t first, std::span<int> labels);

}  // namespace convlab
