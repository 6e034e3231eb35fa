#pragma once

#include "convlab/kernels/conv/deep_layer_input.cuh"
#include "convlab/kernels/conv/deep_layer_output.cuh"
#include "convlab/kernels/conv/deep_layer_weights.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The roles of deep_layer.cuh at work.

/// A kernel's shape: `R` filter rows, `Columns` of 8 maps a block; units of `Rows` rows; warps of each role.
template <int R, int Columns, int Rows, int Consumers, int Producers, template <int> class InputOf,
          template <int, int> class OutputOf>
struct DeepConfig {
  static constexpr int kR = R, kColumns = Columns, kRows = Rows;
  static constexpr int kConsumers = Consumers, kProducers = Producers;
  static constexpr int kThreads = (Consumers + Producers) * 32;
  static constexpr int kMostBuffers = 4;
  static constexpr int kTurns = 2 * kMostBuffers;  ///< more than consumers are ever apart, which buffers limit
  using Input = InputOf<Producers * 32>;
  using Output = OutputOf<Columns, Rows>;
};

/// Where things lie in a block's shared memory, in bytes.
struct DeepMemory {
  int scratch, offsets, bias, filters, results, buffers, end;

  template <class Config>
  static __host__ __device__ DeepMemory of(const DeepLayer& layer) {
    DeepMemory at{};
    at.scratch = 144;  // behind barriers, counts and what is known of staged tasks
    at.offsets = at.scratch + 32 * Config::kProducers;
    at.bias = at.offsets + (layer.steps * 8 + 15) / 16 * 16;
    at.filters = at.bias + Config::kColumns * 8 * 4;
    at.results = (at.filters + layer.steps * Config::kR * Config::kColumns * 32 * 8 + 127) / 128 * 128;
    at.buffers = at.results + (Config::Output::bytes(layer) + 127) / 128 * 128;
    at.end = at.buffers + layer.buffers * layer.buffer_bytes();
    return at;
  }
};

/// A block's shared memory.
template <class Config>
struct DeepBlock {
  char* memory = dynamic_shared<char>();
  DeepMemory at;
  uint64_t* full = reinterpret_cast<uint64_t*>(memory);  ///< a buffer is staged
  uint64_t* empty = full + Config::kMostBuffers;         ///< and may be staged again
  Staged* staged = reinterpret_cast<Staged*>(memory + 64);
  int* drained = reinterpret_cast<int*>(memory + 96);  ///< tasks whose results have been written to y
  int* stored = drained + 1;  ///< consumers that have stored their results, of the last kTurns tasks by turns
  char* results;
  float* bias;

  __device__ DeepBlock(const DeepLayer& layer)
      : at(DeepMemory::of<Config>(layer)),
        results(memory + at.results),
        bias(reinterpret_cast<float*>(memory + at.bias)) {}

  __device__ SharedAddress buffer(const DeepLayer& layer, int index) const {
    return to_shared(memory + at.buffers) + index * layer.buffer_bytes();
  }

  /// Offsets, filters and bias; and zeros, since tiles reach beyond what is staged. By all threads, without a barrier.
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
    for (int i = threadIdx.x; i < (at.end - at.buffers) / 16; i += Config::kThreads) slots[i] = {0, 0, 0, 0};
  }
};

/// The arrays of a launch.
struct DeepArrays {
  const void* x;
  const float* w;
  const float* bias;
  void* y;
  const FilterHeader* header;  ///< filters follow it
};

/// A consumer: takes the units of tasks that are its turn.
template <class Config>
struct Consumer {
  const DeepLayer& layer;
  const DeepArrays& arrays;
  const DeepBlock<Config>& block;
  FilterHeader header = *arrays.header;
  int turn = threadIdx.x / 32;  ///< units until the next that is this warp's

  /// Calls release() when the buffer is needed no more, and claim() before results are stored.
  template <class Release, class Claim>
  __device__ void consume(const Task& task, SharedAddress buffer, char* results, const Staged& staged,
                          const Release& release, const Claim& claim) {
    constexpr int kRows = Config::kRows, kColumns = Config::kColumns;
    const int units = task.units<kRows>(layer), first_map = blockIdx.y * kColumns * 8;
    if (turn >= units) release();
    bool first = true;
    for (; turn < units; turn += Config::kConsumers) {
      const bool last = turn + Config::kConsumers >= units;
      if (by_definition(staged)) {
        if constexpr (!Config::Input::kCopies) {
          const Finish finish{1, block.bias, first_map, layer.least};
          store_by_definition<kRows>(layer, task, turn, Config::kR, static_cast<const float*>(arrays.x), arrays.w,
                                     finish, kColumns * 8, static_cast<float*>(arrays.y));
        }
        if (last) release();
        continue;
      }
      float sum[kRows][kColumns][4];
      multiply_unit<Config::kR>(sum, layer, task, turn, buffer,
                                reinterpret_cast<const int*>(block.memory + block.at.offsets),
                                reinterpret_cast<const uint2*>(block.memory + block.at.filters));
      if (last) release();
      const Finish finish{staged.unscale * header.unscale, block.bias, first_map, layer.least};
      finish(sum);
      if (first) claim();
      first = false;
      Config::Output::store(sum, layer, task, turn, first_map, results);
    }
    turn -= units;
  }

