#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernels/conv_step.h"
#include "convlab/model/graph.h"
#include "convlab/plan/plan_options.h"

namespace convlab {

struct KernelChoice;

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
  Step what;
  const Kernel* kernel = nullptr;
  std::vector<const Kernel*> fitting;    ///< all that compute exactly this step, in order of preference
  const KernelChoice* choice = nullptr;  ///< the reason for `kernel` in options.choices; null: the planner chose it
  std::vector<Refused> refused;          ///< of a convolution: every other convolution kernel of the device
  std::vector<Location> inputs;          ///< in the order of what.inputs
  Location output;
  size_t prepared_bytes = 0;
  size_t workspace_bytes = 0;
  int64_t workspace_at = 0;  ///< byte offset in the arena

  bool is_conv() const { return convlab::is_conv(what); }

  static constexpr size_t kWeights = 1;  ///< index of the weights among the inputs, if a step has weights

  /// Returns "Conv+bias+max2x2/2+tanh", "Gemm+tanh", "Softmax"; "Copy" and "Convert" (pixels to float32) are steps that
  /// the plan adds.
  std::string op_name() const;
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

/// Returns a line per step: "conv1: input, constant 3, constant 4 -> arena 0, workspace arena 4096 of 512 bytes".
std::string locations_text(const Plan& plan);

}  // namespace convlab
