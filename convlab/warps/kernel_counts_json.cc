// Writes kernels' counts as JSON.

#include "convlab/warps/kernel_counts_json.h"

#include <nlohmann/json.hpp>

#include <utility>

#include "convlab/warps/kernel_lessons.h"
#include "convlab/warps/occupancy.h"

namespace convlab {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const MemoryCounts& counts) {
  return {{"requests", counts.requests},
          {"lanes", counts.lanes},
          {"bytes", counts.bytes},
          {"sectors", counts.sectors},
          {"least_sectors", counts.least_sectors},
          {"wavefronts", counts.wavefronts},
          {"least_wavefronts", counts.least_wavefronts}};
}

/// Lists the active lanes and the offset that each accesses.
Json to_json(const ExampleRequest& example) {
  Json lanes = Json::array(), offsets = Json::array();
  for_each_lane(example.lanes, [&](int lane) {
    lanes.push_back(lane);
    offsets.push_back(example.offsets[static_cast<size_t>(lane)]);
  });
  return {{"cost", example.cost}, {"lanes", std::move(lanes)}, {"offsets", std::move(offsets)}};
}

Json totals_of(const KernelCounts& counts) {
  Json json = Json::object();
  for (const MemorySpace space : {MemorySpace::global, MemorySpace::shared, MemorySpace::constant}) {
    for (const AccessType type : {AccessType::load, AccessType::store, AccessType::atomic}) {
      const MemoryCounts total = counts.total(space, type);
      if (total.requests > 0) json[std::string(name_of(space))][std::string(name_of(type))] = to_json(total);
    }
  }
  return json;
}

Json to_json(const Occupancy& occupancy) {
  return {{"blocks", occupancy.blocks},
          {"warps", occupancy.warps},
          {"share", occupancy.share},
          {"limiter", occupancy.limiter}};
}

}  // namespace

Json to_json(const KernelCounts& counts) {
  Json lines = Json::array(), branches = Json::array(), lessons = Json::array();
  for (const LineCounts& line : counts.lines) {
    Json row = {{"where", line.where},
                {"array", line.array},
                {"memory", name_of(line.space)},
                {"access", name_of(line.type)},
                {"access_bytes", line.access_bytes}};
    row.update(to_json(line.counts));
    row["example"] = to_json(line.example);
    lines.push_back(std::move(row));
  }
  for (const BranchCounts& branch : counts.branches) {
    branches.push_back({{"where", branch.where}, {"warps", branch.warps}, {"diverged", branch.diverged}});
  }
  for (const KernelLesson& lesson : lessons_of(counts)) {
    lessons.push_back({{"where", lesson.where}, {"text", lesson.text}, {"share", lesson.share}});
  }
  return {{"function", counts.kernel},
          {"grid", counts.grid},
          {"block", counts.block},
          {"static_shared_bytes", counts.static_shared_bytes},
          {"dynamic_shared_bytes", counts.dynamic_shared_bytes},
          {"launches", counts.launches},
          {"warps", counts.warps},
          {"flops", counts.flops},
          {"tf32_flops", counts.tf32_flops},
          {"half_flops", counts.half_flops},
          {"instructions", counts.instructions},
          {"active_lanes", counts.active_lanes()},
          {"registers", counts.registers},
          {"occupancy", to_json(occupancy_of(counts))},
          {"memory", totals_of(counts)},
          {"lines", std::move(lines)},
          {"branches", std::move(branches)},
          {"lessons", std::move(lessons)}};
}

}  // namespace convlab
