// Finds values that can be written directly to their part of a concatenated array.

#include "convlab/plan/joint_places.h"

#include <algorithm>
#include <set>

#include "convlab/plan/kept_formats.h"

namespace convlab {

bool joins_channels(const PlanRequest& request, const Node& node) {
  const auto* concat = std::get_if<ConcatOp>(&node.op);
  if (concat == nullptr || !keeps(request, request.shape_of(node.output))) return false;
  if (concat->axis != 1 && concat->axis != -3) return false;
  return std::ranges::all_of(node.inputs, [&](ValueId input) { return fits_channels(request.shape_of(input)); });
}

std::map<ValueId, JointPlace> joint_places(const PlanRequest& request) {
  const Graph& graph = request.graph;
  std::set<ValueId> computed;  // outputs of nodes that are not aliases
  for (const Node& node : graph.nodes) {
    if (!is_alias(node.op)) computed.insert(node.output);
  }
  std::map<ValueId, JointPlace> places;
  for (auto place = graph.nodes.rbegin(); place != graph.nodes.rend(); ++place) {
    const Node& node = *place;
    if (!joins_channels(request, node)) continue;
    const auto first = places.find(node.inputs[0]);
    JointPlace next{node.output, 0};
    if (const auto own = places.find(node.output); own != places.end()) {
      next = own->second;
    } else if (first != places.end()) {
      // All inputs may be adjacent parts of another Concat's output.
      JointPlace at = first->second;
      const bool part = std::ranges::all_of(node.inputs, [&](ValueId input) {
        const auto place = places.find(input);
        const bool there =
            place != places.end() && place->second.joint == at.joint && place->second.channel == at.channel;
        at.channel += request.shape_of(input)[1];
        return there;
      });
      if (part) next = first->second;
    }
    places.emplace(node.output, next);
    for (const ValueId input : node.inputs) {
      if (computed.contains(input)) places.emplace(input, next);
      next.channel += request.shape_of(input)[1];
    }
  }
  return places;
}

}  // namespace convlab
