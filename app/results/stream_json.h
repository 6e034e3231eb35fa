#pragma once

#include <cstdint>
#include <string>

#include "app/results/output.h"
#include "app/shards/share.h"
#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

/// What `convlab infer --stream` did.
struct StreamResult {
  std::string model, input, output;
  Shape input_shape, output_shape;
  DeviceCaps device;
  Math math;
  PlanMode plan;
  int64_t batch, chunk;                              ///< images computed at a time; read and written at a time
  int64_t images, resumed;                           ///< computed by this run; rows that were there before
  double load_seconds = 0;                           ///< until the first image was read
  double seconds = 0;                                ///< from then on until the results were whole
  double engine_seconds = 0;                         ///< of these, while the engine computed
  int64_t memory_before_kb = 0, memory_most_kb = 0;  ///< resident before the model was loaded, and at most
};

/// Images a second; 0 where there were none.
double rate_of(int64_t images, double seconds);

/// `all_images`: of all shares.
void write_json(Output& output, const StreamResult& result, const Share& share, int64_t all_images);

}  // namespace convlab::app
