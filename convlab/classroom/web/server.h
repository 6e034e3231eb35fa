#pragma once

#include <functional>
#include <string>

#include "convlab/classroom/web/class_site.h"

namespace convlab::classroom {

struct ServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;  ///< 0: any free port
  /// Called with the port when the server accepts connections.
  std::function<void(int port)> ready;
};

/// Serves a site over HTTP until the process ends. Each connection carries one request, with limits (connections.h).
/// Throws Error(bad_input) if it cannot listen.
void serve(const Site& site, const ServerOptions& options);

}  // namespace convlab::classroom
