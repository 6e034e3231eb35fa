#pragma once

#include <vector>

#include "convlab/model/op.h"

namespace convlab {

/// An operator's input: its shape for one image, and whether it holds images along its first dimension. Otherwise it is
/// a constant.
struct SplitOperand {
  Shape shape;
  bool images;
};

/// Whether an operator may mix images or depend on their index. Its shapes alone do not show it: the first size of the
/// output is proportional to the number of images for 1, 2 and 3 of them, and no other size changes.
bool mixes_images(const Op& op, const std::vector<SplitOperand>& inputs);

}  // namespace convlab
