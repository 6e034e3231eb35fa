#pragma once

#include <string>
#include <vector>

namespace convlab {

class JsonMembers;

/// What bench/gpu_networks.py wrote: convlab's production kernels and networks on a GPU, beside a peer in the same run.
struct SavedNetworks {
  struct Row {
    std::string work, math;  ///< "fa19 network, folded"
    double ms = 0, peer_ms = 0;
    std::string way;  ///< the fastest way that the peer tried
  };
  std::string gpu, peer, when;
  std::vector<Row> rows;
};

/// Error(bad_input) with the place and the member that is wrong.
SavedNetworks saved_networks_from_json(const JsonMembers& from);

}  // namespace convlab
