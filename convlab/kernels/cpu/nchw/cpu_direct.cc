// Direct convolution of images that are unrolled along their width (see planes.h).

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw/planes.h"
#include "convlab/kernels/cpu/simd/tiles.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_direct {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.direct",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 2,
    .idea = "unroll along the width only, so that the sums of many output channels and pixels stay in registers",
    .after = "cpu.im2col_gemm",
    .threads = "A work item is a band of output rows of a range of output channels of one image.",
    .cost =
        "C * R * S fused multiply-adds, each 1 / lanes of a vector instruction; S pixels copied per channel and row, "
        "shared by all output channels (see planes.h). The arithmetic is in cpu/tiles.h.",
    .refuses = "Nothing. 2x2 max pooling is fused in registers, other pooling in scratch memory.",
    .limit = "Multiply-adds: 24 for 11 loads in the largest tile.",
};

// Floats of planes that a work item fills, unless a single row needs more: half a megabyte, a part of L2.
constexpr int64_t kPlanesCount = int64_t{128} << 10;

/// How a step becomes sums over planes. Independent of the batch size.
struct Form {
  bool pooled = false;             ///< sums are pooled in registers: the grid is that of the pooled output
  int64_t grid_h = 0, grid_w = 0;  ///< the outputs of sum_tiles for an output channel of an image
  int64_t step_h = 1, step_w = 1;  ///< pixels between adjacent outputs of the grid
  std::vector<int64_t> phases;     ///< of rows, see PlanesJob
  std::vector<int64_t> columns;    ///< see PlanesJob
  int64_t rows_beyond = 0;         ///< rows of a plane that a band needs beyond its own
  int64_t channels = 0;            ///< whose planes are filled at a time
};

int64_t row_offset(const ConvProblem& problem, int64_t r, int64_t pool_row) {
  return pool_row * problem.stride_h + r * problem.dilation_h;
}

int64_t column_offset(const ConvProblem& problem, int64_t s, int64_t pool_column) {
  return pool_column * problem.stride_w + s * problem.dilation_w;
}

