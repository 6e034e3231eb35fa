// convlab class serve: serves the class as a web page.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/class/commands.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/store.h"
#include "convlab/classroom/web/server.h"

namespace convlab::app {
namespace {

struct ServeOptions {
  std::string folder, address = "127.0.0.1";
  int64_t port = 8080;
};

void serve_class(const ServeOptions& options, Output& output) {
  const classroom::Folder folder(options.folder);
  folder.require_owned("serve");
  {
    classroom::Store store(folder.database());  // creates tables that an older database lacks
    classroom::publish_rankings(folder, classroom::read_settings(folder), store);
  }
  const bool is_local =
      options.address.starts_with("127.") || options.address == "::1" || options.address == "localhost";
  if (!is_local)
    note("other machines can reach this page, but without encryption; put a TLS reverse proxy in front of it");
  const classroom::Site site(folder,
                             [](const std::string& line) { fmt::print(messages_stream(), "convlab: {}\n", line); });
  const auto ready = [&](int port) {
    const bool is_ipv6 = options.address.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + options.address + "]" : options.address;
    const std::string url = fmt::format("http://{}:{}/", host, port);
    output.print("{}\n", url);
    output.json({{"url", url}});
  };
  classroom::serve(site, {.address = options.address, .port = static_cast<int>(options.port), .ready = ready});
}

}  // namespace

Action declare_class_serve(CLI::App& options) {
  auto chosen = std::make_shared<ServeOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  constexpr int64_t kMostPort = 65535;
  add_int(options, "--port", chosen->port, 0, kMostPort,
          "port to listen on; 0 picks a free port; the URL is printed (default: 8080)");
  add_text(options, "--bind", chosen->address, "ADDRESS",
           "address to listen on; 127.0.0.1 is reachable from this machine only (default: 127.0.0.1)");
  return [chosen](Output& output) { serve_class(*chosen, output); };
}

}  // namespace convlab::app
