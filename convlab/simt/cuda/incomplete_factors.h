#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

/// Incomplete factorizations of square sparse matrices by rows, without fill-in.
namespace convlab::simt::cuda::runtime {

struct SparsePattern {
  struct Entry {
    int64_t column = 0;
    size_t at = 0;  ///< the index of its value
  };
  std::vector<std::vector<Entry>> rows;  ///< by column
  std::vector<int64_t> diagonal;         ///< the index of each row's value; -1 if the pattern lacks it

  SparsePattern(const std::vector<int64_t>& offsets, const std::vector<int64_t>& columns);
};

/// What the factorizations say about the diagonal: the first row without an element, or with 0; -1 if none.
struct SparsePivots {
  int64_t structural = -1, numeric = -1;
  bool is_boosted = false;
  double tolerance = 0;
  std::complex<double> boost;
};

/// Replace the values with those of L and U, and those of the lower triangle with L of L L^H.
template <class Number>
void factor_lu(const SparsePattern& pattern, std::vector<Number>& values, SparsePivots& pivots);
template <class Number>
void factor_cholesky(const SparsePattern& pattern, std::vector<Number>& values, SparsePivots& pivots);

}  // namespace convlab::simt::cuda::runtime
