#pragma once

#include <cstdint>

#include "app/networks/image_source.h"
#include "app/networks/part_file.h"
#include "convlab/device/device.h"
#include "convlab/engine/engine.h"

namespace convlab::app {

/// Images on their way through a network, of which only some are in memory at a time.
struct ImageStream {
  ImageSource& source;
  Device& device;
  Engine& engine;  ///< on that device
  PartFile& results;
  int64_t chunk;     ///< images read, computed and written at a time
  ElementType type;  ///< of the results: float32, or whole numbers
  bool classes;      ///< the engine gives a class an image, and not the model's own output
};

/// Computes images from `begin` up to `end`, and adds a row for each to the results. Three threads read, compute and
/// write at the same time. Says how many seconds the engine computed. Where an image cannot be read, or something else
/// fails, all rows before are in the results, and then the Error is thrown.
double run_stream(const ImageStream& stream, int64_t begin, int64_t end);

}  // namespace convlab::app
