#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convlab/rewrite/linear.h"

namespace convlab {

/// The cost of linear operators per image.
struct LinearCost {
  double multiply_adds = 0, bytes = 0;  ///< bytes that are moved

  LinearCost operator+(const LinearCost& other) const {
    return {multiply_adds + other.multiply_adds, bytes + other.bytes};
  }

  /// Returns the cost in multiply-adds.
  double total() const;
};

/// Returns "0.35 million multiply-adds and 12.1 kB per image".
std::string to_text(const LinearCost& cost);

/// Steps of a chain that become one operator, or a single step that stays.
struct LinearPart {
  enum class Form { kept, conv, dense };
  size_t begin = 0, end = 0;  ///< range of indices in the chain
  Form form = Form::kept;
  LinearCost cost;
};

/// Returns the cost of a chain without folding.
LinearCost cost_of(const std::vector<LinearOp>& chain);

/// Partitions a chain into the parts with the lowest total cost, in order.
std::vector<LinearPart> cheapest_parts(const std::vector<LinearOp>& chain);

/// Returns why the whole chain is not one operator, for people: its cost, or the limit that it exceeds.
std::string why_not_one(const std::vector<LinearOp>& chain);

}  // namespace convlab
