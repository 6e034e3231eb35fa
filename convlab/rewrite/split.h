#pragma once

#include <optional>
#include <string>

#include "convlab/model/graph.h"

namespace convlab {

/// Why a batch must not be split, in words; nullopt: it may be, because each image's part of the output depends on that
/// image alone, and is computed the same, whatever the number of images. The graph's first size must be open (-1).
/// Found by inferring shapes for 1, 2 and 3 images: the first size of every value must follow the number of images and
/// no other size may; what shapes cannot show (a softmax over the images) is looked at operator by operator.
std::optional<std::string> why_not_split(const Graph& graph, const Shape& input_shape);

}  // namespace convlab
