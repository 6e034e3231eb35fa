// Fills the planes that direct convolution reads (see planes.h).

#include "convlab/kernels/cpu/nchw/planes.h"

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw/planes.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"

#ifndef CONVLAB_KERNELS_CPU_PLANES_ONCE
#define CONVLAB_KERNELS_CPU_PLANES_ONCE
namespace convlab {

/// Returns the floats of `rows` rows of `width` that are read as rows of `grid_w`: see close_gaps().
inline int64_t phase_count(int64_t width, int64_t grid_w, int64_t rows) {
  return checked_add(checked_mul(rows, width), width - grid_w + 32);
}

/// Pixel column j * step_w + phase - pad_left is inside the image for j in [begin, end); for j = begin it is first_w.
struct ColumnPhase {
  int64_t phase, begin, end, first_w;
};

/// Returns the phases that a job's columns need, ascending.
inline std::vector<ColumnPhase> column_phases_of(const PlanesJob& job, int64_t width) {
  const ConvProblem& problem = job.problem;
  std::vector<int64_t> phases;
  phases.reserve(job.columns.size());
  for (const int64_t column : job.columns) phases.push_back(column % job.step_w);
  std::sort(phases.begin(), phases.end());
  phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
  std::vector<ColumnPhase> column_phases;
  column_phases.reserve(phases.size());
  for (const int64_t phase : phases) {
    const int64_t begin = std::clamp<int64_t>(ceil_div(problem.pad_left - phase, job.step_w), 0, width);
    const int64_t end = std::clamp<int64_t>(ceil_div(problem.pad_left + problem.w - phase, job.step_w), begin, width);
    column_phases.push_back({phase, begin, end, begin * job.step_w + phase - problem.pad_left});
  }
  return column_phases;
}

}  // namespace convlab
#endif

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;

/// to[i] = from[i]; reads nothing beyond from[readable - 1], writes up to a vector beyond count.
void to_floats(const uint8_t* from, int64_t readable, int64_t count, float* to) {
  const F d;
  const hn::Rebind<uint8_t, F> bytes;
  const hn::Rebind<int32_t, F> integers;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i < count && i + lanes <= readable; i += lanes) {
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from + i))), d, to + i);
  }
  for (; i < count; ++i) to[i] = from[i];
}

/// to[j] = from[j * step]; reads nothing beyond from[readable - 1], writes up to a vector beyond count.
void take(const float* HWY_RESTRICT from, int64_t readable, int64_t step, int64_t count, float* HWY_RESTRICT to) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  if (step == 1) {
    for (; j < count && j + lanes <= readable; j += lanes) hn::StoreU(hn::LoadU(d, from + j), d, to + j);
  } else if (step == 2) {
    for (; j < count && 2 * (j + lanes) <= readable; j += lanes) {
      hn::Vec<F> even, odd;
      hn::LoadInterleaved2(d, from + 2 * j, even, odd);
      hn::StoreU(even, d, to + j);
    }
  }
  for (; j < count; ++j) to[j] = from[j * step];
}

/// even[j] = from[2 * j] and odd[j] = from[2 * j + 1], with the same bounds. If the number of pixels is odd, the last
/// odd[j] may be anything.
void take_both(const float* HWY_RESTRICT from, int64_t readable, int64_t count, float* HWY_RESTRICT even,
               float* HWY_RESTRICT odd) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j < count && 2 * (j + lanes) <= readable; j += lanes) {
    hn::Vec<F> evens, odds;
    hn::LoadInterleaved2(d, from + 2 * j, evens, odds);
    hn::StoreU(evens, d, even + j);
    hn::StoreU(odds, d, odd + j);
  }
  for (; j < count; ++j) {
    if (2 * j < readable) even[j] = from[2 * j];
    if (2 * j + 1 < readable) odd[j] = from[2 * j + 1];
  }
}

/// to[i * width + j] = from[i * pitch + j]: removes the gaps between rows. Writes whole cache lines in order, which is
/// fastest for L2. Reads and writes up to a vector beyond the last row.
void close_gaps(const float* HWY_RESTRICT from, int64_t pitch, int64_t rows, int64_t width, float* HWY_RESTRICT to) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (width < lanes) {
    for (int64_t i = 0; i < rows; ++i) hn::StoreU(hn::LoadU(d, from + i * pitch), d, to + i * width);
    return;
  }
  const int64_t gap = pitch - width;
  int64_t left = width;  // floats left in the row in which the next vector begins
  for (int64_t at = 0; at < rows * width; at += lanes) {
    const auto row = hn::LoadU(d, from + at), next_row = hn::LoadU(d, from + at + gap);
    hn::Store(hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(left)), row, next_row), d, to + at);
    left -= lanes;
    if (left <= 0) {
      left += width;
      from += gap;
    }
  }
}

