#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/model/shapes.h"

namespace convlab {

inline Shape shape(const Op& op, const std::vector<Shape>& inputs) { return output_shape(op, inputs); }

/// Returns why the operator rejects these shapes, or "" if it accepts them.
inline std::string refusal(const Op& op, const std::vector<Shape>& inputs) {
  try {
    output_shape(op, inputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

}  // namespace convlab
