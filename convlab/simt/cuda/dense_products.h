#pragma once

#include <complex>
#include <cstdint>
#include <vector>

/// Dense matrices on the host, columns one after the other, and their products.
namespace convlab::simt::cuda::runtime {

/// Returns a * b, which are m x k and k x n. Each element's terms are added in the order of k.
std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m, int64_t n,
                            int64_t k);
std::vector<std::complex<double>> product(const std::vector<std::complex<double>>& a,
                                          const std::vector<std::complex<double>>& b, int64_t m, int64_t n, int64_t k);

/// Returns the transpose of a matrix with these rows and columns.
template <class Number>
std::vector<Number> transposed(const std::vector<Number>& matrix, int64_t rows, int64_t columns) {
  std::vector<Number> result(matrix.size());
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < rows; ++row) {
      result[static_cast<size_t>(column + row * columns)] = matrix[static_cast<size_t>(row + column * rows)];
    }
  }
  return result;
}

}  // namespace convlab::simt::cuda::runtime
