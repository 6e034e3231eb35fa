// Reads comparisons of networks with a framework from JSON.

#include "convlab/evidence/saved_networks.h"

#include "convlab/measure/json_members.h"

namespace convlab {

SavedNetworks saved_networks_from_json(const JsonMembers& from) {
  SavedNetworks networks;
  from.read("gpu", networks.gpu);
  from.read("peer", networks.peer);
  from.read("when", networks.when);
  from.objects("rows", [&](const JsonMembers& entry) {
    SavedNetworks::Row row;
    entry.read("work", row.work);
    entry.read("math", row.math);
    entry.object("convlab").read("ms", row.ms);
    entry.object("peer").read("ms", row.peer_ms);
    entry.object("peer").read("way", row.way);
    networks.rows.push_back(std::move(row));
  });
  return networks;
}

}  // namespace convlab
