#pragma once

#include <complex>
#include <cstdint>
#include <vector>

/// Discrete Fourier transforms on the host, not scaled. Arrays have one to three dimensions, the last one contiguous.
namespace convlab::simt::cuda::runtime {

using ComplexArray = std::vector<std::complex<double>>;

/// Transforms all dimensions in place: with exp(-2 pi i j k / n), or its inverse.
void transform(ComplexArray& values, const std::vector<int64_t>& sizes, bool inverse);

/// Returns the inverse transform of the half that real data's transform has: its last dimension has sizes.back() / 2 +
/// 1 elements, and the others are their conjugates. Where these would be the elements themselves, imaginary parts do
/// not count.
std::vector<double> inverse_of_half(ComplexArray half, const std::vector<int64_t>& sizes);

}  // namespace convlab::simt::cuda::runtime
