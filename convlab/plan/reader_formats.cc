// Decides in which format a value suits the nodes that read it.

#include "convlab/plan/reader_formats.h"

#include <algorithm>

#include "convlab/kernels/conv_step.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/candidates.h"

namespace convlab {
namespace {

/// Whether the node can be computed from an input in this format, at least without epilogue and with nchw output.
/// `written` is the input's shape when it was written.
bool can_read(const PlanRequest& request, Format format, const Node& node, const Shape& written) {
  if (const auto* conv = std::get_if<ConvOp>(&node.op)) {
    const Shape& x = request.shape_of(node.inputs[0]);
    if (!info(format.order).reshapes_freely && written != x) return false;
    const ConvStep step{.problem = conv_problem(*conv, x, request.shape_of(node.inputs[1])), .input_format = format};
    return std::ranges::any_of(request.conv_kernels, [&](const Kernel* kernel) {
      return kernel->format == format && !kernel->refuses(step, request.caps);
    });
  }
  if (!std::holds_alternative<GemmOp>(node.op)) return false;
  Step step{.op = node.op, .outputs = {{.shape = request.shape_of(node.output)}}};
  for (const ValueId input : node.inputs) {
    step.inputs.push_back({.shape = request.shape_of(input), .constant = request.graph.constants.contains(input)});
  }
  step.inputs[0].format = format;
  step.inputs[0].written = written;
  return is_supported(request, step);
}

/// Whether all nodes that read the value, under any shape, support this format.
bool readers_support(const PlanRequest& request, Format format, ValueId value) {
  const Shape& written = request.shape_of(value);
  std::vector<ValueId> names{value};  // aliases of the value that are still to be checked
  while (!names.empty()) {
    const ValueId name = names.back();
    names.pop_back();
    const Shape& shape = request.shape_of(name);
    if (request.readers.is_output(name) || shape.empty() || shape[0] != request.images()) return false;
    for (const size_t reader : request.readers.of(name)) {
      const Node& node = request.graph.nodes[reader];
      if (node.inputs[0] != name) return false;
      if (is_alias(node.op)) {
        names.push_back(node.output);
      } else if (!can_read(request, format, node, written)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::vector<Format> reader_formats(const PlanRequest& request) {
  const PlanOptions& options = request.options;
  if (options.mode == PlanMode::layers || request.images() == 0) return {};
  if (request.caps.runs_cuda()) {
    return options.math >= Math::fp16 ? std::vector{kNchw8cF16} : std::vector<Format>{};
  }
  std::vector<Format> formats;
  if (request.images() < kLeastImagesInLanes) return formats;
  for (const Kernel* kernel : request.conv_kernels) {
    const bool is_new = std::ranges::find(formats, kernel->format) == formats.end();
    if (info(kernel->format.order).interleaves_images && is_new) formats.push_back(kernel->format);
  }
  return formats.empty() ? std::vector{kNchw16n} : formats;
}

Format format_for_readers(const PlanRequest& request, ValueId value) {
  const auto taken = std::ranges::find_if(request.reader_formats,
                                          [&](Format format) { return readers_support(request, format, value); });
  return taken == request.reader_formats.end() ? kNchw : *taken;
}

}  // namespace convlab
