// Reads simt's counts from JSON.

#include "convlab/evidence/saved_counts.h"

#include <algorithm>

#include "convlab/measure/json_members.h"

namespace convlab {
namespace {

ExampleRequest example_from(const JsonMembers& from) {
  ExampleRequest example;
  std::vector<double> lanes, offsets;
  from.read("cost", example.cost);
  from.read("lanes", lanes);
  from.read("offsets", offsets);
  constexpr double kMostBytes = 1e15;
  bool sound = lanes.size() == offsets.size();
  for (size_t i = 0; sound && i < lanes.size(); ++i) {
    sound = lanes[i] >= 0 && lanes[i] < kLanes && offsets[i] >= 0 && offsets[i] < kMostBytes;
    if (!sound) break;
    const auto lane = static_cast<size_t>(lanes[i]);
    example.lanes |= LaneMask{1} << lane;
    example.offsets[lane] = static_cast<int64_t>(offsets[i]);
  }
  if (!sound) throw bad_input("{}: 'lanes' and 'offsets' must have equal length and valid values", from.place());
  return example;
}

LineCounts line_from(const JsonMembers& from) {
  LineCounts line;
  from.read("where", line.where);
  from.read("array", line.array);
  line.space = from.choice("memory", {MemorySpace::global, MemorySpace::shared, MemorySpace::constant});
  line.type = from.choice("access", {AccessType::load, AccessType::store, AccessType::atomic});
  from.read("access_bytes", line.access_bytes);
  if (line.access_bytes < 1 || line.access_bytes > 16) {
    throw bad_input("{}: 'access_bytes' must be between 1 and 16, got {}", from.place(), line.access_bytes);
  }
  from.read("requests", line.counts.requests);
  from.read("lanes", line.counts.lanes);
  from.read("bytes", line.counts.bytes);
  from.read("sectors", line.counts.sectors);
  from.read("least_sectors", line.counts.least_sectors);
  from.read("wavefronts", line.counts.wavefronts);
  from.read("least_wavefronts", line.counts.least_wavefronts);
  if (from.has("example")) line.example = example_from(from.object("example"));
  return line;
}

}  // namespace

std::vector<SavedCounts> saved_counts_from_json(const JsonMembers& from) {
  SavedCounts common;
  from.read("model", common.model);
  from.read("images", common.images);
  if (common.images < 1) throw bad_input("{}: 'images' must be at least 1, got {}", from.place(), common.images);
  std::vector<SavedCounts> all;
  from.objects("kernels", [&](const JsonMembers& entry) {
    SavedCounts& saved = all.emplace_back(common);
    entry.read("layer", saved.layer);
    entry.read_kernel_name("kernel", saved.kernel);
    entry.read("function", saved.counts.kernel);
    entry.read("launches", saved.counts.launches);
    entry.read("warps", saved.counts.warps);
    entry.read("flops", saved.counts.flops);
    entry.read("active_lanes", saved.active_lanes);
    const JsonMembers occupancy = entry.object("occupancy");
    occupancy.read("blocks", saved.occupancy.blocks);
    occupancy.read("share", saved.occupancy.share);
    occupancy.read("limiter", saved.occupancy.limiter);
    entry.objects("lines", [&](const JsonMembers& line) { saved.counts.lines.push_back(line_from(line)); });
    entry.objects("lessons", [&](const JsonMembers& each) {
      KernelLesson& lesson = saved.lessons.emplace_back();
      each.read("where", lesson.where);
      each.read("text", lesson.text);
      each.read("share", lesson.share);
    });
  });
  return all;
}

}  // namespace convlab
