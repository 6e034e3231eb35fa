// Compares production kernels and whole networks on GPUs with a framework measured in the same run.

#include <fmt/format.h>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {

void add_networks(Page& page, const Contents& contents) {
  std::string html;
  for (const SavedNetworks& networks : contents.input.evidence.networks) {
    Table table(fmt::format("{}, compared with {}, {}", networks.gpu, networks.peer, networks.when.substr(0, 10)),
                {"work", "arithmetic", "convlab", "peer", "speedup", "fastest mode of the peer"});
    for (const SavedNetworks::Row& row : networks.rows) {
      table.row({text_cell(row.work), text_cell(row.math), number_cell(duration(row.ms)),
                 number_cell(duration(row.peer_ms)), number_cell(fmt::format("{:.1f}", row.peer_ms / row.ms)),
                 text_cell(row.way)});
    }
    html += table.html();
  }
  if (html.empty()) return;
  page.section("networks", "Production kernels and networks, compared with a framework", html);
}

}  // namespace convlab
