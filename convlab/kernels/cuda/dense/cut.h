#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"

namespace convlab {

inline constexpr int kDenseColumns = 160;   ///< columns of a block's tile: what one wgmma computes
inline constexpr int kDenseGroupRows = 64;  ///< rows that four warps compute
inline constexpr int kDenseTeams = 132;     ///< blocks that a product is partitioned for: an H200's multiprocessors

/// Stream-K partition of a matrix product. A tile of `tile_rows` rows and 160 columns takes `slices` steps along the K
/// dimension. All steps of all tiles, one tile after the other, are divided into `teams` contiguous ranges of equal
/// length, one per block, regardless of the tiles that they begin and end in, so that any number of rows keeps all
/// multiprocessors busy. What a team sums for one tile is a part; the parts of a tile are added in a fixed order
/// afterwards. The partition depends on the sizes alone, so that results are bit-identical on all devices.
struct DenseCut {
  int64_t rows = 0, columns = 0;
  int tile_rows = 0, row_tiles = 0, column_tiles = 0;
  int slices = 0;
  int teams = 0;

  constexpr int tiles() const { return row_tiles * column_tiles; }
  constexpr int64_t steps() const { return int64_t{tiles()} * slices; }
  constexpr int groups() const { return (tile_rows + kDenseGroupRows - 1) / kDenseGroupRows; }

  /// Returns the first step of a team; for `teams`, the one after the last step.
  constexpr int64_t begin(int team) const { return team * steps() / teams; }
  constexpr int team_of(int64_t step) const { return static_cast<int>(((step + 1) * teams - 1) / steps()); }

  constexpr int64_t first_row(int tile) const { return int64_t{tile / column_tiles} * tile_rows; }
  constexpr int first_column(int tile) const { return tile % column_tiles * kDenseColumns; }

  /// Returns the index of the part that `team` sums for `tile`; parts() is the number of indices.
  static constexpr int part(int team, int tile) { return team + tile; }
  constexpr int64_t parts() const { return int64_t{tiles()} + teams; }

  /// Returns the elements of a part: [group][column / 8][thread of 128][4].
  constexpr int64_t part_elements() const { return int64_t{groups()} * kDenseGroupRows * kDenseColumns; }
};

/// Returns the partition for blocks of up to `most_groups` groups of warps. A group takes `step_cycles` per step.
/// Minimizes an estimate of an H200's cycles; any partition gives correct results.
inline DenseCut cut_dense(int64_t rows, int64_t columns, int slices, int most_groups, int step_cycles) {
  constexpr double kMemory = 17.5;       // bytes of A that a multiprocessor loads per cycle
  constexpr double kCache = 30;          // bytes per cycle of data that other blocks have written
  constexpr double kLeastStep = 600;     // cycles of a step at least, because its share of B must be loaded, too
  constexpr double kPartsTogether = 12;  // parts that are read at once
  const int column_tiles = static_cast<int>(ceil_div(columns, kDenseColumns));
  const int64_t least = ceil_div(rows, most_groups * kDenseGroupRows);
  DenseCut best;
  double best_cycles = 0;
  for (int64_t row_tiles = least; row_tiles < least + 12; ++row_tiles) {
    DenseCut cut{.rows = rows,
                 .columns = columns,
                 .tile_rows = static_cast<int>(ceil_div(rows, row_tiles)),
                 .row_tiles = static_cast<int>(row_tiles),
                 .column_tiles = column_tiles,
                 .slices = slices};
    for (const int teams : {kDenseTeams, kDenseTeams / 2, kDenseTeams / 3}) {
      cut.teams = static_cast<int>(std::min<int64_t>(cut.steps(), teams));
      const double step = std::max({cut.tile_rows * 128 / kMemory, cut.groups() * step_cycles * 1.1, kLeastStep});
      const bool even = cut.tiles() % cut.teams == 0 || cut.teams % cut.tiles() == 0;
      const double bytes = static_cast<double>(cut.part_elements()) * 4;
      const double parts = even ? std::max(cut.teams, cut.tiles()) : cut.teams + cut.tiles();
      const double cycles = static_cast<double>(ceil_div(cut.steps(), cut.teams)) * step +
                            parts / cut.teams * bytes / kCache + parts * bytes / kDenseTeams / kCache +
                            parts / cut.tiles() / kPartsTogether * 700;
      if (best.teams != 0 && cycles >= best_cycles) continue;
      best = cut;
      best_cycles = cycles;
    }
  }
  return best;
}

}  // namespace convlab
