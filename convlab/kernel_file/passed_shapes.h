#pragma once

#include "convlab/conv/problem.h"
#include "convlab/kernel_file/source.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// The shapes that a file's interface can pass to it: a file of the course has no argument for padding, for example.
struct PassedShapes {
  bool strides = false;  ///< one stride for rows and columns
  bool square = false;   ///< one size for both sides of a filter

  /// Returns why the interface cannot pass this problem; nullopt if it can.
  Refusal refuses(const ConvProblem& problem) const;
};

/// For every kind but `own`.
PassedShapes passed_shapes(const KernelSource& source);

}  // namespace convlab
