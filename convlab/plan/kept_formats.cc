// Decides in which formats a plan keeps values between its steps.

#include "convlab/plan/kept_formats.h"

#include <algorithm>

#include "convlab/conv/problem.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

bool one_pixel_or_flat(const Shape& shape) { return shape.size() == 2 || one_pixel(shape); }

}  // namespace

bool fits_channels(const Shape& shape) { return shape.size() == 4 && shape[1] > 0 && shape[1] % kChannelLanes == 0; }

Format channel_format(const PlanRequest& request) {
  const PlanOptions& options = request.options;
  if (options.mode == PlanMode::layers || request.images() == 0) return kNchw;
  Format format = kNchw;
  if (request.caps.runs_cuda()) {
    format = options.math == Math::fp16 ? kNhwcF16 : kNhwc;
  } else if (options.math == Math::bf16 && has_unit(Bf16Unit::avx512_bf16)) {
    format = kNhwcBf16;
  } else if (options.math == Math::fp32 || options.math == Math::bf16) {
    format = kNchw8c;  // without a bf16x2 instruction, fp32 sums are faster
  }
  const auto knows = [format](const Kernel* kernel) { return kernel->format == format; };
  return std::ranges::any_of(request.conv_kernels, knows) ? format : kNchw;
}

bool keeps_channels(const PlanRequest& request) {
  if (channel_format(request).order == Order::nchw) return false;
  double all = 0, wide = 0;
  for (const Node& node : request.graph.nodes) {
    const auto* op = std::get_if<ConvOp>(&node.op);
    if (op == nullptr) continue;
    const ConvProblem problem = conv_problem(*op, request.shape_of(node.inputs[0]), request.shape_of(node.inputs[1]));
    const bool whole = problem.c % kChannelLanes == 0 && problem.k % kChannelLanes == 0;
    all += problem.flops();
    if (whole && std::min(problem.c, problem.k) >= 16) wide += problem.flops();
  }
  return wide > all / 2;
}

bool is_of_bytes(const Op& op) {
  return std::holds_alternative<ByteConvOp>(op) || std::holds_alternative<ByteAddOp>(op) ||
         std::holds_alternative<ByteMeanOp>(op) || std::holds_alternative<ByteConcatOp>(op);
}

bool has_bytes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return is_of_bytes(node.op); });
}

bool is_read_as_bytes(const PlanRequest& request, ValueId value) {
  std::vector<ValueId> names{value};
  while (!names.empty()) {
    const ValueId name = names.back();
    names.pop_back();
    for (const size_t reader : request.readers.of(name)) {
      const Node& node = request.graph.nodes[reader];
      if (is_of_bytes(node.op)) return true;
      if (is_alias(node.op) || std::holds_alternative<PoolOp>(node.op)) names.push_back(node.output);
    }
  }
  return false;
}

bool same_in_bytes(const Shape& written, const Shape& shape) {
  if (written == shape) return true;
  return one_pixel_or_flat(written) && one_pixel_or_flat(shape) && written[0] == shape[0] && written[1] == shape[1];
}

}  // namespace convlab
