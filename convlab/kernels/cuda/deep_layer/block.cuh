#pragma once

#include "convlab/kernels/cuda/deep_layer/input.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Warps and shared memory of a block of deep_layer.cuh.

/// Configuration of a kernel: `R` filter rows, `Columns` columns of 8 output channels per block, units of `Rows` rows,
/// and the warps of each role; the writer is one more.
template <int R, int Columns, int Rows, int Consumers, int Producers, template <int> class InputOf,
          template <int, int> class OutputOf>
struct DeepConfig {
  static constexpr int kR = R, kColumns = Columns, kRows = Rows;
  static constexpr int kConsumers = Consumers, kProducers = Producers;
  static constexpr int kThreads = (Consumers + Producers + 1) * 32;
  static constexpr int kMostBuffers = 4, kMostResultBuffers = 2;
  /// Ring of Staged: more tasks than producers can be ahead of the writer, which the buffers limit.
  static constexpr int kTurns = 8;
  static_assert(kTurns > kMostBuffers + kMostResultBuffers);
  static constexpr int kBarriers = 2 * kMostBuffers + 2 * kMostResultBuffers + 1;
  using Input = InputOf<Producers * 32>;
  using Output = OutputOf<Columns, Rows>;
};

/// Byte offsets in a block's shared memory.
struct DeepMemory {
  int scratch, offsets, bias, filters, results, result_bytes, buffers, raw, end;

  template <class Config>
  static __host__ __device__ DeepMemory of(const DeepLayer& layer) {
    DeepMemory at{};
    at.scratch = (Config::kBarriers * 8 + Config::kTurns * static_cast<int>(sizeof(Staged)) + 15) / 16 * 16;
    at.offsets = at.scratch + 32 * Config::kProducers;
    at.bias = at.offsets + (layer.steps * 8 + 15) / 16 * 16;
    at.filters = at.bias + Config::kColumns * 8 * 4;
    at.results = (at.filters + layer.steps * Config::kR * Config::kColumns * 32 * 8 + 127) / 128 * 128;
    at.result_bytes = (Config::Output::bytes(layer) + 127) / 128 * 128;
    at.buffers = at.results + layer.result_buffers * at.result_bytes;
    at.raw = at.buffers + layer.buffers * layer.buffer_bytes();
    at.end = at.raw + layer.raw_bytes;
    return at;
  }
};

/// A warp's position in a ring of buffers.
struct Rounds {
  int buffers, buffer = 0;
  uint32_t parity = 0;  ///< of this round, for barrier_wait()

  __device__ void next() {
    if (++buffer < buffers) return;
    buffer = 0;
    parity ^= 1;
  }
};

/// A block's shared memory.
template <class Config>
struct DeepBlock {
  char* memory = dynamic_shared<char>();
  DeepMemory at;
  uint64_t* full = reinterpret_cast<uint64_t*>(memory);      ///< a buffer is staged
  uint64_t* empty = full + Config::kMostBuffers;             ///< a buffer may be staged again
  uint64_t* stored = empty + Config::kMostBuffers;           ///< a buffer of results is full
  uint64_t* drained = stored + Config::kMostResultBuffers;   ///< a buffer's results have been copied to y
  uint64_t* fetched = drained + Config::kMostResultBuffers;  ///< the input's bulk copies have arrived
  Staged* staged = reinterpret_cast<Staged*>(fetched + 1);   ///< of the last kTurns tasks
  float* bias;

  __device__ DeepBlock(const DeepLayer& layer)
      : at(DeepMemory::of<Config>(layer)), bias(reinterpret_cast<float*>(memory + at.bias)) {}

  __device__ SharedAddress buffer(const DeepLayer& layer, int index) const {
    return to_shared(memory + at.buffers) + index * layer.buffer_bytes();
  }

  __device__ char* results(int index) const { return memory + at.results + index * at.result_bytes; }

  /// Loads offsets, filters and bias to shared memory, and zeros the input buffers, because tiles extend beyond the
  /// staged pixels. All threads take part; there is no barrier.
  __device__ void fill(const DeepLayer& layer, const float* from_bias, const uint2* from_filters) const {
    auto* offsets = reinterpret_cast<int*>(memory + at.offsets);
    for (int i = threadIdx.x; i < layer.steps * 2; i += Config::kThreads) {
      const Half half(layer, i);
      offsets[i] = half.plane * layer.plane_bytes() + half.tap * 16;
    }
    const int first_map = blockIdx.y * Config::kColumns * 8;
    for (int i = threadIdx.x; i < Config::kColumns * 8; i += Config::kThreads) {
      bias[i] = from_bias != nullptr && first_map + i < layer.k ? from_bias[first_map + i] : 0;
    }
    const int count = layer.steps * Config::kR * Config::kColumns * 32;
    auto* filters = reinterpret_cast<uint2*>(memory + at.filters);
    from_filters += blockIdx.y * count;
    for (int i = threadIdx.x; i < count; i += Config::kThreads) filters[i] = from_filters[i];
    auto* slots = reinterpret_cast<uint4*>(memory + at.buffers);
    for (int i = threadIdx.x; i < (at.raw - at.buffers) / 16; i += Config::kThreads) slots[i] = {0, 0, 0, 0};
  }
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
