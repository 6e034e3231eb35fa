#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/op.h"
#include "convlab/model/graph.h"
#include "convlab/plan/options.h"

namespace convlab {

/// Where a step finds an array. The arena is the scratch memory that all steps share.
struct Location {
  enum class Place { input, output, constant, arena };
  Place place = Place::arena;
  int64_t at = 0;  ///< arena: byte offset; constant: its ValueId; input, output: its index

  bool operator==(const Location&) const = default;
};

/// A convolution kernel that the step does not use, and why.
struct Refused {
  std::string_view kernel;
  std::string reason;
};

/// One launch of one kernel.
struct PlanStep {
  std::string name;  ///< the names of the nodes that it computes, joined by '+'
  std::variant<ConvStep, Step> what;
  const ConvKernel* conv = nullptr;        ///< of a ConvStep
  const OpKernel* op = nullptr;            ///< of an Step
  std::vector<const ConvKernel*> fitting;  ///< all that compute exactly this ConvStep, in order of preference
  std::vector<Refused> refused;            ///< every other convolution kernel of the device; empty for an Step
  std::vector<Location>
      inputs;  ///< in the operator's order; of a ConvStep: x, w and, if present, the bias and the value to add
  Location output;
  size_t prepared_bytes = 0;
  size_t workspace_bytes = 0;
  int64_t workspace_at = 0;  ///< byte offset in the arena

  const ConvStep* conv_step() const { return std::get_if<ConvStep>(&what); }
  const Step* op_step() const { return std::get_if<Step>(&what); }
  std::string_view kernel_name() const;

  static constexpr size_t kWeights = 1;  ///< index of the weights among the inputs, if a step has weights

  /// Whether launches read the weights, which are constant, from the prepared memory (see ConvKernel).
  bool packs_weights() const { return conv != nullptr ? conv->packs_weights : op->packs_weights; }

  /// Returns "Conv+bias+max2x2/2+tanh", "Gemm+tanh", "Softmax"; "Copy" and "Convert" (pixels to float32) are steps that
  /// the plan adds.
  std::string op_name() const;

  /// Returns the floating-point operations of convolutions (direct method) and matrix products; 0 for other operators.
  double flops() const;
};

/// All decisions about one run of a graph on one device, for given input shapes: every kernel, address and size. A
/// printable value that owns no device memory.
struct Plan {
  PlanOptions options;
  DeviceKind device = DeviceKind::cpu;
  std::vector<Shape> inputs, outputs;  ///< as in the graph
  std::vector<PlanStep> steps;
  int64_t arena_bytes = 0;
  bool channel_lanes = false;  ///< values are in channel_format() (nchw8c or nhwc) where they can be
};

/// Returns the plan as a table for people: one line per step, each followed by the kernels that were not used and why.
std::string to_text(const Plan& plan);

}  // namespace convlab
