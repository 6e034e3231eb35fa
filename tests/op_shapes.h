#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/model/shapes.h"

namespace convlab {

inline Shape shape(const Op& op, const std::vector<Shape>& inputs) { return output_shape(op, inputs); }

/// The reason why the operator refuses these shapes, "" if it takes them.
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