  /// One warp writes to y what all have stored.
  __device__ void drain(const Task& task, char* results, const Staged& staged) const {
    if (by_definition(staged)) return;
    Config::Output::drain(layer, task, blockIdx.y * Config::kColumns * 8, arrays.y, results);
  }

 private:
  __device__ bool by_definition(const Staged& staged) const {
    return !Config::Input::kCopies && (staged.by_definition || header.by_definition);
  }
};

/// The kernel: blocks in x share the tasks, blocks in y the maps.
template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    convolve_deep_layer(const __grid_constant__ DeepLayer layer, const __grid_constant__ DeepArrays arrays) {
  const DeepBlock<Config> block(layer);
  block.fill(layer, arrays.bias, reinterpret_cast<const uint2*>(arrays.header + 1));
  const int tasks = layer.n * layer.bands, warp = threadIdx.x / 32;
  const int producer = threadIdx.x - Config::kConsumers * 32;  // its number, where it is one
  typename Config::Input input(layer, arrays.x, producer, block.memory + block.at.scratch);
  Consumer<Config> consumer{layer, arrays, block};
#ifdef __CUDACC__
  if (threadIdx.x == 0) {
    for (int buffer = 0; buffer < layer.buffers; ++buffer) {
      barrier_init(block.full + buffer, Config::kProducers * 32);
      barrier_init(block.empty + buffer, Config::kConsumers * 32);
    }
    for (int i = 0; i < 1 + Config::kTurns; ++i) block.drained[i] = 0;
  }
  __syncthreads();
  int buffer = 0;
  uint32_t parity = 0;
  const auto next = [&] {
    if (++buffer < layer.buffers) return;
    buffer = 0;
    parity ^= 1;
  };
  if (warp < Config::kConsumers) {
    int done = 0;  // tasks of this block
    for (int index = blockIdx.x; index < tasks; index += gridDim.x, next(), ++done) {
      barrier_wait(block.full + buffer, parity);
      const Staged staged = Config::Input::kCopies ? Staged{} : block.staged[buffer];
      const Task task(layer, index);
      const auto release = [&] { barrier_arrive(block.empty + buffer); };
      const auto claim = [&] { wait_for_count(block.drained, done); };
      consumer.consume(task, block.buffer(layer, buffer), block.results, staged, release, claim);
      fence_for_copies();
      __syncwarp();
      int* stored = block.stored + done % Config::kTurns;
      // The last to come writes the task's results, while the others go on.
      int before = 0;
      if (threadIdx.x % 32 == 0) before = count_in_order(stored, 1);
      if (__shfl_sync(0xffffffffu, before, 0) + 1 < Config::kConsumers) continue;
      if (threadIdx.x % 32 == 0) *stored = 0;
      fence_for_copies();
      consumer.drain(task, block.results, staged);
      __syncwarp();
      if (threadIdx.x % 32 == 0) count_in_order(block.drained, 1);
    }
  } else {
    for (int index = blockIdx.x; index < tasks; index += gridDim.x, next()) {
      barrier_wait(block.empty + buffer, parity ^ 1);
      const Task task(layer, index);
      input.template begin<Config::kR>(task, block.buffer(layer, buffer));
      if constexpr (Config::Input::kCopies) {
        arrive_with_copies(block.full + buffer);
      } else {
        if (index + gridDim.x < tasks) input.template prefetch<Config::kR>(Task(layer, index + gridDim.x));
        barrier_of_some(1, Config::kProducers * 32);
        const Staged staged = input.template finish<Config::kR>(task, block.buffer(layer, buffer));
        if (producer == 0) block.staged[buffer] = staged;
        barrier_arrive(block.full + buffer);
      }
    }
  }
#else
  // The host's version of shared memory has no such barriers: the roles take turns.
  __syncthreads();
  for (int index = blockIdx.x; index < tasks; index += gridDim.x) {
    const Task task(layer, index);
    const SharedAddress buffer = block.buffer(layer, 0);
    if (warp >= Config::kConsumers) input.template begin<Config::kR>(task, buffer);
    __syncthreads();
    if (warp >= Config::kConsumers) {
      const Staged staged = input.template finish<Config::kR>(task, buffer);
      if (producer == 0) block.staged[0] = staged;
    }
    __syncthreads();
    const auto nothing = [] {};
    if (warp < Config::kConsumers) consumer.consume(task, buffer, block.results, block.staged[0], nothing, nothing);
    __syncthreads();
    if (warp == 0) consumer.drain(task, block.results, block.staged[0]);
    __syncthreads();
  }
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