void sort_unique(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

Form form_of(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  Form form;
  const int64_t taps = problem.r * problem.s, channels = problem.channels_per_group();
  form.channels = channels_at_a_time(problem);
  form.pooled =
      step.epilogue.pool && step.epilogue.pool->is_max_2x2() && form.channels == channels && taps <= kTermsAtATime;
  const int64_t window = form.pooled ? 2 : 1;
  form.grid_h = problem.p() / window;
  form.grid_w = problem.q() / window;
  form.step_h = problem.stride_h * window;
  form.step_w = problem.stride_w * window;
  form.phases.reserve(static_cast<size_t>(window * problem.r));
  form.columns.reserve(static_cast<size_t>(window * problem.s));
  for (int64_t i = 0; i < window; ++i) {
    for (int64_t r = 0; r < problem.r; ++r) {
      form.phases.push_back(row_offset(problem, r, i) % form.step_h);
      form.rows_beyond = std::max(form.rows_beyond, row_offset(problem, r, i) / form.step_h);
    }
    for (int64_t s = 0; s < problem.s; ++s) form.columns.push_back(column_offset(problem, s, i));
  }
  sort_unique(form.phases);
  sort_unique(form.columns);
  return form;
}

/// How the work is partitioned: bands of output rows, and the scratch they need.
struct Bands {
  int64_t rows = 0;       ///< output rows of a band
  int64_t bands = 0;      ///< of an image
  int64_t grid_rows = 0;  ///< the most rows of the grid under a band: as many as output rows, or what pooling needs
  int64_t pitch = 0;      ///< see PlanesJob
  int64_t planes_count = 0, rows_count = 0, sums_count = 0;  ///< floats of scratch

  int64_t scratch_count() const { return round_up(planes_count + rows_count + sums_count, 16); }
};

/// Returns the rows of the grid that some output rows need.
RowRange grid_rows_under(const ConvStep& step, const Form& form, int64_t first, int64_t count) {
  return form.pooled ? RowRange{first, count} : rows_under(step, first, count);
}

Bands bands_of(const ConvStep& step, const Form& form, int threads) {
  const ConvProblem& problem = step.problem;
  const int64_t height = step.output_shape()[2];
  const int64_t planes = form.channels * static_cast<int64_t>(form.phases.size() * form.columns.size());
  Bands bands;
  // As many rows as the bound on planes allows, but enough bands to keep all threads busy.
  const int64_t fitting = kPlanesCount / (planes * form.grid_w) - form.rows_beyond;
  const int64_t rows_of_grid = std::max<int64_t>(grid_rows_under(step, form, 0, height).count, 1);
  const int64_t wanted = std::max(ceil_div(rows_of_grid, std::max<int64_t>(fitting, 1)),
                                  ceil_div(2 * threads, problem.n * problem.groups));
  bands.rows = ceil_div(height, std::clamp<int64_t>(wanted, 1, height));
  bands.bands = ceil_div(height, bands.rows);
  for (int64_t band = 0; band < bands.bands; ++band) {
    const int64_t first = band * bands.rows, count = std::min(bands.rows, height - first);
    bands.grid_rows = std::max(bands.grid_rows, grid_rows_under(step, form, first, count).count);
  }
  bands.pitch = plane_pitch(bands.grid_rows + form.rows_beyond, form.grid_w);
  bands.planes_count = checked_add(checked_mul(planes, bands.pitch), kTileOverrun);
  bands.rows_count =
      planes_scratch_count(problem, form.step_w, form.columns.back(), bands.grid_rows + form.rows_beyond, form.grid_w);
  const bool sums = step.epilogue.pool && !form.pooled;
  bands.sums_count = sums ? checked_product({problem.maps_per_group(), bands.grid_rows, form.grid_w}) : 0;
  return bands;
}

/// Returns the offset in the planes of each reduction index's pixels, in the order of channel, column and row of the
/// filter. If pooled, each has four offsets, one for each element of the 2x2 window.
std::vector<uint32_t> offsets_of(const ConvProblem& problem, const Form& form, int64_t pitch) {
  const auto index_in = [](const std::vector<int64_t>& values, int64_t value) {
    return std::lower_bound(values.begin(), values.end(), value) - values.begin();
  };
  const auto columns = static_cast<int64_t>(form.columns.size()), phases = static_cast<int64_t>(form.phases.size());
  const int64_t window = form.pooled ? 2 : 1;
  // An offset is the sum of its channel's, row's and column's, so divisions and searches are done only for these.
  std::vector<int64_t> of_rows, of_columns;
  of_rows.reserve(static_cast<size_t>(window * problem.r));
  of_columns.reserve(static_cast<size_t>(window * problem.s));
  for (int64_t r = 0; r < problem.r; ++r) {
    for (int64_t i = 0; i < window; ++i) {
      const int64_t row = row_offset(problem, r, i);
      of_rows.push_back(index_in(form.phases, row % form.step_h) * columns * pitch + row / form.step_h * form.grid_w);
    }
  }
  for (int64_t s = 0; s < problem.s; ++s) {
    for (int64_t i = 0; i < window; ++i) {
      of_columns.push_back(index_in(form.columns, column_offset(problem, s, i)) * pitch);
    }
  }
  std::vector<uint32_t> offsets;
  offsets.reserve(static_cast<size_t>(form.channels) * of_rows.size() * of_columns.size());
  for (int64_t c = 0; c < form.channels; ++c) {
    const int64_t of_channel = c * phases * columns * pitch;
    for (int64_t s = 0; s < problem.s; ++s) {
      const int64_t* const column = &of_columns[static_cast<size_t>(s * window)];
      for (int64_t r = 0; r < problem.r; ++r) {
        const int64_t* const row = &of_rows[static_cast<size_t>(r * window)];
        for (int64_t i = 0; i < window; ++i) {
          for (int64_t j = 0; j < window; ++j) {
            offsets.push_back(static_cast<uint32_t>(of_channel + row[i] + column[j]));
          }
        }
      }
    }
  }
  return offsets;
}

struct Piece {
  const ConvArgs& args;
  const Form& form;
  const Bands& bands;
  const std::vector<uint32_t>& offsets;
  int64_t image, group, band;
  float* scratch;
};

void convolve(const Piece& piece) {
  const ConvArgs& args = piece.args;
  const ConvStep& step = args.step;
  const ConvProblem& problem = step.problem;
  const Form& form = piece.form;
  const Bands& bands = piece.bands;
  const Shape output = step.output_shape();
  const int64_t first = piece.band * bands.rows, count = std::min(bands.rows, output[2] - first);
  const RowRange rows = grid_rows_under(step, form, first, count);
  const int64_t maps = problem.maps_per_group(), first_map = piece.group * maps, plane = output[2] * output[3];
  const int64_t channels = problem.channels_per_group(), taps = problem.r * problem.s;
  float* const planes = piece.scratch;
  float* const planes_scratch = planes + bands.planes_count;
  float* const y = args.y + (piece.image * problem.k + first_map) * plane;

  // Sums go directly to the output, unless they are pooled afterwards.
  const bool in_place = bands.sums_count == 0;
  float* const sums = in_place ? y + first * output[3] : planes_scratch + bands.rows_count;
  const int64_t pitch = in_place ? plane : rows.count * form.grid_w;
  for (int64_t channel = 0; channel < channels; channel += form.channels) {
    const int64_t filled = std::min(form.channels, channels - channel), terms = filled * taps;
    fill_planes({.problem = problem,
                 .input = step.input_format.type,
                 .x = args.x,
                 .image = piece.image,
                 .channel = piece.group * channels + channel,
                 .channels = filled,
                 .step_h = form.step_h,
                 .step_w = form.step_w,
                 .phases = form.phases,
                 .columns = form.columns,
                 .first_row = rows.first,
                 .rows = rows.count + form.rows_beyond,
                 .grid_w = form.grid_w,
                 .pitch = bands.pitch,
                 .planes = planes,
                 .scratch = planes_scratch});
    for_each_map_tile(problem, most_maps(form.pooled), [&](int64_t map, int64_t tile_maps) {
      const float* w =
          static_cast<const float*>(args.prepared) + (first_map + map) * problem.terms() + channel * taps * tile_maps;
      for (int64_t term = 0; term < terms; term += kTermsAtATime) {
        sum_tiles({.x = planes,
                   .offsets = piece.offsets.data() + term * (form.pooled ? 4 : 1),
                   .terms = std::min(kTermsAtATime, terms - term),
                   .w = w + term * tile_maps,
                   .maps = static_cast<int>(tile_maps),
                   .pixels = rows.count * form.grid_w,
                   .y = sums + map * pitch,
                   .pitch = pitch,
                   .add = channel + term > 0,
                   .pooled = form.pooled});
      }
      if (channel + filled < channels) return;
      for (int64_t m = map; m < map + tile_maps; ++m) {
        const float bias = step.epilogue.bias ? args.bias[first_map + m] : 0;
        if (form.pooled) {
          add_bias_and_activate(step.epilogue, bias, sums + m * pitch, count * output[3]);
        } else {
          finish_rows(step, sums + m * pitch, rows, bias, first, count, y + m * plane);
        }
      }
    });
  }
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const Form form = form_of(step);
  // Offsets into planes are 32-bit numbers.
  if (bands_of(step, form, caps.threads).planes_count > UINT32_MAX) {
    return "an unrolled row of pixels must have fewer than 2^32 elements";
  }
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count(), sizeof(float)));
}

