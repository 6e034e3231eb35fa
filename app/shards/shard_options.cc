// Implements the option --shard.

#include "app/shards/shard_options.h"

#include <cstdlib>

namespace convlab::app {

Shard ShardOptions::shard() const { return said ? *said : launched_shard(std::getenv); }

void add_shard(CLI::App& parser, ShardOptions& options) {
  add_parsed(
      parser, "--shard", "I/N",
      "compute share I (0 to N-1) of N of the images; 'convlab merge' merges the shares' --json files (default: all; "
      "under mpirun or srun, the process's own share)",
      [&options](const std::string& text, const std::string& name) { options.said = parse_shard(text, name); });
}

}  // namespace convlab::app
