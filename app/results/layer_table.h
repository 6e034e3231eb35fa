#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "app/runs/layer_result.h"
#include "convlab/measure/ceilings.h"

namespace convlab::app {

/// Returns a layer's name for a table: whole if it has at most 40 bytes. Of a longer one, only the first of the nodes
/// that are computed together, and only its end: "...layer2.0/downsample/downsample.0/Conv".
std::string short_name(const std::string& layer);

/// Prints each layer's time, rate and share of its bound. `ceilings`: of each device, if known.
void print_layers(Output& output, const std::vector<LayerResult>& layers, size_t devices,
                  const std::optional<Ceilings>& ceilings);

}  // namespace convlab::app
