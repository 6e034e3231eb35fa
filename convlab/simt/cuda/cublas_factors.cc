// Computes cuBLAS' batched LU factorizations.

#include "convlab/simt/cuda/cublas_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "convlab/simt/cuda/cublas_call.h"
#include "convlab/simt/cuda/cublas_triangles.h"
#include "convlab/simt/cuda/dense_products.h"

namespace convlab::simt::cuda::runtime {
namespace {

/// An LU factorization: both triangles in one matrix, and the rows that were exchanged, from 0.
template <class Number>
struct Factorization {
  int n = 0;
  std::vector<Number> values;
  std::vector<int> pivots;
  int info = 0;

  Number& at(int row, int column) { return values[static_cast<size_t>(row) + static_cast<size_t>(column) * n_()]; }
  size_t n_() const { return static_cast<size_t>(n); }

  void exchange(int a, int b, int first, int last) {
    for (int column = first; a != b && column < last; ++column) std::swap(at(a, column), at(b, column));
  }

  void factorize(bool exchanges) {
    pivots.resize(n_());
    for (int k = 0; k < n; ++k) {
      int best = k;
      for (int row = k + 1; exchanges && row < n; ++row) {
        if (std::abs(at(row, k)) > std::abs(at(best, k))) best = row;
      }
      pivots[static_cast<size_t>(k)] = best;
      exchange(k, best, 0, n);
      if (at(k, k) == Number(0)) {
        info = info == 0 ? k + 1 : info;
        continue;
      }
      for (int row = k + 1; row < n; ++row) at(row, k) /= at(k, k);
      for (int column = k + 1; column < n; ++column) {
        for (int row = k + 1; row < n; ++row) at(row, column) -= at(row, k) * at(k, column);
      }
    }
  }

  /// Returns one triangle, with a unit diagonal or the stored one.
  std::vector<Number> triangle(bool lower) {
    std::vector<Number> result(values.size());
    for (int column = 0; column < n; ++column) {
      for (int row = 0; row < n; ++row) {
        const bool is_in = lower ? row > column : row <= column;
        const size_t index = static_cast<size_t>(row) + static_cast<size_t>(column) * n_();
        if (is_in) result[index] = at(row, column);
        if (lower && row == column) result[index] = 1;
      }
    }
    return result;
  }

  void exchange_rows(std::vector<Number>& b, int columns, bool backwards) {
    for (int step = 0; step < n; ++step) {
      const int row = backwards ? n - 1 - step : step;
      const int other = pivots[static_cast<size_t>(row)];
      for (int column = 0; column < columns; ++column) {
        const size_t first = static_cast<size_t>(column) * n_();
        std::swap(b[first + static_cast<size_t>(row)], b[first + static_cast<size_t>(other)]);
      }
    }
  }

  void solve(cublasOperation_t op, std::vector<Number>& b, int columns) {
    std::vector<Number> lower = triangle(true), upper = triangle(false);
    if (op == CUBLAS_OP_N) {
      exchange_rows(b, columns, false);
      solve_triangle(lower, true, n, b, columns);
      solve_triangle(upper, false, n, b, columns);
      return;
    }
    if (op == CUBLAS_OP_C) {
      for (Number& each : lower) each = conjugate(each);
      for (Number& each : upper) each = conjugate(each);
    }
    solve_triangle(transposed(upper, n, n), true, n, b, columns);
    solve_triangle(transposed(lower, n, n), false, n, b, columns);
    exchange_rows(b, columns, true);
  }

  std::vector<Number> inverse() {
    std::vector<Number> result(values.size());
    for (size_t i = 0; i < n_(); ++i) result[i * n_() + i] = 1;
    solve(CUBLAS_OP_N, result, n);
    return result;
  }
};

void set_info(const LibraryCall& call, int* info, const std::vector<double>& values) {
  store(call, DeviceVector{info, CUDA_R_32I, static_cast<int64_t>(values.size()), 1, "info"}, values);
}

/// Returns the stored pivots of one matrix, from 0; without any, no rows are exchanged.
std::vector<int> load_pivots(const LibraryCall& call, const int* pivots, int n, int index) {
  std::vector<int> rows;
  if (pivots == nullptr) {
    for (int row = 0; row < n; ++row) rows.push_back(row);
    return rows;
  }
  for (const double each : load<double>(call, DeviceVector{pivots + int64_t{index} * n, CUDA_R_32I, n, 1, "pivots"})) {
    if (!(each >= 1 && each <= n)) throw call.invalid(fmt::format("a pivot is {}; rows are 1 to {}", each, n));
    rows.push_back(static_cast<int>(each) - 1);
  }
  return rows;
}

std::string why_invalid(int n, int leading, int other_leading, int count) {
  if (n < 0 || count < 0) return fmt::format("sizes must be at least 0; got n = {}, batch count {}", n, count);
  if (std::min(leading, other_leading) < std::max(1, n)) {
    return fmt::format("columns have {} elements, but the leading dimension is {}", n,
                       std::min(leading, other_leading));
  }
  return "";
}

}  // namespace

cublasStatus_t factorize(const BlasCall& call, int n, BlasBatch a, int* pivots, int* info, int count) noexcept {
  if (std::string why = why_invalid(n, a.leading, a.leading, count); !why.empty()) {
    return refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, std::move(why));
  }
  return run_blas(call, [=](const LibraryCall& library) {
    with_number(call.type, [&](auto number) {
      using Number = decltype(number);
      std::vector<double> infos, all_pivots;
      for (const void* const matrix : load_pointers(library, a.pointers, count, "Aarray")) {
        const DeviceMatrix stored = matrix_of(call, matrix, n, n, a.leading, "A");
        Factorization<Number> factors{n, load<Number>(library, stored)};
        factors.factorize(pivots != nullptr);
        store(library, stored, factors.values);
        infos.push_back(factors.info);
        for (const int each : factors.pivots) all_pivots.push_back(each + 1);
      }
      if (pivots != nullptr) {
        store(library, DeviceVector{pivots, CUDA_R_32I, int64_t{n} * count, 1, "pivots"}, all_pivots);
      }
      set_info(library, info, infos);
    });
  });
}

