// Derives lessons from the counts of a kernel.

#include "convlab/warps/kernel_lessons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convlab/warps/occupancy.h"

namespace convlab {
namespace {

constexpr double kLeastShare = 0.02;

double ratio(int64_t a, int64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

std::string_view verb(AccessType type) {
  if (type == AccessType::load) return "read";
  return type == AccessType::store ? "write" : "update";
}

std::string name_of_array(const LineCounts& line) {
  return line.array.empty() ? fmt::format("{} memory", name_of(line.space)) : line.array;
}

/// Returns "16" or "2.5".
std::string number(double value) {
  return std::abs(value - std::round(value)) < 0.05 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

KernelLesson scattered(const LineCounts& line, int64_t all_sectors) {
  const MemoryCounts& counts = line.counts;
  const double used = ratio(counts.bytes, counts.sectors * kSectorBytes);
  return {line.where,
          fmt::format("{}: uncoalesced access: {} lanes {} {} sectors ({:.1f} % used, {} would suffice); let adjacent "
                      "lanes {} adjacent addresses: index the innermost dimension with threadIdx.x",
                      name_of_array(line), number(ratio(counts.lanes, counts.requests)), verb(line.type),
                      number(ratio(counts.sectors, counts.requests)), 100 * used,
                      number(ratio(counts.least_sectors, counts.requests)), verb(line.type)),
          ratio(counts.sectors - counts.least_sectors, all_sectors)};
}

KernelLesson conflicting(const LineCounts& line, int64_t all_wavefronts) {
  const MemoryCounts& counts = line.counts;
  return {line.where,
          fmt::format("{}: {}-way bank conflict: {} wavefronts per request, {} would suffice; pad each row by one "
                      "word, or change which lanes access which elements",
                      name_of_array(line), number(ratio(counts.wavefronts, counts.least_wavefronts)),
                      number(ratio(counts.wavefronts, counts.requests)),
                      number(ratio(counts.least_wavefronts, counts.requests))),
          ratio(counts.bank_conflicts(), all_wavefronts)};
}

KernelLesson differing_constants(const LineCounts& line, int64_t all_wavefronts) {
  const MemoryCounts& counts = line.counts;
  return {line.where,
          fmt::format("{}: a warp reads {} addresses of constant memory per request, one after another; constant "
                      "memory is fast only if all lanes read the same address",
                      name_of_array(line), number(ratio(counts.wavefronts, counts.requests))),
          ratio(counts.wavefronts - counts.least_wavefronts, all_wavefronts)};
}

KernelLesson atomics(const LineCounts& line, int64_t all_sectors, int64_t all_wavefronts) {
  const MemoryCounts& counts = line.counts;
  return {line.where,
          fmt::format("{}: atomics: {} requests of {} lanes update {} addresses of {} memory; updates of one address "
                      "are serialized{}; add up within a warp or block first",
                      name_of_array(line), counts.requests, number(ratio(counts.lanes, counts.requests)),
                      number(ratio(counts.bytes / line.access_bytes, counts.requests)), name_of(line.space),
                      line.space == MemorySpace::global ? ", and all go through L2" : ""),
          line.space == MemorySpace::global ? ratio(counts.sectors, all_sectors)
                                            : ratio(counts.wavefronts, all_wavefronts)};
}

KernelLesson diverging(const BranchCounts& branch, const KernelCounts& counts) {
  return {branch.where,
          fmt::format(
              "branch divergence: {:.0f} % of the warps here take both paths, one after the other; on average "
              "{:.1f} of 32 lanes are active; let the lanes of a warp take the same path: fit blocks to the output, or "
              "branch on what they share",
              100 * std::min(1.0, ratio(branch.diverged, branch.warps)), counts.active_lanes()),
          (1 - counts.active_lanes() / kLanes) * 0.5};
}

std::string row(const LineCounts& line) {
  const MemoryCounts& counts = line.counts;
  const bool global = line.space == MemorySpace::global;
  return fmt::format("  {:<26} {:<22} {:<8} {:<6} {:>5} {:>12} {:>6.1f} {:>8} {:>6} {:>8}\n", line.where,
                     line.array.substr(0, 22), name_of(line.space), name_of(line.type), line.access_bytes,
                     counts.requests, ratio(counts.lanes, counts.requests),
                     global ? fmt::format("{:.2f}", ratio(counts.sectors, counts.requests)) : "-",
                     global ? fmt::format("{:.0f} %", 100 * ratio(counts.bytes, counts.sectors * kSectorBytes)) : "-",
                     global ? "-" : fmt::format("{:.2f}", ratio(counts.wavefronts, counts.least_wavefronts)));
}

}  // namespace

std::vector<KernelLesson> lessons_of(const KernelCounts& counts) {
  int64_t sectors = 0, shared = 0, constant = 0;
  for (const LineCounts& line : counts.lines) {
    sectors += line.counts.sectors;
    (line.space == MemorySpace::shared ? shared : constant) += line.counts.wavefronts;
  }
  std::vector<KernelLesson> lessons;
  for (const LineCounts& line : counts.lines) {
    if (line.type == AccessType::atomic) {
      lessons.push_back(atomics(line, sectors, shared));
    } else if (line.space == MemorySpace::global && line.counts.sectors > 2 * line.counts.least_sectors) {
      lessons.push_back(scattered(line, sectors));
    } else if (line.space == MemorySpace::shared && line.counts.bank_conflicts() > 0) {
      lessons.push_back(conflicting(line, shared));
    } else if (line.space == MemorySpace::constant && line.counts.wavefronts > line.counts.least_wavefronts) {
      lessons.push_back(differing_constants(line, constant));
    }
  }
  const auto worst = std::ranges::max_element(counts.branches, {}, &BranchCounts::diverged);
  if (worst != counts.branches.end()) lessons.push_back(diverging(*worst, counts));
  std::erase_if(lessons, [](const KernelLesson& lesson) { return lesson.share < kLeastShare; });
  std::ranges::stable_sort(lessons, std::ranges::greater(), &KernelLesson::share);
  return lessons;
}

std::string_view counts_legend() {
  return "bytes: that a lane accesses at a time; requests: of warps; lanes: active lanes per request\n"
         "sectors: of 32 bytes, per request; used: share of the sectors' bytes that the lanes access\n"
         "ways: wavefronts of shared or constant memory over the fewest possible; 1.00 has no bank conflicts\n";
}

std::string to_text(const KernelCounts& counts) {
  const auto extent = [](const std::array<unsigned, 3>& each) {
    return fmt::format("{}x{}x{}", each[0], each[1], each[2]);
  };
  int64_t bytes = 0;
  for (const LineCounts& line : counts.lines) {
    if (line.space == MemorySpace::global) bytes += line.counts.lanes * line.access_bytes;
  }
  std::string text = fmt::format(
      "{}: {} launch{} of {} blocks of {} threads, {} warps; {:.1f} of 32 lanes active\n  {:.4g} flops, {:.3g} flops "
      "per byte of global memory; {} + {} bytes of shared memory per block; {}\n",
      counts.kernel, counts.launches, counts.launches == 1 ? "" : "es", extent(counts.grid), extent(counts.block),
      counts.warps, counts.active_lanes(), static_cast<double>(counts.flops), ratio(counts.flops, bytes),
      counts.static_shared_bytes, counts.dynamic_shared_bytes, to_text(occupancy_of(counts), counts));
  text += fmt::format("  {:<26} {:<22} {:<8} {:<6} {:>5} {:>12} {:>6} {:>8} {:>6} {:>8}\n", "line", "array", "memory",
                      "access", "bytes", "requests", "lanes", "sectors", "used", "ways");
  for (const LineCounts& line : counts.lines) text += row(line);
  const std::vector<KernelLesson> lessons = lessons_of(counts);
  if (!lessons.empty()) text += "  Findings:\n";
  for (const KernelLesson& lesson : lessons) text += fmt::format("  - {}: {}\n", lesson.where, lesson.text);
  return text;
}

}  // namespace convlab
