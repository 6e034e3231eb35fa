#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convlab/base/stage.h"
#include "convlab/engine/shared_weights.h"
#include "convlab/plan/plan.h"

namespace convlab {

struct EngineOptions {
  PlanOptions plan;
  int64_t batch = 0;                  ///< images per batch; 0: chosen, see choose_batch()
  StageObserver* observer = nullptr;  ///< see Engine::observe()
  int64_t scale_to = 0;         ///< side in pixels to which the device scales images; 0: images have the model's size
  bool labels = false;          ///< the output is one label per image (see ArgMaxOp), not the model's scores
  bool pipelined = true;        ///< overlap upload and computation, and replay launches; false: run serially
  std::vector<int64_t> chunks;  ///< images per chunk, for batches of their sum; empty: chosen, see chunk_sizes()
  bool same_count = false;      ///< all runs have the number of images that the engine is made for; see ReadyPlans
  bool at_once = false;         ///< run all images as one batch, whatever `batch` says; see Engine
  bool must_split = false;      ///< throw Error(bad_input) if the model does not compute each image independently
  std::shared_ptr<SharedWeights> weights = {};  ///< shared by engines of the same model; null: not shared
};

}  // namespace convlab
