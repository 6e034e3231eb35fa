// Coordinates the Records of processes that compute shares of one run.

#include "app/shards/share.h"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/shards/merged.h"
#include "convlab/base/error.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/json.h"

namespace convlab::app {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

std::filesystem::path part_path(const std::filesystem::path& path, const Shard& shard) {
  std::filesystem::path part = path;
  part.replace_extension(fmt::format(".{}-of-{}{}", shard.index, shard.count, path.extension().string()));
  return part;
}

std::string with_contents(std::string work, const std::vector<std::string>& names) {
  Fingerprint sum;
  bool any = false;
  for (const std::string& name : names) {
    if (std::error_code error; !std::filesystem::is_regular_file(name, error)) continue;
    sum.add_file(name);
    any = true;
  }
  return any ? fmt::format("{} (files with the sum {})", work, sum.hex()) : work;
}

Share::Share(const Shard& shard, std::string work, Output& output) : shard_(shard), work_(std::move(work)) {
  if (!shard_.launched()) return;
  if (shard_.index > 0) output.say_nothing();
  if (!output.wants_json()) {
    if (shard_.index == 0) note("without --json FILE, the shares of {} are not merged", shard_.launch);
    return;
  }
  if (output.json_path() == "-")
    throw bad_input("--json - is not supported with {} processes; use a file", shard_.count);
  whole_ = output.json_path();
  output.write_json_to(part_path(whole_, shard_).string());
}

bool Share::done_before(bool resume, Output& output) {
  if (!whole_.empty()) std::filesystem::remove(whole_);
  if (shard_.whole() || !output.wants_json() || !std::filesystem::exists(output.json_path())) return false;
  if (!resume) {
    if (shard_.launched()) std::filesystem::remove(output.json_path());
    return false;
  }
  Part part = read_part(output.json_path());
  if (part.shard.index != shard_.index || part.shard.count != shard_.count || part.work != work_) return false;
  (*part.record)["shard"]["launch"] = shard_.launch;
  output.json(*part.record);
  note("share {}/{} is already computed: {}", shard_.index, shard_.count, output.json_path());
  return true;
}

void Share::add_to(Json& record, int64_t all_images, const std::string& device) const {
  if (shard_.whole()) return;
  record["shard"] = {{"index", shard_.index},
                     {"count", shard_.count},
                     {"first", shard_.first(all_images)},
                     {"images", shard_.images(all_images)},
                     {"of", all_images},
                     {"work", work_},
                     {"launch", shard_.launch},
                     {"host", host_name()},
                     {"device", device}};
}

std::optional<double> Share::finish(Output& output) const {
  if (whole_.empty()) return std::nullopt;
  std::vector<Part> parts;
  for (Shard other = shard_; std::cmp_less(parts.size(), shard_.count); parts.back().shard = other) {
    other.index = std::ssize(parts);
    const std::filesystem::path path = part_path(whole_, other);
    if (!std::filesystem::exists(path)) return std::nullopt;  // another process is still at work
    parts.push_back(read_part(path));
    // The Record is of an earlier launch: this launch's process is still at work.
    if (parts.back().launch != shard_.launch) return std::nullopt;
  }
  Output all(whole_.string(), output.command());
  require_one_work(parts);
  return write_merged(parts, all);
}

}  // namespace convlab::app
