// Stands in for event_seconds.cc in a build without CUDA.

#include "convlab/profile/overhead.h"

namespace convlab {

std::optional<double> event_seconds(ReadyModel&, const std::function<void()>&) { return {}; }

}  // namespace convlab
