// Finds the class of each image in a network's output.

#include "convlab/session/labels.h"

#include <algorithm>
#include <cmath>

#include "convlab/base/error.h"

namespace convlab {

std::vector<int> labels_of(std::span<const float> scores, int64_t classes, int64_t first) {
  const auto count = static_cast<int64_t>(scores.size());
  if (classes < 1 || count % classes != 0) {
    throw bad_input("{} scores are not a multiple of {} classes", count, classes);
  }
  std::vector<int> labels;
  labels.reserve(static_cast<size_t>(count / classes));
  for (int64_t image = 0; image < count / classes; ++image) {
    const float* score = scores.data() + image * classes;
    int best = 0;
    for (int each = 0; each < classes; ++each) {
      if (std::isnan(score[each])) {
        throw wrong_result("the network output is NaN for class {} of image {} (counted from 0)", each, first + image);
      }
      if (score[each] > score[best]) best = each;
    }
    labels.push_back(best);
  }
  return labels;
}

void labels_of_places(std::span<const float> places, int64_t first, std::span<int> labels) {
  // First without branches, so that the compiler vectorizes the loop: this counts toward a network's time on a GPU, and
  // a branch per image would take longer than a layer.
  int unknown = 0;
  for (size_t image = 0; image < places.size(); ++image) {
    const float place = places[image];
    labels[image] = static_cast<int>(place >= 0 ? place : 0.0F);
    unknown |= place >= 0 ? 0 : 1;
  }
  if (unknown == 0) return;
  const auto broken = std::ranges::find_if(places, [](float place) { return !(place >= 0); });
  throw wrong_result("the network output is NaN for a class of image {} (counted from 0)",
                     first + (broken - places.begin()));
}

}  // namespace convlab
