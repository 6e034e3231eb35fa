// Looks up the choices of a plan file.

#include "convlab/plan/choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/error.h"

namespace convlab {
namespace {

std::string listed(InputShapes shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + to_text(shape);
  return text;
}

}  // namespace

const PlanChoice& PlanChoices::of(InputShapes inputs) const {
  const auto found =
      std::ranges::find_if(plans, [&](const PlanChoice& plan) { return std::ranges::equal(plan.inputs, inputs); });
  if (found != plans.end()) return *found;
  std::string known;
  for (const PlanChoice& plan : plans) known += (known.empty() ? "" : "; ") + listed(plan.inputs);
  throw bad_input("{}: no plan for inputs of {}; the file has {}; use one of these or tune again", place,
                  listed(inputs), known);
}

std::string PlanChoices::at(int line) const { return fmt::format("{}: line {}", place, line); }

}  // namespace convlab
