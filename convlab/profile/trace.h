#pragma once

#include <nlohmann/json_fwd.hpp>

#include "convlab/device/activity.h"

namespace convlab {

/// The recording as chrome://tracing and Perfetto read it: an array of events in microseconds from the recording's
/// begin. Process 0 is the host, with a row for the program's parts and one per thread for its calls; process 1 is the
/// device, with one row per stream. An arrow leads from a call to what the device did for it.
nlohmann::ordered_json chrome_trace(const Recording& recording);

}  // namespace convlab
