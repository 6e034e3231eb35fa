#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/cub/detail/device_launch.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

namespace cub {
namespace detail {

/// Bins of equal width from `lower` to `upper`.
template <class Level>
struct EvenBins {
  int bins;
  Level lower, upper;

  /// Returns the sample's bin, or -1 if it is in none.
  template <class Sample>
  int operator()(const Sample& sample) const {
    using Common = std::common_type_t<Level, Sample>;
    const auto value = static_cast<Common>(sample);
    const auto low = static_cast<Common>(lower), high = static_cast<Common>(upper);
    if (!(value >= low && value < high)) return -1;
    if constexpr (std::is_integral_v<Common>) {
      using Wide = std::conditional_t<sizeof(Common) <= 4, uint64_t, unsigned __int128>;
      const auto from_low = static_cast<std::make_unsigned_t<Common>>(value - low);
      const auto range = static_cast<std::make_unsigned_t<Common>>(high - low);
      return static_cast<int>(static_cast<Wide>(from_low) * static_cast<Wide>(bins) / range);
    } else {
      const int bin = static_cast<int>((value - low) * (static_cast<Common>(bins) / (high - low)));
      return bin < bins ? bin : bins - 1;
    }
  }
};

/// Bin i holds samples from levels[i] up to, and without, levels[i + 1]. `levels` is device memory.
template <class Level>
struct RangeBins {
  int bins;
  const Level* levels;

  template <class Sample>
  int operator()(const Sample& sample) const {
    int below = 0, above = bins + 1;  // levels before `below` are at most the sample, those from `above` on are larger
    while (below < above) {
      const int middle = (below + above) / 2;
      if (levels[middle] <= sample) {
        below = middle + 1;
      } else {
        above = middle;
      }
    }
    return below == bins + 1 ? -1 : below - 1;
  }
};

/// The samples of an image: `channels` neighbors are a pixel.
struct SampleGrid {
  int64_t row_pixels;
  int64_t row_stride_bytes;
  int channels;
  int channel;
};

template <class Counter>
__global__ void DeviceHistogramInit(Counter* histogram, int bins) {
  for (int bin = 0; bin < bins; ++bin) histogram[bin] = 0;
}

/// Pixel i of the grid is sample `channel` of pixel i % row_pixels of its row.
template <class Samples, class Counter, class Bins>
__global__ void DeviceHistogramCount(Samples samples, Counter* histogram, Bins bins, SampleGrid grid, Chunks chunks) {
  static_assert(sizeof(Counter) >= 4, "CUB's counters are integers of 4 or 8 bytes");
  using Atomic = std::conditional_t<sizeof(Counter) == 8, unsigned long long, unsigned>;
  const int chunk = static_cast<int>(blockIdx.x);
  const int64_t row_samples = grid.row_stride_bytes / static_cast<int64_t>(sizeof(value_of<Samples>));
  for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
    const int64_t at = i / grid.row_pixels * row_samples + i % grid.row_pixels * grid.channels + grid.channel;
    const int bin = bins(samples[at]);
    if (bin >= 0) atomicAdd(reinterpret_cast<Atomic*>(histogram + bin), Atomic{1});
  }
}

template <class Samples, class Counter, class Bins>
cudaError_t histogram(Samples samples, Counter* counts, const Bins& bins, const SampleGrid& grid, int64_t rows,
                      cudaStream_t stream, Where where) {
  const cudaError_t error = run(DeviceHistogramInit<Counter>, 1, stream, where, counts, bins.bins);
  const int64_t pixels = grid.row_pixels * rows;
  if (error != cudaSuccess || pixels == 0) return error;
  const Chunks chunks = chunks_of(pixels);
  return run(DeviceHistogramCount<Samples, Counter, Bins>, chunks.count, stream, where, samples, counts, bins, grid,
             chunks);
}

}  // namespace detail

