#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "app/shards/shard.h"

namespace CLI {
class App;
}

namespace convlab::app {

/// Returns "result.2-of-4.json" for "result.json": the file of process 2 of 4 that were launched together.
std::filesystem::path part_path(const std::filesystem::path& path, const Shard& shard);

/// Returns `work` with a hash of the contents of those of `names` that are files: the same name may refer to a
/// different file later.
std::string with_contents(std::string work, const std::vector<std::string>& names);

/// One process's part in a command that several processes compute: its share of the images, its Record, and the merged
/// Record.
///
/// Each process of a launch writes its own Record next to the file of --json. The last one to finish finds all others
/// there and writes the merged Record: no process waits for one that died.
class Share {
 public:
  /// `work`: describes what is computed, the same for all processes; ignored if there is only one. Redirects `output`
  /// to this process's file, and suppresses the text of all but the first process of a launch. Throws Error(bad_input)
  /// if a launch's Record would go to standard output.
  Share(const Shard& shard, std::string work, Output& output);

  const Shard& shard() const { return shard_; }

  /// With `resume`, returns whether there already is a Record of this share of the same work: it then counts as this
  /// launch's, and only finish() is left to do. Otherwise deletes what an earlier launch left, so that it is not
  /// mistaken for a result of this launch.
  bool done_before(bool resume, Output& output);

  /// Adds the member "shard" to the Record. `all_images`: number of images of all shares; `device`: name of the device
  /// that computed this one. Does nothing if there is only one process.
  void add_to(Json& record, int64_t all_images, const std::string& device) const;

  /// Call it after writing the Record. If no other share is missing, writes the merged Record and prints its summary.
  /// Returns the accuracy of all images, if known.
  std::optional<double> finish(Output& output) const;

 private:
  Shard shard_;
  std::string work_;
  std::filesystem::path whole_;  ///< value of --json; empty if not given
};

}  // namespace convlab::app
