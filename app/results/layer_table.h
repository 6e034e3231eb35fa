#pragma once

#include <optional>
#include <vector>

#include "app/results/output.h"
#include "app/runs/layer_result.h"
#include "convlab/measure/ceilings.h"

namespace convlab::app {

/// What each layer took, with its rate and its share of the bound. `ceilings`: each device's, where known.
void print_layers(Output& output, const std::vector<LayerResult>& layers, size_t devices,
                  const std::optional<Ceilings>& ceilings);

}  // namespace convlab::app
