#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "convlab/simt/cuda/sparse_entries.h"

/// A triangular matrix of cuSPARSE as the analysis of a solve keeps it.
namespace convlab::simt::cuda::runtime {

class SparseTriangle {
 public:
  /// Loads op(A), which must be square.
  void analyze(const LibraryCall& call, const cusparseSpMatDescr& a, cusparseOperation_t op, const void* buffer);

  /// Replace the values of A; throw CallRefused before the analysis.
  void replace_values(const LibraryCall& call, const void* values);
  void replace_diagonal(const LibraryCall& call, const void* diagonal);

  /// Throws CallRefused if this is not the analysis of op(A), and reports arrays that the device can no longer access.
  void check(const LibraryCall& call, const cusparseSpMatDescr& a, cusparseOperation_t op) const;

  /// Replaces the columns, one after the other, with the solutions for them.
  template <class Number>
  void solve(std::vector<Number>& columns) const;

 private:
  struct Entry {
    size_t column = 0;
    size_t source = 0;  ///< the index of its value in A
  };
  void require_analysis(const LibraryCall& call) const;
  template <class Number>
  Number value_at(size_t source) const;

  cusparseSpMatDescr a_{};
  cusparseOperation_t op_ = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const void* buffer_ = nullptr;
  bool is_analyzed_ = false, is_lower_ = true;  ///< of op(A)
  std::vector<std::vector<Entry>> rows_;        ///< of op(A), without the diagonal
  std::vector<std::vector<size_t>> diagonal_;   ///< the sources of each row's element
  std::vector<std::complex<double>> values_;    ///< of A
};

}  // namespace convlab::simt::cuda::runtime
