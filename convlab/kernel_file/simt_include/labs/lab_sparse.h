#pragma once

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

/// Sparse matrices of labs.
namespace convlab::labs {

namespace internal {
template <class T>
T* new_array(size_t count) {
  return static_cast<T*>(std::malloc(std::max<size_t>(count, 1) * sizeof(T)));
}
}  // namespace internal

/// Converts a matrix of `rows` rows from compressed rows to jagged diagonals: rows sorted by length, the longest first,
/// and stored column by column. The arrays are allocated with malloc().
inline void csr_to_jds(int rows, const int* row_begin, const int* csr_column, const float* csr_data, int** row_order,
                       int** row_length, int** column_begin, int** jds_column, float** jds_data) {
  const auto length = [&](int row) { return row_begin[row + 1] - row_begin[row]; };
  std::vector<int> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return length(a) > length(b); });
  const int longest = rows == 0 ? 0 : length(order[0]);
  *row_order = internal::new_array<int>(order.size());
  *row_length = internal::new_array<int>(order.size());
  *column_begin = internal::new_array<int>(static_cast<size_t>(longest));
  *jds_column = internal::new_array<int>(static_cast<size_t>(row_begin[rows]));
  *jds_data = internal::new_array<float>(static_cast<size_t>(row_begin[rows]));
  for (int i = 0; i < rows; ++i) {
    (*row_order)[i] = order[i];
    (*row_length)[i] = length(order[i]);
  }
  int next = 0;
  for (int column = 0; column < longest; ++column) {
    (*column_begin)[column] = next;
    for (int i = 0; i < rows && length(order[i]) > column; ++i, ++next) {
      (*jds_column)[next] = csr_column[row_begin[order[i]] + column];
      (*jds_data)[next] = csr_data[row_begin[order[i]] + column];
    }
  }
}

}  // namespace convlab::labs
