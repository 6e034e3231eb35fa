#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convlab/rewrite/linear.h"

namespace convlab {

/// What linear operators cost, of one image.
struct LinearCost {
  double multiply_adds = 0, bytes = 0;  ///< bytes that are moved

  LinearCost operator+(const LinearCost& other) const {
    return {multiply_adds + other.multiply_adds, bytes + other.bytes};
  }

  /// In multiply-adds.
  double total() const;
};

/// "0.35 million multiply-adds and 12.1 kB an image"
std::string to_text(const LinearCost& cost);

/// Steps of a chain that become one, or a single one that stays.
struct LinearPart {
  enum class Form { kept, conv, dense };
  size_t begin = 0, end = 0;  ///< places in the chain
  Form form = Form::kept;
  LinearCost cost;
};

/// The cost of a chain as it is.
LinearCost cost_of(const std::vector<LinearOp>& chain);

/// A chain cut into the parts that cost least together, in its order.
std::vector<LinearPart> cheapest_parts(const std::vector<LinearOp>& chain);

/// What all of a chain would cost as one operator, for people: why it is better left as it is.
std::string why_not_one(const std::vector<LinearOp>& chain);

}  // namespace convlab
