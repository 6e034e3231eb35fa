#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/tensor/format.h"

namespace convlab {

struct PlanChoices;

/// layers: each operator is a step of its own, as the course timed them. fused: a convolution with its bias, pooling
/// and activation is one step, as is a dense layer with its activation; batch normalization is folded into the weights.
/// folded: as fused, and chains of linear operators become one operator if that costs less (see fold_linear).
enum class PlanMode { layers, fused, folded };

std::string_view name_of(PlanMode mode);

struct PlanOptions {
  PlanMode mode = PlanMode::fused;
  Math math = Math::fp32;                ///< the lowest precision allowed for a convolution
  std::string kernel;                    ///< one kernel for every convolution; "": the best that fits
  ElementType input = ElementType::f32;  ///< of the run's inputs: f32, or u8 (raw pixels, 0..255)
  /// Whether values are in channel_format() (nchw8c or nhwc) between steps; nullopt: decided by
  /// keeps_channels().
  std::optional<bool> channel_lanes = {};
  std::shared_ptr<const PlanChoices> choices = {};  ///< from a plan file: its kernels, without a search; null: none
};

/// The fewest images in a batch for which nchw16n pays off. With fewer, too many of the 16 lanes are idle.
inline constexpr int64_t kLeastImagesInLanes = 12;

// Parse what users write for the options of a plan. Messages begin with `name`, the option, such as "--math".

/// Parses "fp32", "tf32", ... Throws Error(bad_input) that lists them.
Math parse_math(const std::string& text, const std::string& name);

/// Parses "layers", "fused" or "folded". Throws Error(bad_input) that lists them.
PlanMode parse_plan(const std::string& text, const std::string& name);

/// Throws Error(unavailable) if convolution kernels of this kind of device exist, but none computes in `math`. A user
/// who requests faster, less precise arithmetic wants to see its effect; more precise arithmetic instead would mislead.
void require_math(Math math, DeviceKind kind, const std::string& name);

}  // namespace convlab