/// Rows of pixels whose planes are copies at an offset: row i, column j of a phase is at data + phase_offset * phase +
/// i * pitch + j.
struct Rows {
  const float* data;
  int64_t phase_offset, pitch;
};

/// Returns one channel's padded pixel rows of one row phase, each split by column modulo step_w.
Rows split_rows(const PlanesJob& job, int64_t channel, int64_t phase, int64_t width,
                const std::vector<ColumnPhase>& column_phases) {
  const ConvProblem& problem = job.problem;
  const int64_t plane = (job.image * problem.c + channel) * problem.h * problem.w;
  const int64_t first_h = job.first_row * job.step_h + phase - problem.pad_top;
  const int64_t last_h = first_h + (job.rows - 1) * job.step_h;
  const int64_t at = plane + first_h * problem.w, pitch = job.step_h * problem.w;
  if (job.input == ElementType::f32 && job.step_w == 1 && problem.pad_left == 0 && width <= problem.w && first_h >= 0 &&
      last_h < problem.h && at + job.rows * pitch + width + 16 <= problem.input_count()) {
    return {static_cast<const float*>(job.x) + at, 0, pitch};  // in the image itself
  }
  float* const converted = job.scratch;  // one row of floats
  float* const split = converted + round_up(problem.w, 16) + 32;
  // Behind each phase there is room for what close_gaps() reads beyond the last row.
  const Rows rows{split, phase_count(width, job.grid_w, job.rows), width};
  for (int64_t i = 0; i < job.rows; ++i) {
    const int64_t h = first_h + i * job.step_h, row = plane + h * problem.w;
    const bool inside = h >= 0 && h < problem.h;
    const float* from = converted;
    int64_t readable = problem.w + 32;
    if (inside && job.input == ElementType::u8) {
      to_floats(static_cast<const uint8_t*>(job.x) + row, problem.input_count() - row, problem.w, converted);
    } else if (inside) {
      from = static_cast<const float*>(job.x) + row;
      readable = problem.input_count() - row;
    }
    const auto row_of = [&](const ColumnPhase& columns) {
      return split + columns.phase * rows.phase_offset + i * width;
    };
    // A vector that runs beyond a row's end overwrites what is written after it: padding, then the next row.
    for (const ColumnPhase& columns : column_phases) {
      std::fill_n(row_of(columns), inside ? columns.begin : width, 0.0f);
    }
    if (!inside) continue;
    if (job.step_w == 2 && column_phases.size() == 2) {
      const ColumnPhase &even = column_phases[problem.pad_left % 2], &odd = column_phases[1 - problem.pad_left % 2];
      const int64_t count = std::max(even.end - even.begin, odd.end - odd.begin);
      take_both(from, readable, count, row_of(even) + even.begin, row_of(odd) + odd.begin);
    } else {
      for (const auto& columns : column_phases) {
        take(from + columns.first_w, readable - columns.first_w, job.step_w, columns.end - columns.begin,
             row_of(columns) + columns.begin);
      }
    }
    for (const ColumnPhase& columns : column_phases) {
      std::fill(row_of(columns) + columns.end, row_of(columns) + width, 0.0f);
    }
  }
  return rows;
}

void fill(const PlanesJob& job) {
  const int64_t width = job.grid_w + job.columns.back() / job.step_w;
  const std::vector<ColumnPhase> column_phases = column_phases_of(job, width);
  float* plane = job.planes;
  for (int64_t c = 0; c < job.channels; ++c) {
    for (const int64_t phase : job.phases) {
      const Rows rows = split_rows(job, job.channel + c, phase, width, column_phases);
      for (const int64_t column : job.columns) {
        const float* from = rows.data + column % job.step_w * rows.phase_offset + column / job.step_w;
        close_gaps(from, rows.pitch, job.rows, job.grid_w, plane);
        plane += job.pitch;
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

int64_t plane_pitch(int64_t rows, int64_t grid_w) { return checked_add(round_up(checked_mul(rows, grid_w), 16), 16); }

int64_t planes_scratch_count(const ConvProblem& problem, int64_t step_w, int64_t last_column, int64_t rows,
                             int64_t grid_w) {
  const int64_t width = grid_w + last_column / step_w;
  return checked_add(checked_mul(step_w, phase_count(width, grid_w, rows)), round_up(problem.w, 16) + 32 + 16);
}

void fill_planes(const PlanesJob& job) { HWY_DYNAMIC_DISPATCH(fill)(job); }

}  // namespace convlab
#endif  // HWY_ONCE
