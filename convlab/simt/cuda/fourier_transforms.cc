// Computes discrete Fourier transforms with KISS FFT.

#include "convlab/simt/cuda/fourier_transforms.h"

#include <kissfft.hh>

namespace convlab::simt::cuda::runtime {
namespace {

/// Transforms all lines along one dimension.
void transform_dimension(ComplexArray& values, const std::vector<int64_t>& sizes, size_t dimension, bool inverse) {
  const auto n = static_cast<size_t>(sizes[dimension]);
  if (n == 1) return;
  size_t step = 1;  // between elements of a line
  for (size_t i = dimension + 1; i < sizes.size(); ++i) step *= static_cast<size_t>(sizes[i]);
  const kissfft<double> transforms(n, inverse);
  ComplexArray line(n), result(n);
  for (size_t block = 0; block < values.size(); block += n * step) {
    for (size_t first = block; first < block + step; ++first) {
      for (size_t i = 0; i < n; ++i) line[i] = values[first + i * step];
      transforms.transform(line.data(), result.data());
      for (size_t i = 0; i < n; ++i) values[first + i * step] = result[i];
    }
  }
}

}  // namespace

void transform(ComplexArray& values, const std::vector<int64_t>& sizes, bool inverse) {
  for (size_t dimension = sizes.size(); dimension-- > 0;) transform_dimension(values, sizes, dimension, inverse);
}

std::vector<double> inverse_of_half(ComplexArray half, const std::vector<int64_t>& sizes) {
  const auto n = static_cast<size_t>(sizes.back()), stored = n / 2 + 1;
  std::vector<int64_t> half_sizes = sizes;
  half_sizes.back() = static_cast<int64_t>(stored);
  for (size_t dimension = 0; dimension + 1 < sizes.size(); ++dimension) {
    transform_dimension(half, half_sizes, dimension, true);
  }
  const kissfft<double> transforms(n, true);
  ComplexArray line(n), result(n);
  std::vector<double> values;
  values.reserve(half.size() / stored * n);
  for (size_t row = 0; row < half.size(); row += stored) {
    for (size_t i = 0; i < stored; ++i) line[i] = half[row + i];
    for (size_t i = stored; i < n; ++i) line[i] = std::conj(half[row + n - i]);
    line[0] = line[0].real();
    if (n % 2 == 0) line[n / 2] = line[n / 2].real();
    transforms.transform(line.data(), result.data());
    for (const std::complex<double>& each : result) values.push_back(each.real());
  }
  return values;
}

}  // namespace convlab::simt::cuda::runtime
