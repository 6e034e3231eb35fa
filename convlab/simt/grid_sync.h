#pragma once

#include "convlab/simt/where.h"

/// The barrier of all blocks of a cooperative launch, as a CUDA thread sees it.
namespace convlab::simt {

/// Waits for all threads of the grid. A fault if the launch is not cooperative, or if some threads never arrive.
void grid_barrier(Where where) noexcept;

/// Returns whether the running thread's launch is cooperative.
bool is_cooperative_launch() noexcept;

}  // namespace convlab::simt
