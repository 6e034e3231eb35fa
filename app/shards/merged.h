#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "app/shards/shard.h"

namespace convlab::app {

/// The Record of one share of `run` or `infer`.
struct Part {
  explicit Part(Json json);

  std::filesystem::path file;
  Shard shard;
  int64_t first = 0, images = 0;  ///< the share's range of images
  int64_t of = 0;                 ///< number of images of all shares
  std::string work, launch, host;
  std::string device;  ///< "cpu", "cuda:1"
  std::string model, kind, math, plan;
  std::optional<int64_t> right;  ///< number of correct labels, only of `run`
  std::shared_ptr<Json> record;
};

/// Reads the Record of a share. Throws Error(bad_input) if the file is not one.
Part read_part(const std::filesystem::path& path);

/// Sorts the shares of a run. Throws Error(bad_input), which names the files, if they are not of the same run, or if
/// one is missing or appears twice.
void require_one_work(std::vector<Part>& parts);

/// Writes the merged Record and prints its summary. Returns the accuracy of all images if `run` counted correct labels.
std::optional<double> write_merged(const std::vector<Part>& parts, Output& output);

}  // namespace convlab::app
