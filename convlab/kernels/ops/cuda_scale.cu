// cuda.scale: maps of pixels scaled to a square as resized() scales them, byte for byte, so that originals cross the
// bus and not what they become.
// A block takes two maps and holds them in shared memory, as doubles and with the zeros that lie around them. A thread
// makes part of one column of both: what it knows of rows and columns serves twice, and it keeps the four pixels that
// it lies between as long as the next row lies there, too.
// The arithmetic is the host's in the host's order, never contracted: the last step truncates, so that one rounding
// more or less is another pixel. Weights come from the host's own tables.
// Refuses maps that do not fit into a block's shared memory.
// Limited by double precision, 11 operations a pixel, and by how little of a block's time they fill.

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/dataset/resize.h"
#include "convlab/device/cuda_compat.h"
#include "convlab/kernels/op.h"

namespace convlab {
namespace {

constexpr int kWarp = 32;
constexpr int kMaps = 2;     // of a block
constexpr int kRows = 36;    // of a thread's part of a column, at most,
constexpr int kFewRows = 9;  // and where maps are too few to fill a GPU, so that they are done sooner
constexpr int64_t kFewMaps = 1024;
constexpr int kAtOnce = 8;  // pixels that a thread asks for before it waits for them
constexpr int kMostThreads = 512;
constexpr size_t kMostSharedBytes = 96 * 1024;

/// Of an output's two inputs in one dimension.
struct alignas(16) Weights {
  double before, after;
};

/// See ResizeTaps; by row and by column of the output.
struct Taps {
  const Weights *rows, *columns;
  const int *first_row, *first_column;
};

struct ScaleShape {
  int64_t maps;
  int h, w, side;
  int parts, rows;  // of a column: parts of so many rows, the last perhaps of fewer
};

/// Puts a map into shared memory, zeros around it. Each thread gives the least pixel that it saw.
__device__ int stage(const uint8_t* from, double* map, const ScaleShape& shape) {
  const int warps = blockDim.x / kWarp, pitch = shape.w + 2;
  int least = 255;
  for (int w = threadIdx.x % kWarp; w < pitch; w += kWarp) {
    for (int first = threadIdx.x / kWarp; first < shape.h + 2; first += kAtOnce * warps) {
      int pixels[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int h = first + i * warps;
        const bool inside = h >= 1 && h <= shape.h && w >= 1 && w <= shape.w;
        pixels[i] = inside ? from[(h - 1) * shape.w + w - 1] : 0;
        if (inside) least = min(least, pixels[i]);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int h = first + i * warps;
        if (h < shape.h + 2) map[h * pitch + w] = pixels[i];
      }
    }
  }
  return least;
}

__global__ void __launch_bounds__(kMostThreads)
    scale_maps(const uint8_t* __restrict__ x, uint8_t* __restrict__ y, Taps taps, ScaleShape shape) {
  auto* maps = dynamic_shared<double>();
  __shared__ int least[kMaps];
  const int pitch = shape.w + 2, size = (shape.h + 2) * pitch;
  // Where there is no second map, the first is done twice.
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kMaps;
  const auto map_of = [&](int i) { return min(first + i, shape.maps - 1); };

  if (threadIdx.x < kMaps) least[threadIdx.x] = 255;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kMaps; ++i) {
    int smallest = stage(x + map_of(i) * shape.h * shape.w, maps + i * size, shape);
    for (int other = kWarp / 2; other > 0; other /= 2) {
      smallest = min(smallest, __shfl_xor_sync(0xffffffffu, smallest, other));
    }
    if (threadIdx.x % kWarp == 0) atomicMin(&least[i], smallest);
  }
  __syncthreads();

