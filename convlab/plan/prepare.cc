// Prepares the input of the planner's passes.

#include "convlab/plan/prepare.h"

#include <optional>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/candidates.h"
#include "convlab/plan/kept_formats.h"
#include "convlab/plan/reader_formats.h"

namespace convlab {

PlanRequest plan_request(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options) {
  PlanRequest request{.graph = graph,
                      .caps = caps,
                      .options = options,
                      .shapes = infer_shapes(graph, inputs),
                      .conv_kernels = conv_candidates(caps, options),
                      .other_kernels = other_candidates(caps, options),
                      .readers = Readers(graph)};
  if (options.choices) request.chosen = &options.choices->of(inputs);
  const std::optional<bool> wanted = request.chosen != nullptr ? request.chosen->channel_lanes : options.channel_lanes;
  if (wanted.value_or(keeps_channels(request))) request.channels = channel_format(request);
  if (wanted.value_or(false) && !request.keeps_channels()) {
    throw bad_input("{}: a '{}' plan on {} in {} cannot keep values in nchw8c or nhwc", graph.name,
                    name_of(options.mode), name_of(caps.kind), name_of(options.math));
  }
  request.bytes = has_bytes(graph);
  if (!request.keeps_channels() && !request.bytes) request.reader_formats = reader_formats(request);
  return request;
}

}  // namespace convlab
