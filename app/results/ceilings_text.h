#pragma once

#include <string>

#include "convlab/measure/ceilings.h"

namespace convlab::app {

/// Returns "fp32 103.7 GFLOP/s; memory copy 32.8 GB/s, in the 1.0 MiB cache 193.7 GB/s", with all rates of the machine.
std::string rates_text(const Ceilings& ceilings);

}  // namespace convlab::app
