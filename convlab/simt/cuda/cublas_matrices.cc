// Computes levels 2 and 3 of cuBLAS, without the general products.

#include "convlab/simt/cuda/cublas_matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "convlab/simt/cuda/cublas_call.h"
#include "convlab/simt/cuda/cublas_triangles.h"
#include "convlab/simt/cuda/dense_products.h"

namespace convlab::simt::cuda::runtime {
namespace {

struct Factors {
  BlasFactor alpha, beta;
};

/// Does the work with the number type of the call's arrays and with alpha and beta, which are read as it begins.
/// Without beta, it is 0; without alpha, 1.
template <class Work>
cublasStatus_t compute(const BlasCall& call, const void* alpha, const void* beta, cudaDataType factor_type,
                       const Work& work) noexcept {
  if (call.handle == nullptr) return run_blas(call, {});
  std::optional<BlasFactor> first = BlasFactor{.value = 1}, second = BlasFactor{.value = 0};
  if (alpha != nullptr) first = factor(call, alpha, factor_type, "alpha");
  if (beta != nullptr) second = factor(call, beta, factor_type, "beta");
  if (!first || !second) return CUBLAS_STATUS_INVALID_VALUE;
  return run_blas(call, [=, type = call.type, factors = Factors{*first, *second}](const LibraryCall& library) {
    with_number(type, [&](auto number) {
      using Number = decltype(number);
      work(library, number_of<Number>(factors.alpha.read(library)), number_of<Number>(factors.beta.read(library)));
    });
  });
}

cublasStatus_t compute(const BlasCall& call, const void* alpha, const void* beta, const auto& work) noexcept {
  return compute(call, alpha, beta, call.type, work);
}

struct Leading {
  const char* matrix;
  int leading, rows;
};

/// Returns whether sizes and leading dimensions are valid; otherwise keeps the failed call.
bool is_valid(const BlasCall& call, int m, int n, std::initializer_list<Leading> matrices) {
  if (m < 0 || n < 0) {
    refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE, fmt::format("sizes must be at least 0; got {} and {}", m, n));
    return false;
  }
  for (const Leading& each : matrices) {
    if (each.leading >= std::max(1, each.rows)) continue;
    refuse_blas(call, CUBLAS_STATUS_INVALID_VALUE,
                fmt::format("columns of {} have {} elements, but its leading dimension is {}", each.matrix, each.rows,
                            each.leading));
    return false;
  }
  return true;
}

/// target = alpha * sum + beta * target.
template <class Number, class Target>
void accumulate(const LibraryCall& library, const Target& target, Number alpha, std::vector<Number> sums, Number beta) {
  for (Number& sum : sums) sum *= alpha;
  if (beta != Number(0)) {
    const std::vector<Number> old = load<Number>(library, target);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += beta * old[i];
  }
  store(library, target, sums);
}

/// Returns op(t) for a triangle that load_triangle() returned.
template <class Number>
std::vector<Number> applied(std::vector<Number> t, cublasOperation_t op, int n) {
  if (op == CUBLAS_OP_C) {
    for (Number& value : t) value = conjugate(value);
  }
  return op == CUBLAS_OP_N ? t : transposed(t, n, n);
}

bool is_lower(cublasFillMode_t fill, cublasOperation_t op) {
  return (fill == CUBLAS_FILL_MODE_LOWER) == (op == CUBLAS_OP_N);
}

}  // namespace

