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
  int64_t first = 0, images = 0;  ///< of
  int64_t of = 0;                 ///< all images
  std::string work, launch, host;
  std::string device;  ///< "cpu", "cuda:1"
  std::string model, kind, math, plan;
  std::optional<int64_t> right;  ///< answers, of `run`
  std::shared_ptr<Json> record;
};

/// Error(bad_input) where the file is no such Record.
Part read_part(const std::filesystem::path& path);

/// Puts all shares of a work in order. Error(bad_input) that names the files where they are not of one work, or one is
/// missing or there twice.
void require_one_work(std::vector<Part>& parts);

/// Writes one Record of them, and prints its summary. Returns their accuracy, where right answers were counted.
std::optional<double> write_merged(const std::vector<Part>& parts, Output& output);

}  // namespace convlab::app
