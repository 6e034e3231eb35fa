#include "convlab/kernels/cpu_planes.h"

#include <algorithm>

#include "convlab/kernels/cpu_simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_planes.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, 16>;

// What extract() may read beyond a row's last pixel: two vectors.
constexpr int64_t kOverrun = 32;

void to_floats(const uint8_t* from, int64_t count, float* to) {
  const F d;
  const hn::Rebind<uint8_t, F> bytes;
  const hn::Rebind<int32_t, F> integers;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from + i))), d, to + i);
  }
  for (; i < count; ++i) to[i] = from[i];
}

/// to[j] = from[j * step]. Reads and writes up to a vector more.
void extract(const float* HWY_RESTRICT from, int64_t step, int64_t count, float* HWY_RESTRICT to) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (step == 1) {
    for (int64_t j = 0; j < count; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
  } else if (step == 2) {
    for (int64_t j = 0; j < count; j += lanes) {
      hn::Vec<F> even, odd;
      hn::LoadInterleaved2(d, from + 2 * j, even, odd);
      hn::StoreU(even, d, to + j);
    }
  } else {
    for (int64_t j = 0; j < count; ++j) to[j] = from[j * step];
  }
}

/// The padded pixel row `h` from its first pixel on: in x itself if it may be read there, or else in the buffer.
const float* padded_row(const PlanesJob& job, int64_t channel, int64_t h, int64_t reach) {
  const ConvProblem& problem = job.problem;
  const int64_t at = ((job.image * problem.c + channel) * problem.h + h) * problem.w;
  if (job.input == ElementType::f32 && problem.pad_left == 0 && reach < problem.w &&
      at + reach + 1 + kOverrun <= problem.input_count()) {
    return static_cast<const float*>(job.x) + at;
  }
  // Padding does not change from row to row, but the buffer is small and in the first cache.
  const int64_t inside = std::clamp<int64_t>(reach + 1 - problem.pad_left, 0, problem.w);
  const int64_t before = std::min(problem.pad_left, reach + 1);
  std::fill_n(job.row_buffer, before, 0.0f);
  if (job.input == ElementType::u8) {
    to_floats(static_cast<const uint8_t*>(job.x) + at, inside, job.row_buffer + before);
  } else {
    std::copy_n(static_cast<const float*>(job.x) + at, inside, job.row_buffer + before);
  }
  std::fill(job.row_buffer + before + inside, job.row_buffer + reach + 1, 0.0f);
  return job.row_buffer;
}

void fill(const PlanesJob& job) {
  const int64_t columns = static_cast<int64_t>(job.columns.size()), phases = static_cast<int64_t>(job.phases.size());
  const int64_t reach = (job.grid_w - 1) * job.step_w + job.columns.back();
  for (int64_t c = 0; c < job.channels; ++c) {
    for (int64_t phase = 0; phase < phases; ++phase) {
      float* const planes = job.planes + (c * phases + phase) * columns * job.pitch;
      // A vector that runs over a row's end spoils the next row's begin, which is written after it.
      for (int64_t i = 0; i < job.rows; ++i) {
        const int64_t h = (job.first_row + i) * job.step_h + job.phases[phase] - job.problem.pad_top;
        if (h < 0 || h >= job.problem.h) {
          for (int64_t column = 0; column < columns; ++column) {
            std::fill_n(planes + column * job.pitch + i * job.grid_w, job.grid_w, 0.0f);
          }
          continue;
        }
        const float* row = padded_row(job, job.channel + c, h, reach);
        for (int64_t column = 0; column < columns; ++column) {
          extract(row + job.columns[column], job.step_w, job.grid_w, planes + column * job.pitch + i * job.grid_w);
        }
      }
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(fill);

}  // namespace

int64_t plane_pitch(int64_t rows, int64_t grid_w) { return rows * grid_w + 16; }

int64_t row_buffer_count(int64_t reach) { return reach + 1 + 32; }

void fill_planes(const PlanesJob& job) { HWY_DYNAMIC_DISPATCH(fill)(job); }

}  // namespace convlab
#endif  // HWY_ONCE
