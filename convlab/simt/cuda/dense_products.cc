// Multiplies dense matrices on the host. CMakeLists.txt has it compiled with -O3, for its inner loops.

#include "convlab/simt/cuda/dense_products.h"

#include <algorithm>
#include <thread>

namespace convlab::simt::cuda::runtime {
namespace {

/// Adds a column of b's factors times the columns of a.
void add_columns(const double* __restrict a, const double* __restrict b, double* __restrict sums, int64_t m,
                 int64_t k) {
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const double* const column = a + i * m;
    const double first = b[i], second = b[i + 1], third = b[i + 2], fourth = b[i + 3];
    for (int64_t row = 0; row < m; ++row) {
      sums[row] = (((sums[row] + column[row] * first) + column[row + m] * second) + column[row + 2 * m] * third) +
                  column[row + 3 * m] * fourth;
    }
  }
  for (; i < k; ++i) {
    for (int64_t row = 0; row < m; ++row) sums[row] += a[i * m + row] * b[i];
  }
}

/// Written out because the multiplication of std::complex also treats infinities.
void add_columns(const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* sums, int64_t m,
                 int64_t k) {
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t row = 0; row < m; ++row) {
      const std::complex<double> x = a[i * m + row];
      sums[row] += std::complex<double>(x.real() * b[i].real() - x.imag() * b[i].imag(),
                                        x.real() * b[i].imag() + x.imag() * b[i].real());
    }
  }
}

template <class Number>
std::vector<Number> multiply(const std::vector<Number>& a, const std::vector<Number>& b, int64_t m, int64_t n,
                             int64_t k) {
  std::vector<Number> sums(static_cast<size_t>(m * n));
  const auto columns = [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; ++column) {
      add_columns(a.data(), b.data() + column * k, sums.data() + column * m, m, k);
    }
  };
  constexpr int64_t kWorthThreads = int64_t{1} << 22;  // some milliseconds
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t parts = m * n * k < kWorthThreads ? 1 : std::min(n, cores);
  std::vector<std::thread> threads;
  for (int64_t part = 1; part < parts; ++part) {
    threads.emplace_back(columns, n * part / parts, n * (part + 1) / parts);
  }
  columns(0, n / parts);
  for (std::thread& thread : threads) thread.join();
  return sums;
}

}  // namespace

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t m, int64_t n,
                            int64_t k) {
  return multiply(a, b, m, n, k);
}
std::vector<std::complex<double>> product(const std::vector<std::complex<double>>& a,
                                          const std::vector<std::complex<double>>& b, int64_t m, int64_t n, int64_t k) {
  return multiply(a, b, m, n, k);
}

}  // namespace convlab::simt::cuda::runtime