/// Packs filters by tile of output channels: [channel][column][row of the filter][output channel of the tile].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  auto* to = static_cast<float*>(args.prepared);
  for (int64_t group = 0; group < problem.groups; ++group) {
    for_each_map_tile(problem, most_maps(form_of(args.step).pooled), [&](int64_t map, int64_t tile_maps) {
      const float* w = args.w + (group * problem.maps_per_group() + map) * problem.terms();
      for (int64_t c = 0; c < problem.channels_per_group(); ++c) {
        for (int64_t s = 0; s < problem.s; ++s) {
          for (int64_t r = 0; r < problem.r; ++r) {
            for (int64_t m = 0; m < tile_maps; ++m) {
              *to++ = w[m * problem.terms() + (c * problem.r + r) * problem.s + s];
            }
          }
        }
      }
    });
  }
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const int64_t scratch = bands_of(step, form_of(step), caps.threads).scratch_count();
  return static_cast<size_t>(checked_product({scratch, caps.threads, sizeof(float)}));
}

void launch(const ConvArgs& args, Stream& stream) {
  ThreadPool& threads = *stream.threads();
  const ConvProblem& problem = args.step.problem;
  const Form form = form_of(args.step);
  const Bands bands = bands_of(args.step, form, threads.size());
  const std::vector<uint32_t> offsets = offsets_of(problem, form, bands.pitch);
  threads.parallel_for(problem.n * problem.groups * bands.bands, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t piece = begin; piece < end; ++piece) {
      convolve({.args = args,
                .form = form,
                .bands = bands,
                .offsets = offsets,
                .image = piece / bands.bands / problem.groups,
                .group = piece / bands.bands % problem.groups,
                .band = piece % bands.bands,
                .scratch = static_cast<float*>(args.workspace) + thread * bands.scratch_count()});
    }
  });
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch>,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_direct
