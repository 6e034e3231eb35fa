// Fuzzes planning: an imported ONNX model is simplified, folded and planned in every mode, for 2 images and for 16,
// enough for nchw16n. Nothing is run.

#include <algorithm>

#include "convlab/device/cpu.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/planner.h"
#include "convlab/rewrite/fold.h"
#include "convlab/rewrite/simplify.h"
#include "convlab/rewrite/split.h"
#include "fuzz/fuzz.h"

namespace convlab {
namespace {

/// Folding computes matrices as large as the arrays. A small file may legitimately need minutes, so such graphs are not
/// folded.
bool is_large(const Graph& graph, const Shape& input) {
  constexpr int64_t kMostElements = 1 << 20;
  return std::ranges::any_of(infer_shapes(graph, input),
                             [](const Shape& shape) { return element_count(shape) > kMostElements; });
}

void plan(const Graph& model, PlanMode mode, int64_t images, const DeviceCaps& caps, ThreadPool& threads) {
  Shape input = model.inputs[0].shape;
  for (int64_t& open : input) open = open == -1 ? images : open;
  why_not_split(model, input);
  Graph graph = simplified(model.clone(), input, mode != PlanMode::layers);
  if (mode == PlanMode::folded && !is_large(graph, input)) fold_linear(graph, input, threads);
  const Plan plan = make_plan(graph, input, caps, {.mode = mode});
  demand(!plan.steps.empty(), "something computes the output");
  demand(!to_text(plan).empty(), "it can be told");
  for (const PlanStep& step : plan.steps) {
    const bool in_arena = step.output.place != Location::Place::arena || step.output.at < plan.arena_bytes;
    demand(in_arena, "outputs lie in the arena");
  }
}

}  // namespace
}  // namespace convlab

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  static const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  static ThreadPool threads(1);
  refuse_or_take([&] {
    const Graph graph = import_onnx({data, size}, "input");
    for (const PlanMode mode : {PlanMode::layers, PlanMode::fused, PlanMode::folded}) {
      for (const int64_t images : {2, 16}) {
        refuse_or_take([&] { plan(graph, mode, images, device->caps(), threads); });
      }
    }
  });
  return 0;
}
