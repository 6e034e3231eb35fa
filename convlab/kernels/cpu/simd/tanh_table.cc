// Computes the table of tanh for results in bf16.

#include "convlab/kernels/cpu/simd/tanh_table.h"

#include <bit>
#include <cmath>

namespace convlab {
namespace {

double ratio(double s) {
  const double x = std::sqrt(s - 1);
  return x > 0 ? std::tanh(x) / x : 1;
}

TanhTable make_table() {
  TanhTable table;
  for (int power = 0; power < 4; ++power) {
    for (int piece = 0; piece < 8; ++piece) {
      const double width = std::ldexp(0.125, power), begin = std::ldexp(1, power) + piece * width, end = begin + width;
      // The ratio's curvature has one sign, so the chord is on one side of it, furthest near the middle; shift it by
      // half of that.
      const double slope = (ratio(end) - ratio(begin)) / width, middle = begin + width / 2;
      const double height = ((ratio(begin) + ratio(end)) / 2 + ratio(middle)) / 2;
      const auto i = std::bit_cast<uint32_t>(static_cast<float>(begin)) >> TanhTable::kShift & (TanhTable::kPieces - 1);
      table.a[i] = static_cast<float>(height - slope * middle);
      table.b[i] = static_cast<float>(slope);
    }
  }
  return table;
}

}  // namespace

const TanhTable kTanhTable = make_table();

}  // namespace convlab
