// Chooses layouts for the values between the steps of a plan.

#include "convlab/plan/layouts.h"

#include <algorithm>

#include "convlab/model/shapes.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

/// Whether the node can be computed from an input in this layout, at least without epilogue and with nchw output.
/// `written` is the input's shape when it was written.
bool can_read(const PlanRequest& request, Layout layout, const Node& node, const Shape& written) {
  if (const auto* conv = std::get_if<ConvOp>(&node.op)) {
    const Shape& x = request.shape_of(node.inputs[0]);
    if (!keeps_order(layout) && written != x) return false;
    const ConvStep step{.problem = conv_problem(*conv, x, request.shape_of(node.inputs[1])), .input_layout = layout};
    return std::ranges::any_of(request.candidates, [&](const ConvKernel* kernel) {
      return kernel->layout == layout && !kernel->refuses(step, request.caps);
    });
  }
  if (!std::holds_alternative<GemmOp>(node.op)) return false;
  OpStep step{.op = node.op, .output = request.shape_of(node.output), .input_layout = layout, .written = written};
  for (const ValueId input : node.inputs) {
    step.inputs.push_back(request.shape_of(input));
    step.constant.push_back(request.graph.constants.contains(input));
  }
  return find_op_kernel(step, request.caps.kind, request.options.math) != nullptr;
}

/// Whether all consumers of the value, under any shape, can read it in this layout.
bool consumers_can_read(const PlanRequest& request, Layout layout, ValueId value) {
  const Graph& graph = request.graph;
  const Shape& written = request.shape_of(value);
  std::vector<ValueId> names{value};  // aliases of the value that are still to be checked
  while (!names.empty()) {
    const ValueId name = names.back();
    names.pop_back();
    const Shape& shape = request.shape_of(name);
    if (request.readers.is_output(name) || shape.empty() || shape[0] != request.images()) return false;
    for (const size_t reader : request.readers.of(name)) {
      const Node& node = graph.nodes[reader];
      if (node.inputs[0] != name) return false;
      if (is_alias(node.op)) {
        names.push_back(node.output);
      } else if (!can_read(request, layout, node, written)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<Layout> inner_layouts(int64_t images, const DeviceCaps& caps, const PlanOptions& options,
                                  const std::vector<const ConvKernel*>& candidates) {
  if (options.mode == PlanMode::layers || images == 0) return {};
  if (caps.kind != DeviceKind::cpu) {
    return options.math >= Math::fp16 ? std::vector{Layout::channel_blocks} : std::vector<Layout>{};
  }
  std::vector<Layout> layouts;
  if (images < kLeastImagesInLanes) return layouts;
  for (const ConvKernel* kernel : candidates) {
    const bool is_new = std::ranges::find(layouts, kernel->layout) == layouts.end();
    if (has_image_lanes(kernel->layout) && is_new) layouts.push_back(kernel->layout);
  }
  return layouts.empty() ? std::vector{Layout::image_lanes} : layouts;
}

Layout layout_for_readers(const PlanRequest& request, ValueId value) {
  const auto taken =
      std::ranges::find_if(request.layouts, [&](Layout layout) { return consumers_can_read(request, layout, value); });
  return taken == request.layouts.end() ? Layout::plain : *taken;
}

Layout op_output_layout(const PlanRequest& request, OpStep step, ValueId value) {
  step.output_layout = layout_for_readers(request, value);
  const bool written = find_op_kernel(step, request.caps.kind, request.options.math) != nullptr;
  return written ? step.output_layout : Layout::plain;
}

}  // namespace convlab
