// Copies rows of 16 input images, one image per lane.

#include "convlab/kernels/cpu/nchw16n/lane_rows.h"

#include <algorithm>
#include <array>

#include "convlab/kernels/cpu/simd/lane_order.h"

namespace convlab {
namespace {

template <class T, class To>
void copy_plain_row(const ConvProblem& problem, const T* x, int64_t block, int64_t row, int64_t count, To* to) {
  std::array<const T*, kImageLanes> images;
  for (int64_t i = 0; i < kImageLanes; ++i) {
    const int64_t image = std::min(block * kImageLanes + i, problem.n - 1);
    images[static_cast<size_t>(i)] = x + (image * problem.c * problem.h + row) * problem.w;
  }
  to_lanes(images.data(), count, to);
}

}  // namespace

void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, int64_t count, float* to) {
  const ConvProblem& problem = step.problem;
  if (step.input_format == kNchw16n) {
    const int64_t rows = block * problem.c * problem.h + row;
    std::copy_n(static_cast<const float*>(x) + rows * problem.w * kImageLanes, count * kImageLanes, to);
  } else if (step.input_format == kRawPixels) {
    copy_plain_row(problem, static_cast<const uint8_t*>(x), block, row, count, to);
  } else {
    copy_plain_row(problem, static_cast<const float*>(x), block, row, count, to);
  }
}

void copy_lane_row(const ConvStep& step, const void* x, int64_t block, int64_t row, int64_t count, uint8_t* to) {
  copy_plain_row(step.problem, static_cast<const uint8_t*>(x), block, row, count, to);
}

}  // namespace convlab
