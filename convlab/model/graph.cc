#include "convlab/model/graph.h"

namespace convlab {

std::string name_of(const Op&) { return "?"; }

}  // namespace convlab
