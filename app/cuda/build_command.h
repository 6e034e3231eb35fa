#pragma once

#include "app/cuda/cuda_options.h"

namespace convlab::app {

/// Makes what the options ask for, as nvcc does: a program, objects, an archive, a shared library, or the rules of
/// their headers. Throws Error(bad_input) if a source does not compile or an output cannot be written.
void build(const CudaOptions& options);

}  // namespace convlab::app
