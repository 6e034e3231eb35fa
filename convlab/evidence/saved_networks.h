#pragma once

#include <string>
#include <vector>

namespace convlab {

class JsonMembers;

/// Output of bench/gpu_networks.py: convlab's production kernels and networks on a GPU, compared with a peer in the
/// same run.
struct SavedNetworks {
  struct Row {
    std::string work, math;  ///< "fa19 network, folded"
    double ms = 0, peer_ms = 0;
    std::string way;  ///< the peer's fastest mode
  };
  std::string gpu, peer, when;
  std::vector<Row> rows;
};

/// Throws Error(bad_input) with the location and the member that is wrong.
SavedNetworks saved_networks_from_json(const JsonMembers& from);

}  // namespace convlab
