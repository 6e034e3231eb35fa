#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/compute_options.h"
#include "app/networks/image_inputs.h"
#include "app/results/output.h"
#include "app/shards/share.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

/// The options of `convlab infer` for files that are larger than memory.
struct StreamOptions {
  bool on = false;
  bool resume = false;   ///< continue an interrupted run
  bool classes = false;  ///< one class per image instead of the model's output
};

void add_stream_options(CLI::App& parser, StreamOptions& options);

/// The arguments of stream_infer().
struct StreamRequest {
  std::string model;
  const std::vector<std::string>& inputs;  ///< one file; empty if `images` has a file, folder or archive
  const ImageOptions& images;
  std::string output;
  const ComputeOptions& compute;
  PlanMode plan;
  int64_t batch;  ///< 0: not given
  StreamOptions options;
  const Share& share;  ///< of the images; the others are neither read nor in the results
};

/// Computes a model on one file, folder or archive of images in bounded memory, and writes one row of results per
/// image. Throws Error(bad_input) if the request has several inputs or no .npy output, if the model does not process
/// each image independently, or if something cannot be read or written; the completed rows then stay in OUTPUT.part, to
/// be resumed (see PartFile).
void stream_infer(const StreamRequest& request, Output& output);

}  // namespace convlab::app
