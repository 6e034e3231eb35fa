#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "convlab/kernels/ops/cpu_broadcast.h"

namespace convlab {

/// NumPy's matmul as products of two-dimensional arrays: A[i] is m x k and B[i] is k x n, for each index i of `batch`,
/// a shape. Consecutive products with the same B are merged into one with more rows: m is `rows` or a multiple of it.
struct MatrixProducts {
  int64_t m = 1, n = 1, k = 1;
  int64_t rows = 1;  ///< rows of each matrix A
  Shape batch;
  std::vector<int64_t> a_strides, b_strides;  ///< per dimension of `batch`, in matrices

  MatrixProducts(Shape a, Shape b, const Shape& output) : batch(output) {
    if (a.size() == 1) {
      a.insert(a.begin(), 1);
    } else {
      batch.erase(batch.end() - (b.size() == 1 ? 1 : 2));
    }
    if (b.size() == 1) {
      b.push_back(1);
    } else {
      batch.pop_back();
    }
    m = rows = a[a.size() - 2];
    n = b.back();
    k = a.back();
    a.resize(a.size() - 2);
    b.resize(b.size() - 2);
    a_strides = broadcast_strides(a, batch);
    b_strides = broadcast_strides(b, batch);
    int64_t width = 1;
    while (!batch.empty() && b_strides.back() == 0 && (a_strides.back() == width || batch.back() == 1)) {
      width *= batch.back();
      batch.pop_back();
      a_strides.pop_back();
      b_strides.pop_back();
    }
    // The remaining strides of A still count matrices of `rows` rows.
    for (int64_t& stride : a_strides) stride = stride / width;
    m *= width;
  }

  /// Returns the indices of the matrices A and B that the product multiplies.
  std::pair<int64_t, int64_t> operands(int64_t product) const {
    int64_t a = 0, b = 0;
    for (size_t i = batch.size(); i-- > 0; product /= batch[i]) {
      a += product % batch[i] * a_strides[i];
      b += product % batch[i] * b_strides[i];
    }
    return {a, b};
  }
};

}  // namespace convlab
