#pragma once

#include <cstdint>
#include <span>

#include "convlab/conv/problem.h"
#include "convlab/tensor/element_type.h"

namespace convlab {

// Images unrolled along their width only: for each horizontal offset that filters reach, a plane with just the pixels
// under outputs. A filter element then reads the pixels of all outputs of a band contiguously, without gaps between
// rows, for any stride, dilation and padding; elements in the same filter column share a plane. (Cho and Brand, "MEC:
// memory-efficient convolution for deep neural network", 2017.)
//
// Outputs form a grid: output (i, j) reads pixel rows i * step_h + o - pad_top for some row offsets o. Row offsets that
// differ by a multiple of step_h read the same pixel rows, so rows are grouped by o modulo step_h, their phase:
//
//   planes[channel][phase][column][i * grid_w + j] = x[channel][(first_row + i) * step_h + phases[phase] - pad_top]
//                                                     [j * step_w + columns[column] - pad_left]
//
// and 0 outside the image. Planes are plane_pitch(rows, grid_w) floats apart.
struct PlanesJob {
  const ConvProblem& problem;
  ElementType input = ElementType::f32;
  const void* x = nullptr;  ///< the whole batch
  int64_t image = 0, channel = 0, channels = 0;
  int64_t step_h = 1, step_w = 1;
  std::span<const int64_t> phases, columns;  ///< both ascending
  int64_t first_row = 0, rows = 0;           ///< values of i
  int64_t grid_w = 0;
  int64_t pitch = 0;         ///< floats between planes: plane_pitch() of the most rows
  float* planes = nullptr;   ///< channels * phases * columns * pitch floats, aligned to 64 bytes
  float* scratch = nullptr;  ///< planes_scratch_count() floats for the most rows
};

/// Floats of a plane: its rows, and room for a vector that runs beyond them.
int64_t plane_pitch(int64_t rows, int64_t grid_w);

/// Floats of PlanesJob::scratch.
int64_t planes_scratch_count(const ConvProblem& problem, int64_t step_w, int64_t last_column, int64_t rows,
                             int64_t grid_w);

void fill_planes(const PlanesJob& job);

}  // namespace convlab
