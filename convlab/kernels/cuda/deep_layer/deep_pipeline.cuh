#pragma once

#include "convlab/kernels/cuda/deep_layer/block.cuh"
#include "convlab/kernels/cuda/deep_layer/output.cuh"
#include "convlab/kernels/cuda/deep_layer/plain_input.cuh"
#include "convlab/kernels/cuda/deep_layer/products.cuh"
#include "convlab/kernels/cuda/deep_layer/weights.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// The loops of the roles of deep_layer.cuh.

/// The arrays of a launch.
struct DeepArrays {
  const void* x;
  const float* w;
  const float* bias;
  void* y;
  const FilterHeader* header;  ///< filters follow it
};

/// A consumer warp, which takes every kConsumers-th unit.
template <class Config>
struct Consumer {
  static constexpr int kRows = Config::kRows, kColumns = Config::kColumns;

  const DeepLayer& layer;
  const DeepArrays& arrays;
  const DeepBlock<Config>& block;
  FilterHeader header = *arrays.header;
  int turn = threadIdx.x / 32;  ///< index of this warp's next unit in the task

  /// Calls release() when it no longer needs the buffer, and claim() before it stores results, each once.
  template <class Release, class Claim>
  __device__ void consume(const Task& task, SharedAddress buffer, char* results, const Staged& staged,
                          const Release& release, const Claim& claim) {
    const int units = task.units<kRows>(layer), first_map = blockIdx.y * kColumns * 8;
    if (turn >= units) release();
    bool claimed = false;
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
      const Position<kRows> at(layer, task, turn * 16 + threadIdx.x % 16);
      // Lanes without an output read the first output's pixels; any staged pixels would do.
      const SharedAddress pixel = buffer + (at.exists ? (at.row * layer.pitch + at.column) * 16 : 0);
      const auto* offsets = reinterpret_cast<const int*>(block.memory + block.at.offsets) + threadIdx.x % 32 / 16;
      const auto* filters = reinterpret_cast<const uint2*>(block.memory + block.at.filters) + threadIdx.x % 32;
      multiply_unit<Config::kR>(sum, layer, pixel, offsets, filters);
      if (last) release();
      const Finish finish{staged.unscale * header.unscale, block.bias, first_map, layer.least};
      finish(sum);
      if (!claimed) claim();
      claimed = true;
      Config::Output::store(sum, layer, task, turn, at, first_map, results);
    }
    if (!claimed) claim();
    turn -= units;
  }

  __device__ bool by_definition(const Staged& staged) const {
    return !Config::Input::kCopies && (staged.by_definition || header.by_definition);
  }
};

