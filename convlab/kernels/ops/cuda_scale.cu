// cuda.scale: scales uint8 images to a square, byte for byte like resized(), so that original images cross the bus, not
// scaled ones.
// The host truncates sums in double. One rounding more or less changes a pixel, but only next to whole numbers. So the
// kernel sums in fp32, and again in double only where fp32 leaves the pixel uncertain (scale_sums.cuh): of
// Fashion-MNIST scaled to 70x70, 21 pixels in 1000, nearly all of them whole numbers except for rounding; scaled to
// 64x64, 6 in 1000.
// A block stages four planes (a channel of an image each) in shared memory and computes a band of output rows there. A
// thread walks down four columns of all four planes: the taps of a row serve 16 pixels, and the blends in two input
// rows serve all outputs between them. Uncertain pixels cluster, in 3 of 10 rows of 32 pixels; they go to a list, so
// that whole warps recompute them.
// Not supported: planes of more than 6144 pixels.
// Limited by the instruction rate, about 17 instructions per pixel from 28x28 to 70x70: estimated from the code for
// sm_90a, not measured.

#include <algorithm>
#include <numeric>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/dataset/resize.h"
#include "convlab/kernels/ops/scale_columns.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kMostThreads = 256;
constexpr int64_t kRows = 20;    // output rows per thread, at most
constexpr int64_t kFewRows = 8;  // the same if planes are too few to fill a GPU, to finish sooner
constexpr int64_t kFewMaps = 1024;
constexpr int64_t kMostPixels = 6144;       // per plane
constexpr int64_t kMostOutput = 24 * 1024;  // bytes of a block's output band, if it has more than one row
constexpr int64_t kPixelsPerDoubt = 16;     // list capacity; if exceeded, all pixels are recomputed in double

/// Packs the position of a pixel of a block into a list entry.
constexpr int kSideBits = 12;
static_assert(kMostSide <= 1 << kSideBits && kMaps <= 1 << (32 - 2 * kSideBits));
__host__ __device__ constexpr uint32_t place(uint32_t map, uint32_t row, uint32_t column) {
  return (map << 2 * kSideBits) + (row << kSideBits) + column;
}

