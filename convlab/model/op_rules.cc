// Rules of operators that the files in ops/ share.

#include "convlab/model/op_rules.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/shapes.h"

namespace convlab {

void check_range(const char* name, int64_t value, int64_t least) {
  if (value < least || value > kMostSize) {
    throw bad_input("{} must be between {} and {}, got {}", name, least, kMostSize, value);
  }
}

void check_image(const Shape& x) {
  if (x.size() != 4) {
    throw bad_input("expected an input of shape N x C x H x W, got {}", to_text(x));
  }
}

void check_rank(const Shape& x, size_t least) {
  if (x.size() < least) throw bad_input("expected rank {} or more, got shape {}", least, to_text(x));
}

void check_vector(const char* name, const Shape& shape, int64_t count) {
  if (shape != Shape{count}) {
    throw bad_input("{} must have {} elements, got shape {}", name, count, to_text(shape));
  }
}

void check_broadcasts(const char* name, const Shape& shape, const Shape& y) {
  bool fits = shape.size() <= y.size();
  for (size_t i = 1; fits && i <= shape.size(); ++i) {
    fits = shape[shape.size() - i] == 1 || shape[shape.size() - i] == y[y.size() - i];
  }
  if (!fits) throw bad_input("{} of shape {} does not broadcast to {}", name, to_text(shape), to_text(y));
}

bool is_single(const Shape& shape) { return element_count(shape) == 1; }

std::vector<bool> marked(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> marks(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    const size_t at = static_cast<size_t>(normalized_axis(axis, rank));
    if (marks[at]) throw bad_input("duplicate axis {}", axis);
    marks[at] = true;
  }
  return marks;
}

bool is_first(int64_t axis, const Shape& shape) { return normalized_axis(axis, std::ssize(shape)) == 0; }

bool is_same_for_all_images(Shapes inputs, size_t input) {
  size_t rank = 0;
  for (const Shape& each : inputs) rank = std::max(rank, each.size());
  if (inputs[input].size() < rank) return true;
  if (rank == 0) return false;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Shape& each) { return each.size() == rank && each[0] > inputs[input][0]; });
}

}  // namespace convlab
