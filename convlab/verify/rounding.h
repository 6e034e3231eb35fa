#pragma once

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

// Rounding errors that the models of compare.h and of verify/ops are made of; rounding_model() explains the numbers.

inline constexpr double kFloatUnit = 0x1p-24;  ///< unit roundoff: half a unit in the last place, relative

/// Errors of an arithmetic class: of a product, of an addition, of a subnormal operand; and over many elements.
struct ClassErrors {
  double product, addition, subnormal, relative_l2;
};
ClassErrors errors_of(Math math);

/// Returns the relative L2 error that correct fp32 sums of `terms` terms may show over this many outputs.
double error_of_random_sums(double terms, double outputs);

/// Returns a bound of an activation's slope.
double slope_of(const Activation& activation);

/// Returns the roundings of products in an activation.
double roundings_of(const Activation& activation);

/// Errors of an activation that is an elementary function; 0 for others.
struct ElementaryErrors {
  double absolute = 0, relative = 0;
};
ElementaryErrors elementary_errors(const Activation& activation);

}  // namespace convlab
