#include "convlab/plan/labels.h"

#include <cmath>

#include "convlab/base/error.h"

namespace convlab {

std::vector<int> labels_of(std::span<const float> scores, int64_t classes) {
  const auto count = static_cast<int64_t>(scores.size());
  if (classes < 1 || count % classes != 0) {
    throw bad_input("{} scores cannot be split into images of {} classes", count, classes);
  }
  std::vector<int> labels;
  labels.reserve(static_cast<size_t>(count / classes));
  for (int64_t image = 0; image < count / classes; ++image) {
    const float* score = scores.data() + image * classes;
    int best = 0;
    for (int each = 0; each < classes; ++each) {
      if (std::isnan(score[each])) {
        throw wrong_result("the network computes NaN for class {} of image {} (counted from 0)", each, image);
      }
      if (score[each] > score[best]) best = each;
    }
    labels.push_back(best);
  }
  return labels;
}

}  // namespace convlab
