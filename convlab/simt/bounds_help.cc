// Says what to do about an index outside of its array: is it a thread too many, a swapped dimension, or the size?

#include "convlab/simt/bounds_help.h"

#include <fmt/format.h>

#include "convlab/base/text.h"
#include "convlab/simt/element.h"
#include "convlab/simt/grid.h"
#include "convlab/simt/target.h"

namespace convlab::simt::internal {
namespace {

Label label_of(const Grid& grid, std::string text) {
  return {.place = place_of(*grid.module, {nullptr, grid.where}),
          .text = std::move(text),
          .subject = std::string(text_before(grid.kernel_name(), '<'))};
}

std::string to_text(const cuda::dim3& d) { return simt::to_text(Position{d.x, d.y, d.z}); }

/// Returns whether the grid is a row of threads, and this one has no output.
bool is_beyond_outputs(const Grid& grid, const RawFault& raw, const Position& block, int64_t outputs) {
  const bool is_row = grid.grid.y == 1 && grid.grid.z == 1 && grid.block.y == 1 && grid.block.z == 1;
  return is_row && outputs > 0 && int64_t{block.x} * grid.block_threads + raw.thread >= outputs;
}

}  // namespace

std::string bounds_help(const Grid& grid, const RawFault& raw, const Target& target, const Position& block) {
  if (!target.size_remedy.empty()) return target.size_remedy;
  if (target.offset < 0)
    return "possibly a subtraction in the index is wrong; otherwise guard the access: if (index >= 0)";
  const int64_t outputs = known_count("y"), threads = grid.blocks * grid.block_threads;
  if (is_beyond_outputs(grid, raw, block, outputs)) {
    return fmt::format("the grid has {} threads for {} output{}: let threads whose index is {} or more return", threads,
                       outputs, outputs == 1 ? "" : "s", outputs);
  }
  // A guard keeps the last threads of a block inside. If the first one is outside, the block itself is.
  if (raw.thread == 0 && raw.times > 1) {
    return "possibly a loop bound is wrong, or dimensions of the grid, arguments of the launch or factors of the index "
           "are swapped";
  }
  return "possibly a loop bound or the index is wrong; otherwise guard the access: if (index < size)";
}

Label launch_label(const Grid& grid) {
  const Position last{grid.grid.x - 1, grid.grid.y - 1, grid.grid.z - 1};
  return label_of(grid, fmt::format("grid {} x block {}: blockIdx goes up to {}", to_text(grid.grid),
                                    to_text(grid.block), simt::to_text(last)));
}

Label dynamic_shared_label(const Grid& grid, const RawFault& raw) {
  return label_of(grid, fmt::format("launched with {} bytes of dynamic shared memory; this access needs {}",
                                    grid.shared_bytes, raw.address + static_cast<uintptr_t>(raw.access_bytes)));
}

}  // namespace convlab::simt::internal
