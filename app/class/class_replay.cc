// convlab class replay: runs a request of the judge on a GPU; the judge starts it, and --help does not list it.

#include <memory>
#include <string>

#include "app/class/commands.h"
#include "convlab/judge/gpu_replay.h"

namespace convlab::app {

Action declare_class_replay(CLI::App& options) {
  auto request = std::make_shared<std::string>();
  require(add_text(options, "REQUEST", *request, "FILE", "request to run, as JSON"));
  return [request](Output&) { judge::replay_on_gpu(*request); };
}

}  // namespace convlab::app