/// Histograms of samples. A histogram has one bin less than there are levels; samples outside them are not counted.
struct DeviceHistogram {
  template <class Samples, class Counter, class Level, class Count>
  static cudaError_t HistogramEven(void* d_temp_storage, size_t& temp_storage_bytes, Samples d_samples,
                                   Counter* d_histogram, int num_levels, Level lower_level, Level upper_level,
                                   Count num_samples, cudaStream_t stream = nullptr,
                                   detail::Where where = detail::Where::current()) {
    return HistogramEven(d_temp_storage, temp_storage_bytes, d_samples, d_histogram, num_levels, lower_level,
                         upper_level, static_cast<int64_t>(num_samples), int64_t{1},
                         static_cast<size_t>(num_samples) * sizeof(detail::value_of<Samples>), stream, where);
  }
  template <class Samples, class Counter, class Level, class Count>
  static cudaError_t HistogramEven(void* d_temp_storage, size_t& temp_storage_bytes, Samples d_samples,
                                   Counter* d_histogram, int num_levels, Level lower_level, Level upper_level,
                                   Count num_row_samples, Count num_rows, size_t row_stride_bytes,
                                   cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    const detail::EvenBins<Level> bins{num_levels - 1, lower_level, upper_level};
    return one(d_temp_storage, temp_storage_bytes, d_samples, d_histogram, bins, num_row_samples, num_rows,
               row_stride_bytes, stream, where);
  }
  template <class Samples, class Counter, class Level, class Count>
  static cudaError_t HistogramRange(void* d_temp_storage, size_t& temp_storage_bytes, Samples d_samples,
                                    Counter* d_histogram, int num_levels, const Level* d_levels, Count num_samples,
                                    cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    const detail::RangeBins<Level> bins{num_levels - 1, d_levels};
    return one(d_temp_storage, temp_storage_bytes, d_samples, d_histogram, bins, num_samples, Count{1},
               static_cast<size_t>(num_samples) * sizeof(detail::value_of<Samples>), stream, where);
  }
  /// Histograms of the first NUM_ACTIVE_CHANNELS of NUM_CHANNELS interleaved channels.
  template <int NUM_CHANNELS, int NUM_ACTIVE_CHANNELS, class Samples, class Counter, class Level, class Count>
  static cudaError_t MultiHistogramEven(void* d_temp_storage, size_t& temp_storage_bytes, Samples d_samples,
                                        Counter* d_histogram[NUM_ACTIVE_CHANNELS],
                                        const int num_levels[NUM_ACTIVE_CHANNELS],
                                        const Level lower_level[NUM_ACTIVE_CHANNELS],
                                        const Level upper_level[NUM_ACTIVE_CHANNELS], Count num_pixels,
                                        cudaStream_t stream = nullptr, detail::Where where = detail::Where::current()) {
    detail::Temporary temporary(d_temp_storage, temp_storage_bytes, 1);
    if (temporary.is_over()) return temporary.error();
    for (int channel = 0; channel < NUM_ACTIVE_CHANNELS; ++channel) {
      const detail::SampleGrid grid{static_cast<int64_t>(num_pixels), 0, NUM_CHANNELS, channel};
      const detail::EvenBins<Level> bins{num_levels[channel] - 1, lower_level[channel], upper_level[channel]};
      const cudaError_t error = detail::histogram(d_samples, d_histogram[channel], bins, grid, 1, stream, where);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }

 private:
  template <class Samples, class Counter, class Bins, class Count>
  static cudaError_t one(void* storage, size_t& bytes, Samples samples, Counter* counts, const Bins& bins,
                         Count row_samples, Count rows, size_t row_stride_bytes, cudaStream_t stream,
                         detail::Where where) {
    detail::Temporary temporary(storage, bytes, 1);
    if (temporary.is_over()) return temporary.error();
    const detail::SampleGrid grid{static_cast<int64_t>(row_samples), static_cast<int64_t>(row_stride_bytes), 1, 0};
    return detail::histogram(samples, counts, bins, grid, static_cast<int64_t>(rows), stream, where);
  }
};

}  // namespace cub
