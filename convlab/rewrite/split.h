#pragma once

#include <optional>
#include <string>

#include "convlab/model/graph.h"

namespace convlab {

/// Returns why a batch must not be split, for people. Returns nullopt if it may be split, because each image's part of
/// the output depends on that image alone and is computed the same way for any number of images. The graph's first size
/// must be dynamic (-1). Infers shapes for 1, 2 and 3 images: the first size of every value must be proportional to the
/// number of images, and no other size may change. What shapes cannot show (a softmax over the images) is checked per
/// operator.
std::optional<std::string> why_not_split(const Graph& graph, const Shape& input_shape);

}  // namespace convlab
