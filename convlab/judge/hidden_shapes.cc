// Draws the hidden shapes on which submissions are verified.

#include "convlab/judge/hidden_shapes.h"

#include <algorithm>

namespace convlab::judge {
namespace {

struct Extent {
  int64_t least_images, most_images, most_side;
};
constexpr Extent kFewImages{.least_images = 1, .most_images = 5, .most_side = 40};
constexpr Extent kManyImages{.least_images = 33, .most_images = 40, .most_side = 10};

/// Derived from one layer, because a file's static arrays may fit each layer, but not the maxima over several.
ConvProblem shape_of(const ConvProblem& layer, const Extent& extent, KeyedRng& random) {
  ConvProblem shape;
  shape.n = random.integer(extent.least_images, extent.most_images);
  shape.c = random.integer(1, layer.c);
  shape.k = random.integer(1, layer.k);
  shape.r = layer.r;  // a kernel that supports only the network's filter sizes is valid
  shape.s = layer.s;
  const auto side = [&](int64_t filter, int64_t of_layer) {
    return random.integer(filter + 1, std::max(filter + 2, std::min(of_layer, extent.most_side)));
  };
  do {
    shape.h = side(layer.r, layer.h);
    shape.w = side(layer.s, layer.w);
  } while (shape.h == shape.w);
  return shape;
}

}  // namespace

std::vector<ConvProblem> hidden_shapes(const std::vector<ConvProblem>& layers, KeyedRng& random) {
  std::vector<ConvProblem> shapes;
  for (const Extent& extent : {kFewImages, kManyImages}) {
    for (const ConvProblem& layer : layers) shapes.push_back(shape_of(layer, extent, random));
  }
  return shapes;
}

}  // namespace convlab::judge
