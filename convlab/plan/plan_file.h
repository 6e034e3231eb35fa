#pragma once

#include <string>
#include <string_view>

#include "convlab/model/graph.h"
#include "convlab/plan/choices.h"

namespace convlab {

/// What a choice may say of itself. only: no other kernel computes the step. first: the planner's own choice, which was
/// the fastest. close: that one, too, though another seemed faster: not clearly. faster: another one, clearly faster.
inline constexpr std::string_view kChoiceReasons[] = {"only", "first", "close", "faster"};

/// What a plan was tuned for, and the choices: what `convlab tune` writes and --plan-file reads.
struct PlanFile {
  std::string version;      ///< convlab's
  std::string model;        ///< its name, for people
  std::string fingerprint;  ///< see fingerprint_of()
  std::string processor;    ///< its name and the best of its instruction sets, or the GPU's description
  DeviceKind device = DeviceKind::cpu;
  int threads = 1;
  Math math = Math::fp32;
  PlanMode mode = PlanMode::fused;
  ElementType input = ElementType::f32;
  int64_t batch = 1;  ///< images computed at a time
  PlanChoices choices;
};

/// What a plan keeps side by side: "channels" where Plan::channel_lanes is true, else "images", if anything.
std::string_view family_name(bool channel_lanes);

/// Tells whether two graphs have the same nodes, in the same order, with the same wires, and weights of the same
/// shapes. It depends neither on weights' values nor on the number of images.
std::string fingerprint_of(const Graph& graph);

/// The file's text: a header, then for each plan a line for each convolution, then how many they were and a checksum of
/// everything before. `comments`: lines for its readers, which go below the first.
std::string to_text(const PlanFile& file, const std::vector<std::string>& comments = {});

/// The inverse. Error(bad_input) that names `place` and the line, and what to do, for any text that to_text() has not
/// made.
PlanFile parse_plan_file(std::string_view text, const std::string& place);

/// The line of the header that says `key`, in a text that parse_plan_file() took.
int header_line(std::string_view text, std::string_view key);

}  // namespace convlab
