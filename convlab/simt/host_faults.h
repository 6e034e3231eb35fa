#pragma once

#include <vector>

#include "convlab/simt/fault.h"

/// Faults of the host code of kernel files.
namespace convlab::simt {

/// Returns the faults of the host code of kernel files since the last call; see watch_host_code(). They have no kernel,
/// block or thread.
std::vector<Fault> take_host_faults();

/// Throws FaultError with take_host_faults(), if there are any.
void throw_host_faults();

namespace internal {

/// Keeps a fault of host code. Of equal faults, keeps the first and counts the others.
void keep_host_fault(Fault fault);

}  // namespace internal
}  // namespace convlab::simt
