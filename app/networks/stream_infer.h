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
  bool resume = false;   ///< go on with what an earlier run has left
  bool classes = false;  ///< a class an image in place of the model's output
};

void add_stream_options(CLI::App& parser, StreamOptions& options);

/// What is to be streamed.
struct StreamRequest {
  std::string model;
  const std::vector<std::string>& inputs;  ///< one, or a folder or archive in `images`
  const ImageOptions& images;
  std::string output;
  const ComputeOptions& compute;
  PlanMode plan;
  int64_t batch;  ///< 0: not said
  StreamOptions options;
  const Share& share;  ///< of the images: the others are neither read nor in the results
};

/// Computes a model on one file, folder or archive of images in bounded memory, and writes a row of results an image.
/// Error(bad_input) where that is not what is asked for, where the model does not compute each image by itself, and
/// where something cannot be read or written: then what was computed stays in OUTPUT.part, to be resumed (see
/// PartFile).
void stream_infer(const StreamRequest& request, Output& output);

}  // namespace convlab::app
