#pragma once

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/plan/plan.h"

namespace convlab {

inline int64_t bytes_of(const Shape& shape, ElementType type) {
  return checked_mul(element_count(shape), static_cast<int64_t>(size_of(type)));
}

/// Whether the steps of two plans compute the same nodes, possibly with different kernels.
inline bool same_operators(const Plan& a, const Plan& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const PlanStep& x, const PlanStep& y) { return x.name == y.name; });
}

}  // namespace convlab
