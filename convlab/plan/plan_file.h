#pragma once

#include <string>
#include <string_view>

#include "convlab/model/graph.h"
#include "convlab/plan/choices.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// The reasons for a choice. only: no other kernel computes the step. first: the planner's own choice was the fastest.
/// close: the planner's own choice, although another kernel seemed faster, but not clearly. faster: another kernel was
/// clearly faster.
inline constexpr std::string_view kChoiceReasons[] = {"only", "first", "close", "faster"};

/// What a plan was tuned for, and its choices. `convlab tune` writes it and --plan-file reads it.
struct PlanFile {
  std::string version;      ///< version of convlab
  std::string model;        ///< model name, for people
  std::string fingerprint;  ///< see fingerprint_of()
  std::string processor;    ///< its name and best instruction set, or the GPU's description
  DeviceKind device = DeviceKind::cpu;
  int threads = 1;
  Math math = Math::fp32;
  PlanMode mode = PlanMode::fused;
  ElementType input = ElementType::f32;
  int64_t batch = 1;  ///< images per run
  PlanChoices choices;
};

/// Returns "channels" if Plan::channel_lanes is true, otherwise "images".
std::string_view family_name(bool channel_lanes);

/// Returns a hash that is equal for two graphs if they have the same nodes in the same order, with the same
/// connections, and weights of the same shapes. It depends neither on the weights' values nor on the batch size.
std::string fingerprint_of(const Graph& graph);

/// Returns the text of the file: a header; for each plan a line per convolution; then the number of convolutions and a
/// checksum of all text before it. `comments` are lines for people; they follow the first line.
std::string to_text(const PlanFile& file, const std::vector<std::string>& comments = {});

/// Parses the text of to_text(). Throws Error(bad_input) that names `place` and the line, and says what to do, for any
/// other text.
PlanFile parse_plan_file(std::string_view text, const std::string& place);

/// Returns the number of the header line for `key`, in a text that parse_plan_file() accepts.
int header_line(std::string_view text, std::string_view key);

}  // namespace convlab
