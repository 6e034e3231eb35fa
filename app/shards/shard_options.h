#pragma once

#include <optional>

#include "app/options.h"
#include "app/shards/shard.h"

namespace convlab::app {

/// What commands that take a share of the images are told of it.
struct ShardOptions {
  std::optional<Shard> said;
  bool resume = false;

  /// What was said with --shard, or else launched_shard() of this process.
  Shard shard() const;
};

/// Adds --shard.
void add_shard(CLI::App& parser, ShardOptions& options);

}  // namespace convlab::app
