#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/op.h"
#include "convlab/model/graph.h"

namespace convlab {

struct PlanChoices;

/// layers: each operator by itself, as the course timed them. fused: a convolution with its bias, pooling and
/// activation in one step, a dense layer with its activation, batch normalization folded into the weights. folded: as
/// fused, and chains of linear operators become one operator where that costs less (see fold_linear).
enum class PlanMode { layers, fused, folded };

std::string_view name_of(PlanMode mode);

struct PlanOptions {
  PlanMode mode = PlanMode::fused;
  Math math = Math::fp32;                ///< no convolution is computed less precisely than this
  std::string kernel;                    ///< one kernel for every convolution; "": the best that fits
  ElementType input = ElementType::f32;  ///< of the run's inputs: f32, or u8 (raw pixels, 0..255)
  /// Whether values lie in Layout::channel_lanes between steps, or in channel_layout(); absent: as keeps_channels()
  /// says.
  std::optional<bool> channel_lanes = {};
  std::shared_ptr<const PlanChoices> choices = {};  ///< what a plan file says: its kernels, and no search; null: none
};

/// How many images a batch needs for Layout::image_lanes to pay off: with fewer, too many lanes of the 16 are idle.
inline constexpr int64_t kLeastImagesInLanes = 12;

/// Where a step finds an array. The arena is the scratch memory that all steps share.
struct Location {
  enum class Place { input, output, constant, arena };
  Place place = Place::arena;
  int64_t at = 0;  ///< arena: bytes from its beginning; constant: its ValueId; input, output: its number

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
  std::variant<ConvStep, OpStep> what;
  const ConvKernel* conv = nullptr;        ///< the kernel of a ConvStep
  const OpKernel* op = nullptr;            ///< the kernel of an OpStep
  std::vector<const ConvKernel*> fitting;  ///< all that compute just this ConvStep, as the planner prefers them
  std::vector<Refused> refused;            ///< every other convolution kernel of the device; empty for an OpStep
  std::vector<Location>
      inputs;  ///< in the operator's order; of a ConvStep: x, w and, if it has them, bias and what it adds
  Location output;
  size_t prepared_bytes = 0;
  size_t workspace_bytes = 0;
  int64_t workspace_at = 0;  ///< in the arena

  const ConvStep* conv_step() const { return std::get_if<ConvStep>(&what); }
  const OpStep* op_step() const { return std::get_if<OpStep>(&what); }
  std::string_view kernel_name() const;

  static constexpr size_t kWeights = 1;  ///< among the inputs, where a step has weights

  /// Whether launches find the weights, which are a constant, in what has been prepared (see ConvKernel).
  bool packs_weights() const { return conv != nullptr ? conv->packs_weights : op->packs_weights; }

  /// "Conv+bias+max2x2/2+tanh", "Gemm+tanh", "Softmax"; "Copy" and "Convert" (pixels to float32) are the plan's own.
  std::string op_name() const;

  /// Floating-point operations of convolutions (direct method) and matrix multiplications; 0 for all others.
  double flops() const;
};

/// All decisions about one run of a graph on one device, for given shapes of its inputs: every kernel, address and
/// size. A value that prints; nothing in it owns memory of a device.
struct Plan {
  PlanOptions options;
  DeviceKind device = DeviceKind::cpu;
  std::vector<Shape> inputs, outputs;  ///< as the graph's
  std::vector<PlanStep> steps;
  int64_t arena_bytes = 0;
  bool channel_lanes = false;  ///< values lie in Layout::channel_lanes, or in channel_layout(), where they can
};

/// The plan of a graph that simplified() has made. Error(bad_input) where shapes do not fit, a forced kernel does not
/// exist or refuses a convolution, or options.choices do not fit; Error(unavailable) where no kernel of the device
/// computes a step.
Plan make_plan(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options);

/// The plan as a table for people, one line per step, then the refusals.
std::string to_text(const Plan& plan);

}  // namespace convlab
