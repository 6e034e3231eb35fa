// Names and parses the options of a plan.

#include "convlab/plan/plan_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr std::initializer_list<Math> kMaths{Math::fp32, Math::tf32, Math::bf16x2, Math::bf16, Math::fp16};

/// Returns the value whose name_of() is the text. Throws Error(bad_input) that lists the names.
template <class Value>
Value parse_word(const std::string& text, const std::string& name, std::initializer_list<Value> values) {
  std::vector<std::string_view> words;
  for (const Value value : values) {
    if (text == name_of(value)) return value;
    words.push_back(name_of(value));
  }
  throw bad_input("{} must be one of {}, got '{}'", name, fmt::join(words, ", "), text);
}

}  // namespace

std::string_view name_of(PlanMode mode) {
  switch (mode) {
    case PlanMode::layers:
      return "layers";
    case PlanMode::fused:
      return "fused";
    case PlanMode::folded:
      return "folded";
  }
  return "?";
}

Math parse_math(const std::string& text, const std::string& name) { return parse_word(text, name, kMaths); }

PlanMode parse_plan(const std::string& text, const std::string& name) {
  return parse_word(text, name, {PlanMode::layers, PlanMode::fused, PlanMode::folded});
}

void require_math(Math math, DeviceKind kind, const std::string& name) {
  const auto exists = [kind](Math wanted) {
    return std::ranges::any_of(
        conv_kernels(), [&](const Kernel& each) { return each.info.device == kind && each.info.math == wanted; });
  };
  if (exists(math)) return;
  std::vector<std::string_view> others;
  for (const Math each : kMaths) {
    if (exists(each)) others.push_back(name_of(each));
  }
  if (others.empty()) return;  // a device without kernels: the planner's error names the node
  throw unavailable("{} {}: no convolution kernel on {} computes in {}; use {}", name, name_of(math), name_of(kind),
                    name_of(math), fmt::join(others, ", "));
}

}  // namespace convlab
