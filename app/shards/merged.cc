// Reads and merges the Records of shares.

#include "app/shards/merged.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/measure/json_members.h"

namespace convlab::app {
namespace {

std::string share_text(const Part& part) { return fmt::format("{}/{}", part.shard.index, part.shard.count); }

/// Throws Error(bad_input) unless both shares are of the same run and launch.
void require_same(const Part& one, const Part& other) {
  const auto require = [&](bool same, const char* what, const auto& here, const auto& there) {
    if (same) return;
    throw bad_input("{} and {} are not of the same run: {} '{}' and '{}'", one.file.string(), other.file.string(), what,
                    here, there);
  };
  require(one.work == other.work, "command", one.work, other.work);
  require(one.shard.count == other.shard.count, "number of shares", one.shard.count, other.shard.count);
  require(one.of == other.of, "total number of images", one.of, other.of);
  require(one.launch == other.launch, "launch", one.launch, other.launch);
}

/// Throws Error(bad_input) unless each share is there once. `parts` are sorted.
void require_all(const std::vector<Part>& parts) {
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].shard.index != parts[i - 1].shard.index) continue;
    throw bad_input("{} and {} are the same share, {}", parts[i - 1].file.string(), parts[i].file.string(),
                    share_text(parts[i]));
  }
  const int64_t count = parts.front().shard.count;
  if (std::cmp_equal(parts.size(), count)) return;
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> missing;
  auto part = parts.begin();
  for (int64_t index = 0; index < count && missing.size() < kMostNamed; ++index) {
    if (part != parts.end() && part->shard.index == index) {
      ++part;
    } else {
      missing.push_back(fmt::format("{}/{}", index, count));
    }
  }
  throw bad_input("{} of {} shares are missing: {}{}", count - std::ssize(parts), count, fmt::join(missing, ", "),
                  count - std::ssize(parts) > std::ssize(missing) ? ", ..." : "");
}

/// Returns the seconds that a share took, without loading.
double seconds_of(const Json& record) {
  for (const char* const name : {"network_s", "seconds"}) {
    if (record.contains(name) && record[name].is_number()) return record[name].get<double>();
  }
  return 0;
}

}  // namespace

Part::Part(Json json) : record(std::make_shared<Json>(std::move(json))) {}

Part read_part(const std::filesystem::path& path) {
  Part part(parse_json(read_text(path), path.string()));
  part.file = path;
  const JsonMembers record(*part.record, path.string());
  if (!record.has("shard")) {
    throw bad_input(
        "{}: not a share of a run; 'convlab run' and 'convlab infer' write one with --shard, or under mpirun or srun",
        path.string());
  }
  const JsonMembers shard = record.object("shard");
  shard.read("index", part.shard.index);
  shard.read("count", part.shard.count);
  shard.read("first", part.first);
  shard.read("images", part.images);
  shard.read("of", part.of);
  shard.read("work", part.work);
  shard.read("launch", part.launch);
  shard.read("host", part.host);
  shard.read("device", part.device);
  record.read("model", part.model);
  record.read("device", part.kind);
  record.read("math", part.math);
  record.read("plan", part.plan);
  int64_t images = 0;
  if (record.has("output_shape")) {  // of `infer`
    const Json& shape = (*part.record)["output_shape"];
    if (shape.is_array() && !shape.empty() && shape[0].is_number_integer()) images = shape[0].get<int64_t>();
  } else {
    record.read("images", images);
    record.read("right", part.right.emplace());
  }
  const Shard& place = part.shard;
  const bool placed = place.count >= 1 && place.count <= kMostShards && place.index >= 0 && place.index < place.count &&
                      part.of >= 0 && part.of <= kMostShardedImages;
  if (!placed || part.first != place.first(part.of) || part.images != place.images(part.of) || images != part.images) {
    throw bad_input("{}: {} images from image {} on do not match share {} of {} images", path.string(), images,
                    part.first, share_text(part), part.of);
  }
  if (!part.right) return part;
  if (*part.right < 0 || *part.right > images) {
    throw bad_input("{}: right must be between 0 and {}, got {}", path.string(), images, *part.right);
  }
  const size_t labels = record.has("labels") ? (*part.record)["labels"].size() : 0;
  if (std::cmp_not_equal(labels, images))
    throw bad_input("{}: expected {} labels, one per image, got {}", path.string(), images, labels);
  return part;
}

void require_one_work(std::vector<Part>& parts) {
  std::ranges::sort(parts, {}, [](const Part& part) { return part.shard.index; });
  for (const Part& part : parts) require_same(parts.front(), part);
  require_all(parts);
}

std::optional<double> write_merged(const std::vector<Part>& parts, Output& output) {
  const Part& one = parts.front();
  Json shares = Json::array(), labels = Json::array();
  int64_t images = 0, right = 0;
  double seconds = 0;
  output.print("{:>9}  {:>10}  {:>10}  {:>10}  {:>12}  {}\n", "share", "from image", "images",
               one.right ? "correct" : "", "time (ms)", "host, device");
  for (const Part& part : parts) {
    const Json& record = *part.record;
    const double took = seconds_of(record);
    Json share{{"index", part.shard.index}, {"first", part.first},   {"images", part.images},
               {"host", part.host},         {"device", part.device}, {"seconds", took}};
    if (part.right) {
      share["right"] = *part.right;
      right += *part.right;
      labels.insert(labels.end(), record["labels"].begin(), record["labels"].end());
    }
    shares.push_back(std::move(share));
    images += part.images;
    seconds = std::max(seconds, took);
    output.print("{:>9}  {:>10}  {:>10}  {:>10}  {:>12.3f}  {}, {}\n", share_text(part), part.first, part.images,
                 part.right ? std::to_string(*part.right) : "", took * 1e3, part.host, part.device);
  }
  const double rate = seconds > 0 ? static_cast<double>(images) / seconds : 0;
  Json all{{"command", output.command()},
           {"work", one.work},
           {"model", one.model},
           {"device", one.kind},
           {"math", one.math},
           {"plan", one.plan},
           {"images", images}};
  output.print("\n");
  std::optional<double> accuracy;
  if (one.right) {
    accuracy = static_cast<double>(right) / static_cast<double>(images);
    all["right"] = right;
    all["accuracy"] = *accuracy;
    output.print("{} of {} images are correct: accuracy {}\n", right, images, *accuracy);
  }
  output.print("{} images; the slowest share took {:.3f} ms: {:.0f} images/s\n", images, seconds * 1e3, rate);
  all["seconds"] = seconds;
  all["images_per_s"] = rate;
  all["launch"] = one.launch;
  all["shares"] = std::move(shares);
  if (one.right) all["labels"] = std::move(labels);
  output.json(all);
  return accuracy;
}

}  // namespace convlab::app
