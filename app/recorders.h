#pragma once

#include <memory>
#include <string>

#include "convlab/device/recorder.h"

namespace convlab::app {

/// A recorder of what the device that --device asks for does.
std::unique_ptr<Recorder> make_recorder(const std::string& device);

}  // namespace convlab::app