  const int64_t pixels = static_cast<int64_t>(shape.side) * shape.side;
  for (int item = threadIdx.x; item < shape.parts * shape.side; item += blockDim.x) {
    const int q = item % shape.side, begin = item / shape.side * shape.rows;
    const int end = min(begin + shape.rows, shape.side);
    const Weights column = taps.columns[q];
    const double* corner = maps + taps.first_column[q];
    double upper_left[kMaps], upper_right[kMaps], lower_left[kMaps], lower_right[kMaps];
    int clip[kMaps];
    uint8_t* to[kMaps];
#pragma unroll
    for (int i = 0; i < kMaps; ++i) {
      lower_left[i] = lower_right[i] = 0;
      clip[i] = least[i];
      to[i] = y + map_of(i) * pixels + static_cast<int64_t>(begin) * shape.side + q;
    }
    int at = -2;
    for (int p = begin; p < end; ++p) {
      const Weights row = taps.rows[p];
      const int upper = taps.first_row[p];
      if (upper != at) {
#pragma unroll
        for (int i = 0; i < kMaps; ++i) {
          const double* pixel = corner + i * size + upper * pitch;
          upper_left[i] = upper == at + 1 ? lower_left[i] : pixel[0];
          upper_right[i] = upper == at + 1 ? lower_right[i] : pixel[1];
          lower_left[i] = pixel[pitch];
          lower_right[i] = pixel[pitch + 1];
        }
        at = upper;
      }
#pragma unroll
      for (int i = 0; i < kMaps; ++i) {
        double sum = __dmul_rn(__dmul_rn(upper_left[i], row.before), column.before);
        sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(upper_right[i], row.before), column.after));
        sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(lower_left[i], row.after), column.before));
        sum = __dadd_rn(sum, __dmul_rn(__dmul_rn(lower_right[i], row.after), column.after));
        *to[i] = static_cast<uint8_t>(max(static_cast<int>(sum), clip[i]));
        to[i] += shape.side;
      }
    }
  }
}

size_t shared_bytes(const OpStep& step) {
  return static_cast<size_t>(kMaps * (step.inputs[0][2] + 2) * (step.inputs[0][3] + 2)) * sizeof(double);
}

Refusal refuses(const OpStep& step) {
  if (!std::holds_alternative<ScaleOp>(step.op)) return "scales maps of pixels only";
  if (step.input != ElementType::u8) return "takes pixels, not float32";
  const Shape& x = step.inputs[0];
  const auto most = static_cast<int64_t>(kMostSharedBytes / (kMaps * sizeof(double)));
  if (std::max(x[2], x[3]) > most || shared_bytes(step) > kMostSharedBytes) {
    return "takes maps of 6144 pixels at most, a border of one included";
  }
  if (step.output[2] > kMostSide) return "scales to a side of 4096 at most";
  if (ceil_div(x[0] * x[1], kMaps) >= int64_t{1} << 31) return "takes at most 2^32 maps";
  return std::nullopt;
}

/// Of `prepared`: weights of the rows, those of the columns, where the rows begin, where the columns do.
size_t prepared_bytes(const OpStep& step) {
  return 2 * static_cast<size_t>(step.output[2]) * (sizeof(Weights) + sizeof(int));
}

void prepare(const OpArgs& args, Stream& stream) {
  std::vector<Weights> weights;
  std::vector<int> first;
  for (const int64_t size : {args.step.inputs[0][2], args.step.inputs[0][3]}) {
    const ResizeTaps taps(size, args.step.output[2]);
    for (size_t i = 0; i < taps.first.size(); ++i) {
      weights.push_back({taps.weight0[i], taps.weight1[i]});
      first.push_back(static_cast<int>(taps.first[i]));
    }
  }
  const size_t weight_bytes = weights.size() * sizeof(Weights);
  stream.upload(args.prepared, weights.data(), weight_bytes);
  stream.upload(static_cast<char*>(args.prepared) + weight_bytes, first.data(), first.size() * sizeof(int));
  stream.synchronize();  // the tables are gone with this call
}

void launch_scale(const OpArgs& args, Stream& stream) {
  const Shape &x = args.step.inputs[0], &y = args.step.output;
  ScaleShape shape{
      .maps = x[0] * x[1], .h = static_cast<int>(x[2]), .w = static_cast<int>(x[3]), .side = static_cast<int>(y[2])};
  shape.parts = static_cast<int>(ceil_div(shape.side, shape.maps < kFewMaps ? kFewRows : kRows));
  shape.rows = static_cast<int>(ceil_div(shape.side, shape.parts));
  const int64_t threads = std::min<int64_t>(round_up(int64_t{shape.parts} * shape.side, kWarp), kMostThreads);
  const auto* weights = static_cast<const Weights*>(args.prepared);
  const auto* first = reinterpret_cast<const int*>(weights + 2 * y[2]);
  launch(scale_maps, {.grid = ceil_div(shape.maps, kMaps), .block = threads, .shared_bytes = shared_bytes(args.step)},
         stream.native(), reinterpret_cast<const uint8_t*>(args.inputs[0]), reinterpret_cast<uint8_t*>(args.output),
         Taps{weights, weights + y[2], first, first + y[2]}, shape);
}

const RegisterOpKernel registered{{.name = "cuda.scale",
                                   .device = kCompiledFor,
                                   .refuses = refuses,
                                   .prepared_bytes = prepared_bytes,
                                   .prepare = prepare,
                                   .launch = launch_scale}};

}  // namespace
}  // namespace convlab
