#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "convlab/verify/oracle.h"

namespace convlab {

/// An output element; `n` is the index of an image of the layer.
struct ComparedElement {
  int64_t n, k, p, q;
  double expected, got, tolerance;
};

/// Returns the common mistake in convolutions that produces the value of every wrong element; "" if there is none. The
/// `right` ones are those of the same output, as far as they are not zero.
std::string mistake_of(const ConvStep& step, const OracleLayer& layer, std::span<const ComparedElement> wrong,
                       std::span<const ComparedElement> right);

}  // namespace convlab
