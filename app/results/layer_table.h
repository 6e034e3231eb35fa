#pragma once

#include <optional>
#include <vector>

#include "app/results/output.h"
#include "app/runs/layer_result.h"
#include "convlab/measure/ceilings.h"

namespace convlab::app {

/// Prints each layer's time, rate and share of its bound. `ceilings`: of each device, if known.
void print_layers(Output& output, const std::vector<LayerResult>& layers, size_t devices,
                  const std::optional<Ceilings>& ceilings);

}  // namespace convlab::app