/// The kernel: blocks in x share the tasks, blocks in y the output channels.
template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    convolve_deep_layer(const __grid_constant__ DeepLayer layer, const __grid_constant__ DeepArrays arrays) {
  const DeepBlock<Config> block(layer);
  block.fill(layer, arrays.bias, reinterpret_cast<const uint2*>(arrays.header + 1));
  const int tasks = layer.n * layer.bands, warp = threadIdx.x / 32;
  const int producer = threadIdx.x - Config::kConsumers * 32;  // index of the producer thread, if it is one
  const int first_map = blockIdx.y * Config::kColumns * 8;
  Consumer<Config> consumer{layer, arrays, block};
#ifdef __CUDACC__
  // Every thread arrives, although one lane could arrive for its warp: racecheck does not see that a warp's lanes have
  // synchronized before.
  if (threadIdx.x == 0) {
    for (int buffer = 0; buffer < layer.buffers; ++buffer) {
      barrier_init(block.full + buffer, Config::kProducers * 32);
      barrier_init(block.empty + buffer, Config::kConsumers * 32);
    }
    for (int buffer = 0; buffer < layer.result_buffers; ++buffer) {
      barrier_init(block.stored + buffer, Config::kConsumers * 32);
      barrier_init(block.drained + buffer, 32);
    }
    barrier_init(block.fetched, 1);
  }
  __syncthreads();
  Rounds in{layer.buffers}, out{layer.result_buffers};
  int done = 0;  // tasks that this block has finished
  const auto next = [&] {
    ++done;
    in.next();
    out.next();
  };
  if (warp < Config::kConsumers) {
    for (int index = blockIdx.x; index < tasks; index += gridDim.x, next()) {
      barrier_wait(block.full + in.buffer, in.parity);
      const Staged staged = Config::Input::kCopies ? Staged{} : block.staged[done % Config::kTurns];
      const auto release = [&] { barrier_arrive(block.empty + in.buffer); };
      const auto claim = [&] { barrier_wait(block.drained + out.buffer, out.parity ^ 1); };
      consumer.consume(Task(layer, index), block.buffer(layer, in.buffer), block.results(out.buffer), staged, release,
                       claim);
      fence_for_async();
      barrier_arrive(block.stored + out.buffer);
    }
  } else if (warp < Config::kConsumers + Config::kProducers) {
    typename Config::Input input(layer, arrays.x, producer, block.memory + block.at.scratch,
                                 to_shared(block.memory + block.at.raw), block.fetched);
    if constexpr (Config::Input::kCopies) {
      for (int index = blockIdx.x; index < tasks; index += gridDim.x, next()) {
        barrier_wait(block.empty + in.buffer, in.parity ^ 1);
        input.template begin<Config::kR>(Task(layer, index), block.buffer(layer, in.buffer));
        arrive_with_copies(block.full + in.buffer);
      }
    } else {
      const auto all_here = [] { barrier_of_some(1, Config::kProducers * 32); };
      if (blockIdx.x < tasks) input.template fetch<Config::kR>(Task(layer, blockIdx.x));
      for (int index = blockIdx.x; index < tasks; index += gridDim.x, next()) {
        const Task task(layer, index);
        barrier_wait(block.empty + in.buffer, in.parity ^ 1);
        input.await();
        input.template begin<Config::kR>(task, block.buffer(layer, in.buffer));
        all_here();
        const Staged staged = input.template finish<Config::kR>(task, block.buffer(layer, in.buffer));
        if (producer == 0) block.staged[done % Config::kTurns] = staged;
        barrier_arrive(block.full + in.buffer);
        if (input.again()) all_here();
        const int coming = index + static_cast<int>(gridDim.x);
        if (coming < tasks) input.template fetch<Config::kR>(Task(layer, coming));
      }
    }
  } else {
    for (int index = blockIdx.x; index < tasks; index += gridDim.x, next()) {
      barrier_wait(block.stored + out.buffer, out.parity);
      const Staged staged = Config::Input::kCopies ? Staged{} : block.staged[done % Config::kTurns];
      fence_for_async();
      if (!consumer.by_definition(staged)) {
        Config::Output::drain(layer, Task(layer, index), first_map, arrays.y, block.results(out.buffer));
      }
      barrier_arrive(block.drained + out.buffer);
    }
  }
#else
  // The host emulation of shared memory has no such barriers: the roles run one after another.
  typename Config::Input input(layer, arrays.x, producer, block.memory + block.at.scratch,
                               to_shared(block.memory + block.at.raw), block.fetched);
  const bool produces = warp >= Config::kConsumers && warp < Config::kConsumers + Config::kProducers;
  __syncthreads();
  for (int index = blockIdx.x; index < tasks; index += gridDim.x) {
    const Task task(layer, index);
    const SharedAddress buffer = block.buffer(layer, 0);
    char* const results = block.results(0);
    if constexpr (!Config::Input::kCopies) {
      if (produces) input.template fetch<Config::kR>(task);
      wait_for_copies();
      __syncthreads();
    }
    if (produces) input.template begin<Config::kR>(task, buffer);
    wait_for_copies();
    __syncthreads();
    if (produces) {
      const Staged staged = input.template finish<Config::kR>(task, buffer);
      if (producer == 0) block.staged[0] = staged;
    }
    __syncthreads();
    const auto nothing = [] {};
    const Staged staged = block.staged[0];
    if (warp < Config::kConsumers) consumer.consume(task, buffer, results, staged, nothing, nothing);
    __syncthreads();
    if (warp == Config::kConsumers + Config::kProducers && !consumer.by_definition(staged)) {
      Config::Output::drain(layer, task, first_map, arrays.y, results);
    }
    __syncthreads();
  }
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
