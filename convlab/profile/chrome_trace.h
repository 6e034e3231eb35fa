#pragma once

#include <nlohmann/json_fwd.hpp>

#include "convlab/device/activity.h"

namespace convlab {

/// Returns the recording in the format of chrome://tracing and Perfetto: an array of events, in microseconds from the
/// start of the recording. Process 0 is the host, with a row for the program's parts and one per thread for its calls;
/// process 1 is the device, with one row per stream. An arrow leads from a call to the device activity that it caused.
nlohmann::ordered_json chrome_trace(const Recording& recording);

}  // namespace convlab
