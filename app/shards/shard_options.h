#pragma once

#include <optional>

#include "app/option_parsers.h"
#include "app/shards/shard.h"

namespace convlab::app {

/// The options of commands that can compute a share of the images.
struct ShardOptions {
  std::optional<Shard> said;
  bool resume = false;

  /// Returns the share of --shard, or else launched_shard() of this process.
  Shard shard() const;
};

/// Adds --shard.
void add_shard(CLI::App& parser, ShardOptions& options);

}  // namespace convlab::app
