#pragma once

#include <cstdint>

#include "app/networks/image_source.h"
#include "app/networks/part_file.h"
#include "convlab/session/ready_model.h"

namespace convlab::app {

/// A run over more images than fit into memory: its source, model and results.
struct ImageStream {
  ImageSource& source;
  ReadyModel& model;
  PartFile& results;
  int64_t chunk;     ///< images read, computed and written at a time
  ElementType type;  ///< of the results: float32 or an integer type
  bool classes;      ///< the model returns one class per image, not the model's output
};

/// Computes the images from `begin` up to, but not including, `end`, and appends a row for each to the results. Three
/// threads read, compute and write at the same time. Returns the seconds that the model computed. If an image cannot
/// be read, or something else fails, first writes all rows before it and then throws the Error.
double run_stream(const ImageStream& stream, int64_t begin, int64_t end);

}  // namespace convlab::app
