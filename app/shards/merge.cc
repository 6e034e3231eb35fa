// convlab merge: the Records of all shares of a run, put together.

#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/results/output.h"
#include "app/shards/joined.h"
#include "app/shards/merged.h"

namespace convlab::app {
Action declare_merge(CLI::App& parser) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto rows = std::make_shared<std::string>();
  require(add_texts(parser, "RESULT.json", *files, 1, kAnyNumber, "",
                    "what each share of one 'convlab run' or 'convlab infer' wrote with --json"));
  add_text(parser, "--output", *rows, "Y.npy", "put the shares' outputs together, too, in the order of the images");
  return [files, rows](Output& output) {
    std::vector<Part> parts;
    for (const std::string& file : *files) parts.push_back(read_part(file));
    require_one_work(parts);
    if (!rows->empty()) {
      require_writable("--output", *rows);
      join_outputs(parts, *rows);
    }
    write_merged(parts, output);
  };
}

}  // namespace convlab::app
