#pragma once

#include "convlab/simt/worker.h"

namespace convlab::simt::internal {

/// Reports why the block cannot go on: no thread can run, and not all are done, because some thread waits for another
/// that never arrives.
void report_waiting(Worker& worker);

}  // namespace convlab::simt::internal
