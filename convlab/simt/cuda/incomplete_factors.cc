// Factors sparse matrices without fill-in: incomplete LU and Cholesky.

#include "convlab/simt/cuda/incomplete_factors.h"

#include <algorithm>
#include <cmath>

#include "convlab/simt/cuda/cublas_call.h"

namespace convlab::simt::cuda::runtime {
namespace {

/// For one row at a time, the index of the value in each column; -1 where the row has none.
class RowValues {
 public:
  explicit RowValues(const SparsePattern& pattern) : pattern_(pattern), at_(pattern.rows.size(), -1) {}

  void select(size_t row) {
    for (const auto& each : pattern_.rows[row_]) at_[static_cast<size_t>(each.column)] = -1;
    for (const auto& each : pattern_.rows[row]) at_[static_cast<size_t>(each.column)] = static_cast<int64_t>(each.at);
    row_ = row;
  }
  int64_t operator[](int64_t column) const { return at_[static_cast<size_t>(column)]; }

 private:
  const SparsePattern& pattern_;
  std::vector<int64_t> at_;
  size_t row_ = 0;
};

template <class Number>
Number diagonal_of(const SparsePattern& pattern, const std::vector<Number>& values, int64_t row) {
  const int64_t at = pattern.diagonal[static_cast<size_t>(row)];
  return at < 0 ? Number(0) : values[static_cast<size_t>(at)];
}

}  // namespace

SparsePattern::SparsePattern(const std::vector<int64_t>& offsets, const std::vector<int64_t>& columns)
    : rows(offsets.size() - 1), diagonal(offsets.size() - 1, -1) {
  for (size_t row = 0; row < rows.size(); ++row) {
    for (int64_t at = offsets[row]; at < offsets[row + 1]; ++at) {
      const int64_t column = columns[static_cast<size_t>(at)];
      rows[row].push_back({column, static_cast<size_t>(at)});
      if (column == static_cast<int64_t>(row)) diagonal[row] = at;
    }
    std::ranges::sort(rows[row], {}, &Entry::column);
  }
}

template <class Number>
void factor_lu(const SparsePattern& pattern, std::vector<Number>& values, SparsePivots& pivots) {
  RowValues in_row(pattern);
  for (size_t row = 0; row < pattern.rows.size(); ++row) {
    in_row.select(row);
    for (const auto& [k, at] : pattern.rows[row]) {
      if (k >= static_cast<int64_t>(row)) break;
      values[at] /= diagonal_of(pattern, values, k);
      for (const auto& each : pattern.rows[static_cast<size_t>(k)]) {
        const int64_t target = in_row[each.column];
        if (each.column > k && target >= 0) values[static_cast<size_t>(target)] -= values[at] * values[each.at];
      }
    }
    if (pattern.diagonal[row] < 0) continue;
    Number& pivot = values[static_cast<size_t>(pattern.diagonal[row])];
    if (pivots.is_boosted && std::abs(pivot) <= pivots.tolerance) pivot = number_of<Number>(pivots.boost);
    if (pivot == Number(0) && pivots.numeric < 0) pivots.numeric = static_cast<int64_t>(row);
  }
}

template <class Number>
void factor_cholesky(const SparsePattern& pattern, std::vector<Number>& values, SparsePivots& pivots) {
  RowValues in_row(pattern);
  for (size_t row = 0; row < pattern.rows.size(); ++row) {
    in_row.select(row);
    double norm = 0;
    for (const auto& [k, at] : pattern.rows[row]) {
      if (k >= static_cast<int64_t>(row)) break;
      for (const auto& each : pattern.rows[static_cast<size_t>(k)]) {
        if (each.column >= k) break;
        const int64_t left = in_row[each.column];
        if (left >= 0) values[at] -= values[static_cast<size_t>(left)] * conjugate(values[each.at]);
      }
      values[at] /= diagonal_of(pattern, values, k);
      norm += std::norm(values[at]);
    }
    if (pattern.diagonal[row] < 0) continue;
    Number& pivot = values[static_cast<size_t>(pattern.diagonal[row])];
    const double square = std::real(pivot) - norm;
    if (!(square > 0) && pivots.numeric < 0) pivots.numeric = static_cast<int64_t>(row);
    pivot = std::sqrt(square);
  }
}

#define CONVLAB_SIMT_FACTORS(Number)                                                  \
  template void factor_lu(const SparsePattern&, std::vector<Number>&, SparsePivots&); \
  template void factor_cholesky(const SparsePattern&, std::vector<Number>&, SparsePivots&);
CONVLAB_SIMT_FACTORS(double)
CONVLAB_SIMT_FACTORS(std::complex<double>)
#undef CONVLAB_SIMT_FACTORS

}  // namespace convlab::simt::cuda::runtime
