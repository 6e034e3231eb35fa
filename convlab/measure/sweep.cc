// Enumerates the tunings that a sweep measures.

#include "convlab/measure/sweep.h"

namespace convlab {

std::vector<std::vector<int>> tuning_grid(std::span<const Tunable> tunables) {
  std::vector<std::vector<int>> grid{{}};
  for (const Tunable& tunable : tunables) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& combination : grid) {
      for (const int value : tunable.values) {
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    }
    grid = std::move(longer);
  }
  return grid;
}

}  // namespace convlab
