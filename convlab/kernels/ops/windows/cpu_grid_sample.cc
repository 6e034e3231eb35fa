// cpu.grid_sample: samples an image at the positions of a grid, interpolating between pixels.
// Threads: a work item is a row of the grid of an image, for all channels.
// Supports every case of its operator. A position that is NaN, or infinite with reflection, gives NaN.
// Limited by loads from all over the image.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_grid_sample {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GridSampleOp>(step.op)) return "only GridSample is supported";
  return std::nullopt;
}

constexpr int64_t kOutside = -1;

/// The taps of one position along one axis: up to four pixels, or kOutside, and their weights.
struct Taps {
  int count = 0;
  std::array<int64_t, 4> pixels = {};
  std::array<double, 4> weights = {};
};

/// Returns x mirrored at both ends until it is between them.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (x >= low && x <= high) return x;
  if (range == 0) return low;
  const double beyond = x < low ? low - x : x - high;
  const double rest = std::fmod(beyond, range);
  const bool turned = std::fmod(std::floor(beyond / range), 2) != 0;
  return (x < low) != turned ? low + rest : high - rest;
}

/// Returns the pixel index of an integral coordinate, or kOutside.
int64_t pixel_of(const GridSampleOp& op, double x, int64_t size, double low, double high) {
  const auto last = static_cast<double>(size - 1);
  if (op.padding == SamplePadding::zeros && (x < 0 || x > last)) return kOutside;
  if (op.padding == SamplePadding::reflection) x = reflected(x, low, high);
  return static_cast<int64_t>(std::clamp(x, 0.0, last));
}

Taps taps_of(const GridSampleOp& op, float place, int64_t size) {
  constexpr double kA = -0.75;
  const auto length = static_cast<double>(size);
  const double low = op.align_corners ? 0 : -0.5, high = op.align_corners ? length - 1 : length - 0.5;
  double x = op.align_corners ? (place + 1.0) / 2 * (length - 1) : ((place + 1.0) * length - 1) / 2;
  if (op.mode == SampleMode::nearest) x = std::nearbyint(x);
  if (x < low || x > high) {
    if (op.padding == SamplePadding::border) x = std::clamp(x, 0.0, length - 1);
    if (op.padding == SamplePadding::reflection) x = reflected(x, low, high);
  }
  x = std::clamp(x, -4.0, length + 4);  // further out only with SamplePadding::zeros, where pixels are 0
  if (op.mode == SampleMode::nearest) return {1, {pixel_of(op, x, size, low, high)}, {1}};
  const double base = std::floor(x), t = x - base;
  Taps taps{.count = op.mode == SampleMode::linear ? 2 : 4};
  const double first = op.mode == SampleMode::linear ? base : base - 1;
  for (int i = 0; i < taps.count; ++i) {
    const double distance = std::fabs(first + i - x);
    auto& weight = taps.weights[static_cast<size_t>(i)];
    if (op.mode == SampleMode::linear) {
      weight = i == 0 ? 1 - t : t;
    } else if (distance <= 1) {
      weight = ((kA + 2) * distance - (kA + 3)) * distance * distance + 1;
    } else {
      weight = ((kA * distance - 5 * kA) * distance + 8 * kA) * distance - 4 * kA;
    }
    // Skip a pixel of weight 0: it may be NaN.
    taps.pixels[static_cast<size_t>(i)] = weight == 0 ? kOutside : pixel_of(op, first + i, size, low, high);
  }
  return taps;
}

float sample(const float* map, int64_t width, const Taps& rows, const Taps& columns) {
  double sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(rows.count); ++i) {
    if (rows.pixels[i] == kOutside) continue;
    double row = 0;
    for (size_t j = 0; j < static_cast<size_t>(columns.count); ++j) {
      if (columns.pixels[j] == kOutside) continue;
      row += columns.weights[j] * map[rows.pixels[i] * width + columns.pixels[j]];
    }
    sum += rows.weights[i] * row;
  }
  return static_cast<float>(sum);
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<GridSampleOp>(args.step.op);
  const Shape &x = args.step.inputs[0].shape, &y = args.step.outputs[0].shape;
  const int64_t channels = x[1], height = x[2], width = x[3], area = y[2] * y[3];
  stream.threads()->parallel_for(y[0] * y[2], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t image = row / y[2], p = row % y[2];
      for (int64_t q = 0; q < y[3]; ++q) {
        const float* place = args.input(1) + (row * y[3] + q) * 2;
        const bool known = op.padding == SamplePadding::reflection ? std::isfinite(place[0]) && std::isfinite(place[1])
                                                                   : !std::isnan(place[0]) && !std::isnan(place[1]);
        const Taps rows = known ? taps_of(op, place[1], height) : Taps{};
        const Taps columns = known ? taps_of(op, place[0], width) : Taps{};
        for (int64_t c = 0; c < channels; ++c) {
          const float* map = args.input(0) + (image * channels + c) * height * width;
          args.output()[(image * channels + c) * area + p * y[3] + q] =
              known ? sample(map, width, rows, columns) : std::numeric_limits<float>::quiet_NaN();
        }
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.grid_sample",
             .device = DeviceKind::cpu,
             .family = Family::sampling,
             .idea = "samples images at the positions of a grid; all channels share the weights of a position"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_grid_sample
