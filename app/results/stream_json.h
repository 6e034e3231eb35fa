#pragma once

#include <cstdint>
#include <string>

#include "app/results/output.h"
#include "app/shards/share.h"
#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

/// The result of `convlab infer --stream`.
struct StreamResult {
  std::string model, input, output;
  Shape input_shape, output_shape;
  DeviceCaps device;
  Math math;
  PlanMode plan;
  int64_t batch, chunk;                              ///< images computed at a time; read and written at a time
  int64_t images, resumed;                           ///< computed by this run; rows that an earlier run computed
  double load_seconds = 0;                           ///< until the first image was read
  double seconds = 0;                                ///< from then on until the results were complete
  double engine_seconds = 0;                         ///< of these, the time of the engine
  int64_t memory_before_kb = 0, memory_most_kb = 0;  ///< resident before the model was loaded, and peak
};

/// Returns images per second; 0 if `seconds` is 0.
double rate_of(int64_t images, double seconds);

/// `all_images`: number of images of all shares.
void write_json(Output& output, const StreamResult& result, const Share& share, int64_t all_images);

}  // namespace convlab::app
