#pragma once

#include <memory>
#include <string>

#include "convlab/device/recorder.h"

namespace convlab::app {

/// Returns a recorder for the device that --device names.
std::unique_ptr<Recorder> make_recorder(const std::string& device);

}  // namespace convlab::app