cublasStatus_t multiply_vector(const BlasCall& call, cublasOperation_t op, int m, int n, const void* alpha,
                               MatrixArgument a, VectorArgument x, const void* beta, VectorArgument y) noexcept {
  if (!is_valid(call, m, n, {{"A", a.leading, m}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, alpha, beta, [=](const LibraryCall& library, auto by, auto keep) {
    using Number = decltype(by);
    if (m == 0 || n == 0) return;
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    const std::vector<Number> matrix = load_operand<Number>(library, matrix_of(call, a.data, m, n, a.leading, "A"), op);
    const std::vector<Number> vector = load<Number>(library, vector_of(call, x.data, columns, x.step, "x"));
    accumulate(library, vector_of(call, y.data, rows, y.step, "y"), by, product(matrix, vector, rows, 1, columns),
               keep);
  });
}

cublasStatus_t multiply_symmetric_vector(const BlasCall& call, cublasFillMode_t fill, bool conjugates, int n,
                                         const void* alpha, MatrixArgument a, VectorArgument x, const void* beta,
                                         VectorArgument y) noexcept {
  if (!is_valid(call, n, n, {{"A", a.leading, n}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, alpha, beta, [=](const LibraryCall& library, auto by, auto keep) {
    using Number = decltype(by);
    if (n == 0) return;
    const auto matrix =
        load_symmetric<Number>(library, matrix_of(call, a.data, n, n, a.leading, "A"), fill, conjugates);
    const std::vector<Number> vector = load<Number>(library, vector_of(call, x.data, n, x.step, "x"));
    accumulate(library, vector_of(call, y.data, n, y.step, "y"), by, product(matrix, vector, n, 1, n), keep);
  });
}

cublasStatus_t update(const BlasCall& call, int m, int n, const void* alpha, VectorArgument x, VectorArgument y,
                      bool conjugates, MatrixArgument a) noexcept {
  if (!is_valid(call, m, n, {{"A", a.leading, m}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, alpha, nullptr, [=](const LibraryCall& library, auto by, auto) {
    using Number = decltype(by);
    if (m == 0 || n == 0) return;
    const std::vector<Number> column = load<Number>(library, vector_of(call, x.data, m, x.step, "x"));
    std::vector<Number> row = load<Number>(library, vector_of(call, y.data, n, y.step, "y"));
    for (Number& each : row) each = conjugates ? conjugate(each) : each;
    accumulate(library, matrix_of(call, a.data, m, n, a.leading, "A"), by, product(column, row, m, n, 1), Number(1));
  });
}

cublasStatus_t update_symmetric(const BlasCall& call, cublasFillMode_t fill, bool conjugates, int n, const void* alpha,
                                cudaDataType alpha_type, VectorArgument x, MatrixArgument a) noexcept {
  if (!is_valid(call, n, n, {{"A", a.leading, n}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, alpha, nullptr, alpha_type, [=](const LibraryCall& library, auto by, auto) {
    using Number = decltype(by);
    if (n == 0) return;
    const DeviceMatrix target = matrix_of(call, a.data, n, n, a.leading, "A");
    const std::vector<Number> column = load<Number>(library, vector_of(call, x.data, n, x.step, "x"));
    std::vector<Number> row = column;
    for (Number& each : row) each = conjugates ? conjugate(each) : each;
    const std::vector<Number> more = product(column, row, n, n, 1);
    std::vector<Number> all = load_triangle<Number>(library, target, fill, CUBLAS_DIAG_NON_UNIT);
    for (size_t i = 0; i < all.size(); ++i) all[i] += by * more[i];
    store_triangle(library, target, fill, all);
  });
}

cublasStatus_t triangular_vector(const BlasCall& call, bool solves, cublasFillMode_t fill, cublasOperation_t op,
                                 cublasDiagType_t diagonal, int n, MatrixArgument a, VectorArgument x) noexcept {
  if (!is_valid(call, n, n, {{"A", a.leading, n}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, nullptr, nullptr, [=](const LibraryCall& library, auto one, auto) {
    using Number = decltype(one);
    if (n == 0) return;
    const DeviceMatrix stored = matrix_of(call, a.data, n, n, a.leading, "A");
    const std::vector<Number> t = applied(load_triangle<Number>(library, stored, fill, diagonal), op, n);
    const DeviceVector target = vector_of(call, x.data, n, x.step, "x");
    std::vector<Number> values = load<Number>(library, target);
    if (solves) {
      solve_triangle(t, is_lower(fill, op), n, values, 1);
    } else {
      values = product(t, values, n, 1, n);
    }
    store(library, target, values);
  });
}

cublasStatus_t multiply_symmetric(const BlasCall& call, cublasSideMode_t side, cublasFillMode_t fill, bool conjugates,
                                  int m, int n, const void* alpha, MatrixArgument a, MatrixArgument b, const void* beta,
                                  MatrixArgument c) noexcept {
  const int order = side == CUBLAS_SIDE_LEFT ? m : n;
  if (!is_valid(call, m, n, {{"A", a.leading, order}, {"B", b.leading, m}, {"C", c.leading, m}})) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return compute(call, alpha, beta, [=](const LibraryCall& library, auto by, auto keep) {
    using Number = decltype(by);
    if (m == 0 || n == 0) return;
    const DeviceMatrix stored = matrix_of(call, a.data, order, order, a.leading, "A");
    const std::vector<Number> symmetric = load_symmetric<Number>(library, stored, fill, conjugates);
    const std::vector<Number> other = load<Number>(library, matrix_of(call, b.data, m, n, b.leading, "B"));
    const bool left = side == CUBLAS_SIDE_LEFT;
    accumulate(library, matrix_of(call, c.data, m, n, c.leading, "C"), by,
               left ? product(symmetric, other, m, n, m) : product(other, symmetric, m, n, n), keep);
  });
}

cublasStatus_t update_by_product(const BlasCall& call, cublasFillMode_t fill, cublasOperation_t op, bool conjugates,
                                 int n, int k, const void* alpha, cudaDataType factor_type, MatrixArgument a,
                                 const void* beta, MatrixArgument c) noexcept {
  const int rows = op == CUBLAS_OP_N ? n : k;
  if (!is_valid(call, n, k, {{"A", a.leading, rows}, {"C", c.leading, n}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, alpha, beta, factor_type, [=](const LibraryCall& library, auto by, auto keep) {
    using Number = decltype(by);
    if (n == 0) return;
    const DeviceMatrix stored = matrix_of(call, a.data, rows, op == CUBLAS_OP_N ? k : n, a.leading, "A");
    const std::vector<Number> left = load_operand<Number>(library, stored, op);
    std::vector<Number> right = transposed(left, n, k);
    for (Number& each : right) each = conjugates ? conjugate(each) : each;
    std::vector<Number> sums = product(left, right, n, n, k);
    const DeviceMatrix target = matrix_of(call, c.data, n, n, c.leading, "C");
    std::vector<Number> old(sums.size());
    if (keep != Number(0)) old = load_triangle<Number>(library, target, fill, CUBLAS_DIAG_NON_UNIT);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = by * sums[i] + keep * old[i];
    store_triangle(library, target, fill, sums);
  });
}

cublasStatus_t triangular(const BlasCall& call, bool solves, const Triangle& triangle, int m, int n, const void* alpha,
                          MatrixArgument a, MatrixArgument b, MatrixArgument c) noexcept {
  const bool left = triangle.side == CUBLAS_SIDE_LEFT;
  const int order = left ? m : n;
  if (!is_valid(call, m, n, {{"A", a.leading, order}, {"B", b.leading, m}, {"C", c.leading, m}})) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return compute(call, alpha, nullptr, [=](const LibraryCall& library, auto by, auto) {
    using Number = decltype(by);
    if (m == 0 || n == 0) return;
    const DeviceMatrix stored = matrix_of(call, a.data, order, order, a.leading, "A");
    const std::vector<Number> t =
        applied(load_triangle<Number>(library, stored, triangle.fill, triangle.diagonal), triangle.op, order);
    std::vector<Number> values = load<Number>(library, matrix_of(call, b.data, m, n, b.leading, "B"));
    for (Number& each : values) each *= by;
    const bool lower = is_lower(triangle.fill, triangle.op);
    if (solves && left) {
      solve_triangle(t, lower, m, values, n);
    } else if (solves) {  // X T = B is T^T X^T = B^T
      std::vector<Number> turned = transposed(values, m, n);
      solve_triangle(transposed(t, n, n), !lower, n, turned, m);
      values = transposed(turned, n, m);
    } else {
      values = left ? product(t, values, m, n, m) : product(values, t, m, n, n);
    }
    store(library, matrix_of(call, c.data, m, n, c.leading, "C"), values);
  });
}

cublasStatus_t add(const BlasCall& call, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                   const void* alpha, MatrixArgument a, const void* beta, MatrixArgument b, MatrixArgument c) noexcept {
  const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;
  if (!is_valid(call, m, n,
                {{"A", a.leading, plain_a ? m : n}, {"B", b.leading, plain_b ? m : n}, {"C", c.leading, m}})) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return compute(call, alpha, beta, [=](const LibraryCall& library, auto by_a, auto by_b) {
    using Number = decltype(by_a);
    if (m == 0 || n == 0) return;
    std::vector<Number> sums(static_cast<size_t>(m) * static_cast<size_t>(n));
    const auto add_matrix = [&](Number by, const DeviceMatrix& matrix, cublasOperation_t op) {
      if (by == Number(0)) return;  // then the matrix may be a null pointer
      const std::vector<Number> values = load_operand<Number>(library, matrix, op);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += by * values[i];
    };
    add_matrix(by_a, matrix_of(call, a.data, plain_a ? m : n, plain_a ? n : m, a.leading, "A"), op_a);
    add_matrix(by_b, matrix_of(call, b.data, plain_b ? m : n, plain_b ? n : m, b.leading, "B"), op_b);
    store(library, matrix_of(call, c.data, m, n, c.leading, "C"), sums);
  });
}

cublasStatus_t multiply_diagonal(const BlasCall& call, cublasSideMode_t side, int m, int n, MatrixArgument a,
                                 VectorArgument x, MatrixArgument c) noexcept {
  if (!is_valid(call, m, n, {{"A", a.leading, m}, {"C", c.leading, m}})) return CUBLAS_STATUS_INVALID_VALUE;
  return compute(call, nullptr, nullptr, [=](const LibraryCall& library, auto one, auto) {
    using Number = decltype(one);
    if (m == 0 || n == 0) return;
    const bool left = side == CUBLAS_SIDE_LEFT;
    std::vector<Number> values = load<Number>(library, matrix_of(call, a.data, m, n, a.leading, "A"));
    const std::vector<Number> diagonal = load<Number>(library, vector_of(call, x.data, left ? m : n, x.step, "x"));
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t row = i % static_cast<size_t>(m), column = i / static_cast<size_t>(m);
      values[i] *= diagonal[left ? row : column];
    }
    store(library, matrix_of(call, c.data, m, n, c.leading, "C"), values);
  });
}

}  // namespace convlab::simt::cuda::runtime
