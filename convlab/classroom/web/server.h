#pragma once

#include <functional>
#include <string>

#include "convlab/classroom/web/site.h"

namespace convlab::classroom {

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  ///< 0: one that is free
  /// Is told the port once visitors are served.
  std::function<void(int port)> ready;
};

/// Serves a site by HTTP until the process ends. Each connection brings one request, which has limits (connections.h).
/// Error(bad_input) where it cannot listen.
void serve(const Site& site, const ServerOptions& options);

}  // namespace convlab::classroom