/// Unit: the widest type that is aligned at the start of a group of columns in every row.
template <class Unit>
__global__ void __launch_bounds__(kMostThreads, 3)
    scale_maps(const uint8_t* __restrict__ x, uint8_t* __restrict__ y, ScaleTables tables, ScaleShape shape) {
  __shared__ int least[kMaps], listed;
  const int side = shape.side, begin = static_cast<int>(blockIdx.y) * shape.band_rows;
  const int end = min(begin + shape.band_rows, side);
  const int64_t first_map = static_cast<int64_t>(blockIdx.x) * kMaps;
  const int maps = static_cast<int>(min(int64_t{kMaps}, shape.maps - first_map));
  y += (first_map * side + begin) * side;
  auto* const shared = dynamic_shared<unsigned char>();
  auto* const pixels = reinterpret_cast<uint32_t*>(shared);
  auto* const list = reinterpret_cast<uint32_t*>(shared + shape.list);
  uint8_t* const output = shared + shape.output + reinterpret_cast<uintptr_t>(y) % kLine;
  const auto output_at = [&](int map, int row, int column) {
    return output + map * shape.stride + (row - begin) * side + column;
  };

  if (threadIdx.x < kMaps) least[threadIdx.x] = 255;
  if (threadIdx.x == 0) listed = 0;
  __syncthreads();
  stage(x + first_map * shape.map_pixels, maps, pixels, least, shape);
  __syncthreads();

  for (int item = threadIdx.x; item < shape.items; item += blockDim.x) {
    const int part = item / shape.groups, column = (item - part * shape.groups) * kColumns;
    uint8_t* to = output_at(0, begin + part * shape.part_rows, column);
    const auto store = [&](int map, uint32_t values) {
#pragma unroll
      for (int c = 0; c < kColumns; c += sizeof(Unit)) {
        if (c > 0 && column + c >= side) break;
        *reinterpret_cast<Unit*>(to + map * shape.stride + c) = static_cast<Unit>(values >> 8 * c);
      }
      if (map == kMaps - 1) to += side;
    };
    // One loop for all planes, so that lanes append to the list together, whichever plane is uncertain.
    const auto on_doubts = [&](int last_row, uint32_t(&bits)[kMaps]) {
      int count = 0;
#pragma unroll
      for (int m = 0; m < kMaps; ++m) count += __popc(bits[m]);
      if (count == 0) return;
      const int at = atomicAdd(&listed, count), stop = min(at + count, shape.most_listed);
      uint32_t first = place(0, last_row - (kMaskRows - 1), column);
      for (uint32_t* to = list + at; to < list + stop; ++to) {
        for (; bits[0] == 0; first += place(1, 0, 0)) {
#pragma unroll
          for (int m = 1; m < kMaps; ++m) bits[m - 1] = bits[m];
        }
        const uint32_t bit = 31 - __clz(static_cast<int>(bits[0]));
        bits[0] ^= 1u << bit;
        *to = first + place(0, bit % kMaskRows, bit / kMaskRows);
      }
    };
    scale_columns(shared, tables.rows, tables.columns + column, begin + part * shape.part_rows,
                  min(begin + (part + 1) * shape.part_rows, end), shape, store, on_doubts);
  }
  __syncthreads();

  const auto settle = [&](int map, int row, int column) {
    const ExactTap across = tables.exact_columns[column], down = tables.exact_rows[row];
    const uint8_t* upper = shared + (down.first * shape.w + across.first) * kMaps + map;
    const uint8_t* lower = upper + (down.first + 1 < shape.h ? shape.w * kMaps : 0);
    *output_at(map, row, column) = pixel_in_double({upper[0], upper[kMaps]}, {lower[0], lower[kMaps]}, down, across);
  };
  if (listed <= shape.most_listed) {
    constexpr uint32_t kSideMask = (1 << kSideBits) - 1;
    for (int i = threadIdx.x; i < listed; i += blockDim.x) {
      settle(list[i] >> 2 * kSideBits, list[i] >> kSideBits & kSideMask, list[i] & kSideMask);
    }
  } else {
    const int band_pixels = (end - begin) * side;
    for (int i = threadIdx.x; i < maps * band_pixels; i += blockDim.x) {
      settle(i / band_pixels, begin + i % band_pixels / side, i % side);
    }
  }
  __syncthreads();

  // The host raises pixels to the minimum of their plane: the zeros around it may have lowered them.
  bool raised = false;
  for (int map = 0; map < maps; ++map) {
    if (least[map] == 0) continue;
    uint8_t* const scaled = output_at(map, begin, 0);
    for (int i = threadIdx.x; i < (end - begin) * side; i += blockDim.x) {
      scaled[i] = max(static_cast<int>(scaled[i]), least[map]);
    }
    raised = true;
  }
  if (raised) __syncthreads();
  if (shape.band_rows == side) {
    copy_together(y, output, maps * shape.stride);
  } else {
    for (int map = 0; map < maps; ++map) {
      copy_together(y + static_cast<int64_t>(map) * side * side, output_at(map, begin, 0), (end - begin) * side);
    }
  }
}

int64_t map_pixels(const Step& step) { return step.inputs[0].shape[2] * step.inputs[0].shape[3]; }

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ScaleOp>(step.op)) return "only image scaling is supported";
  if (step.inputs[0].format != kRawPixels) return "input must be uint8, got float32";
  const Shape& x = step.inputs[0].shape;
  if (std::max(x[2], x[3]) > kMostPixels || map_pixels(step) > kMostPixels) {
    return "an image must have at most 6144 pixels per channel";
  }
  if (step.outputs[0].shape[2] > kMostSide) return "output height and width must be at most 4096";
  if (ceil_div(x[0] * x[1], kMaps) >= int64_t{1} << 31) return "images * channels must be at most 2^33";
  return std::nullopt;
}

/// Returns the bytes of `prepared`, which holds the tables of ScaleTables.
size_t prepared_bytes(const Step& step, const DeviceCaps&) {
  const int64_t side = step.outputs[0].shape[2];
  return static_cast<size_t>(side) * (2 * sizeof(ExactTap) + sizeof(Tap)) +
         static_cast<size_t>(round_up(side, kColumns)) * sizeof(Tap);
}

ScaleTables tables_at(const void* prepared, int64_t side) {
  const auto* exact = static_cast<const ExactTap*>(prepared);
  const auto* taps = reinterpret_cast<const Tap*>(exact + 2 * side);
  return {exact, exact + side, taps, taps + side};
}

