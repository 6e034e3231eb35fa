#pragma once

#include <vector>

#include "convlab/model/op.h"

namespace convlab {

/// An operator's input: its shape for one image, and whether it holds images, one after the other along its first
/// dimension. Others are constants.
struct SplitOperand {
  Shape shape;
  bool images;
};

/// Whether an operator may mix images, or treat them by their place, although its output's first size follows their
/// number for 1, 2 and 3 of them and no other size does.
bool mixes_images(const Op& op, const std::vector<SplitOperand>& inputs);

}  // namespace convlab
