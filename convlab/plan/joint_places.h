#pragma once

#include <cstdint>
#include <map>

#include "convlab/plan/request.h"

namespace convlab {

/// Whether a node concatenates channels that its inputs' steps can write directly to their parts of the output.
bool joins_channels(const PlanRequest& request, const Node& node);

/// Where a value is stored within concatenated channels.
struct JointPlace {
  ValueId joint;    ///< the output of the Concat that contains it
  int64_t channel;  ///< its first channel there
};

/// Returns the places of values that are concatenated along their channels, and of the outputs of Concat, in a plan
/// that keeps channels. If several Concat nodes consume a value, it belongs to the last one in graph order; the output
/// of another Concat may then be a part of that one's output.
std::map<ValueId, JointPlace> joint_places(const PlanRequest& request);

}  // namespace convlab
