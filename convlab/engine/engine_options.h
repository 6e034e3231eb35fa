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
  int64_t batch = 0;                  ///< images a batch; 0: as many as fit into an arena of bounded size
  StageObserver* observer = nullptr;  ///< see Engine::observe()
  int64_t scale_to = 0;         ///< side in pixels to which the device scales images; 0: images have the model's size
  bool labels = false;          ///< the output is a label an image (see ArgMaxOp), not the model's scores
  bool pipelined = true;        ///< uploads beside computing, launches replayed; false: one thing after another
  std::vector<int64_t> chunks;  ///< images by chunk of a batch of so many; empty: chosen, see chunk_sizes()
  bool same_count = false;      ///< all runs have as many images as the engine is made for; see ReadyPlans
  bool must_split = false;      ///< Error(bad_input) where the model does not compute each image by itself
  std::shared_ptr<SharedWeights> weights = {};  ///< shared with engines of the same model; null: with none
};

}  // namespace convlab