void prepare(const Args& args, Stream& stream) {
  const int64_t side = args.step.outputs[0].shape[2];
  std::vector<ExactTap> exact;
  std::vector<Tap> taps;
  for (const auto& [size, scale] :
       {std::pair{args.step.inputs[0].shape[2], kRowScale}, std::pair{args.step.inputs[0].shape[3], kColumnScale}}) {
    const ResizeTaps of_host(size, side);
    for (size_t i = 0; i < of_host.first.size(); ++i) {
      const Inputs inputs = inputs_of(of_host, i, size);
      exact.push_back({inputs.before, inputs.after, inputs.first});
      taps.push_back(tap_of(inputs, scale));
    }
  }
  taps.resize(static_cast<size_t>(side + round_up(side, kColumns)));
  const size_t exact_bytes = exact.size() * sizeof(ExactTap);
  stream.upload(args.prepared, exact.data(), exact_bytes);
  stream.upload(static_cast<char*>(args.prepared) + exact_bytes, taps.data(), taps.size() * sizeof(Tap));
  stream.synchronize();  // the host tables are freed on return
}

/// Returns the rows of a band that a thread computes, at most `most`. With a multiple of the period at which input rows
/// repeat, adjacent threads advance to the next input row together. Of these multiples, takes the one that costs the
/// least, counting idle threads.
int64_t choose_part_rows(int64_t h, int64_t side, int64_t band_rows, int64_t groups, int64_t most) {
  constexpr int64_t kStart = 2;  // starting a part costs as much as this many rows
  const int64_t period = side / std::gcd(h, side);
  int64_t best = most, least = 0;
  for (int64_t rows = period; rows <= most; rows += period) {
    const int64_t cost = ceil_div(groups * ceil_div(band_rows, rows), kWarp) * (rows + kStart);
    if (least == 0 || cost < least) {
      least = cost;
      best = rows;
    }
  }
  return best;
}

/// Launches scale_maps<Unit>.
template <class Unit>
void launch_with(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const int64_t maps = x[0] * x[1], side = args.step.outputs[0].shape[2], groups = ceil_div(side, kColumns);
  const int64_t band_rows = std::clamp<int64_t>(kMostOutput / (kMaps * side), 1, side), band_bytes = band_rows * side;
  const int64_t part_rows = choose_part_rows(x[2], side, band_rows, groups, maps < kFewMaps ? kFewRows : kRows);
  const int64_t items = groups * ceil_div(band_rows, part_rows);
  const int64_t threads = round_up(ceil_div(items, ceil_div(items, kMostThreads)), kWarp);
  const int64_t most_listed = kMaps * band_bytes / kPixelsPerDoubt;
  const int64_t list = (map_pixels(args.step) + 1) * int64_t{sizeof(uint32_t)};
  const int64_t output = round_up(list + most_listed * int64_t{sizeof(uint32_t)}, kLine);
  // Modulo kLine, planes are as far apart as in global memory, so that copies are aligned on both sides.
  const int64_t stride = band_bytes + (side * side - band_bytes) % kLine;
  const ScaleShape shape{.maps = maps,
                         .h = static_cast<int>(x[2]),
                         .w = static_cast<int>(x[3]),
                         .map_pixels = static_cast<int>(map_pixels(args.step)),
                         .side = static_cast<int>(side),
                         .band_rows = static_cast<int>(band_rows),
                         .part_rows = static_cast<int>(part_rows),
                         .groups = static_cast<int>(groups),
                         .items = static_cast<int>(items),
                         .stride = static_cast<int>(stride),
                         .most_listed = static_cast<int>(most_listed),
                         .list = static_cast<int>(list),
                         .output = static_cast<int>(output)};
  launch(scale_maps<Unit>,
         {.grid = {ceil_div(maps, kMaps), ceil_div(side, band_rows)},
          .block = threads,
          .shared_bytes = static_cast<size_t>(output + kLine + kMaps * stride)},
         stream.native(), args.input<uint8_t>(0), args.output<uint8_t>(), tables_at(args.prepared, side), shape);
}

void launch_scale(const Args& args, Stream& stream) {
  const uint64_t aligned =
      reinterpret_cast<uintptr_t>(args.output()) | static_cast<uint64_t>(args.step.outputs[0].shape[2]);
  (aligned % 4 == 0   ? launch_with<uint32_t>
   : aligned % 2 == 0 ? launch_with<uint16_t>
                      : launch_with<uint8_t>)(args, stream);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.scale",
             .device = kCompiledFor,
             .family = Family::sampling,
             .idea =
                 "scales uint8 images to a square: sums in fp32, and again in double where rounding decides the pixel"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .prepare = prepare,
    .launch = launch_scale,
}};

}  // namespace
}  // namespace convlab