cublasStatus_t invert_factors(const BlasCall& call, int n, BlasBatch a, const int* pivots, BlasBatch c, int* info,
                              int count) noexcept {
  if (std::string why = why_invalid(n, a.leading, c.leading, count); !why.empty()) {
    return refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, std::move(why));
  }
  return run_blas(call, [=](const LibraryCall& library) {
    with_number(call.type, [&](auto number) {
      using Number = decltype(number);
      const auto sources = load_pointers(library, a.pointers, count, "Aarray");
      const auto targets = load_pointers(library, c.pointers, count, "Carray");
      std::vector<double> infos;
      for (int i = 0; i < count; ++i) {
        const auto index = static_cast<size_t>(i);
        Factorization<Number> factors{n, load<Number>(library, matrix_of(call, sources[index], n, n, a.leading, "A")),
                                      load_pivots(library, pivots, n, i)};
        int zero = 0;
        for (int row = n; row > 0; --row) zero = factors.at(row - 1, row - 1) == Number(0) ? row : zero;
        infos.push_back(zero);
        if (zero == 0) store(library, matrix_of(call, targets[index], n, n, c.leading, "C"), factors.inverse());
      }
      set_info(library, info, infos);
    });
  });
}

cublasStatus_t invert(const BlasCall& call, int n, BlasBatch a, BlasBatch c, int* info, int count) noexcept {
  if (std::string why = why_invalid(n, a.leading, c.leading, count); !why.empty()) {
    return refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, std::move(why));
  }
  return run_blas(call, [=](const LibraryCall& library) {
    if (n > 32) throw library.invalid(fmt::format("matrices have at most 32 rows, got {}", n));
    with_number(call.type, [&](auto number) {
      using Number = decltype(number);
      const auto sources = load_pointers(library, a.pointers, count, "Aarray");
      const auto targets = load_pointers(library, c.pointers, count, "Ainv");
      std::vector<double> infos;
      for (size_t i = 0; i < sources.size(); ++i) {
        Factorization<Number> factors{n, load<Number>(library, matrix_of(call, sources[i], n, n, a.leading, "A"))};
        factors.factorize(true);
        infos.push_back(factors.info);
        if (factors.info == 0) store(library, matrix_of(call, targets[i], n, n, c.leading, "Ainv"), factors.inverse());
      }
      set_info(library, info, infos);
    });
  });
}

cublasStatus_t solve(const BlasCall& call, cublasOperation_t op, int n, int columns, BlasBatch a, const int* pivots,
                     BlasBatch b, int* info, int count) noexcept {
  if (info != nullptr) *info = 0;
  if (std::string why = why_invalid(n, a.leading, b.leading, count); !why.empty()) {
    if (info != nullptr) *info = -2;
    return refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, std::move(why));
  }
  return run_blas(call, [=](const LibraryCall& library) {
    with_number(call.type, [&](auto number) {
      using Number = decltype(number);
      const auto matrices = load_pointers(library, a.pointers, count, "Aarray");
      const auto targets = load_pointers(library, b.pointers, count, "Barray");
      for (int i = 0; i < count; ++i) {
        const auto index = static_cast<size_t>(i);
        Factorization<Number> factors{n, load<Number>(library, matrix_of(call, matrices[index], n, n, a.leading, "A")),
                                      load_pivots(library, pivots, n, i)};
        const DeviceMatrix target = matrix_of(call, targets[index], n, columns, b.leading, "B");
        std::vector<Number> values = load<Number>(library, target);
        factors.solve(op, values, columns);
        store(library, target, values);
      }
    });
  });
}

}  // namespace convlab::simt::cuda::runtime
