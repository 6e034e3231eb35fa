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

/// "result.2-of-4.json" of "result.json": what process 2 of 4 that were launched together writes.
std::filesystem::path part_path(const std::filesystem::path& path, const Shard& shard);

/// `work`, and a sum of the contents of those of `names` that are files: two networks may have one name, one after the
/// other.
std::string with_contents(std::string work, const std::vector<std::string>& names);

/// One process's part in a command that several processes compute: which images it takes, where its Record goes, and
/// the Record of all.
///
/// Each process of a launch writes a Record of its own beside the one that --json names. The last of them to be done
/// finds all others there, and writes that one: nobody waits for a process that died.
class Share {
 public:
  /// `work`: what is computed, in words that are the same for all processes; of the only process any. Takes `output` to
  /// this process's file; a launch's processes but the first print nothing. Error(bad_input) where a launch's Record
  /// would go to standard output.
  Share(const Shard& shard, std::string work, Output& output);

  const Shard& shard() const { return shard_; }

  /// With `resume`, whether there is a Record already of this share of the same work: it then counts as this launch's,
  /// and nothing is left to do but finish(). Otherwise what an earlier launch left is removed, so that nobody takes it
  /// for this one's.
  bool done_before(bool resume, Output& output);

  /// The member "shard" of the Record, of so many images in all, which the device of this name computed; no member for
  /// the only process.
  void add_to(Json& record, int64_t all_images, const std::string& device) const;

  /// Once the Record is written: writes the Record of all, and prints its summary, where no other share is missing.
  /// Returns the accuracy of all, where that is known.
  std::optional<double> finish(Output& output) const;

 private:
  Shard shard_;
  std::string work_;
  std::filesystem::path whole_;  ///< what --json said; empty: nothing
};

}  // namespace convlab::app
