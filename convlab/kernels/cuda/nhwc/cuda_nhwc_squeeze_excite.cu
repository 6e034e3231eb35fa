// cuda.nhwc_squeeze_excite, cuda.nhwc_squeeze_excite_fp32: squeeze-and-excitation (SqueezeExciteOp) in nhwc in one
// launch: images are scaled by gates that are computed from their means. The blocks of a cluster share an image: each
// sums its pixels, has an eighth of the channels in both products, and scales its pixels, the last first, because L2
// still holds many of these. On GPUs without clusters, a block has an image. Keeping pixels in shared memory was no
// faster, for 64 images as for one.
// Not supported: few large images, for which separate steps use more of the GPU.
// Limited by memory; with few images, by the latency of dependent operations.

#include <algorithm>

#include "convlab/device/cluster.cuh"
#include "convlab/device/early_launch.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 512, kClusterBlocks = 8;
constexpr int kLanesOfRow = 8;  // threads that share a row of a product
static_assert(kChannelLanes % kClusterBlocks == 0);

constexpr int64_t kMostChannels = 4096, kMostSqueezed = 1024;
constexpr int64_t kMostOfCluster = int64_t{2} << 20;  // maximum bytes of an image, if there is only one
constexpr size_t kMostShared = size_t{96} << 10;      // shared memory in bytes of a block that copies its weights

template <class Element>
struct SqueezeExcite {
  const Element* x;
  int64_t x_step;
  Element* y;
  int64_t y_step;
  const float* weights;  ///< packed by pack_weights()
  Activation squeeze, excite;
  int channels, squeezed, pixels;
  int lanes, rows;  ///< threads along channels, each with 8 channels of a pixel, and threads along pixels
  bool copies;      ///< whether blocks copy their weights to shared memory first
};

/// Messages between the blocks of a cluster. Each is sent once and has its own barrier.
enum Message { kWeights, kSums, kParts, kGates, kMessages };

/// The blocks that share an image: a cluster of kBlocks, or one. They send each other values through distributed shared
/// memory.
template <int kBlocks>
struct ImageBlocks {
  int rank = 0;
  uint64_t* barriers;

  __device__ explicit ImageBlocks(uint64_t* barriers_) : barriers(barriers_) {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) rank = rank_in_cluster();
#endif
  }
  /// Sets the bytes that this block will receive. One thread calls it before anything is sent.
  __device__ void expect([[maybe_unused]] Message message, [[maybe_unused]] int bytes) const {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) {
      barrier_init(barriers + message, 1);
      barrier_arrive_expecting(barriers + message, bytes);
    }
#endif
  }
  __device__ void begin() const {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) {
      publish_barriers();
      fence_for_async();
      synchronize_cluster();
    }
#endif
  }
  /// Writes to a block's shared memory. `to` is the corresponding address in this block.
  __device__ void send_to([[maybe_unused]] int block, [[maybe_unused]] Message message, float* to, float value) const {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) return send(value, to, barriers + message, block);
#endif
    *to = value;
  }
  __device__ void send_to_all(Message message, float* to, float value) const {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) send_to(block, message, to, value);
  }
  /// Waits until this block has received the whole message.
  __device__ void await([[maybe_unused]] Message message) const {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) return barrier_wait(barriers + message, 0);
#endif
    __syncthreads();
  }
};

/// Returns the sum of the values that blocks have sent, `step` apart.
template <int kBlocks>
__device__ float sum_of(const float* numbers, int step) {
  float sum = 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) sum += numbers[block * step];
  return sum;
}

/// Calls store(row, sum of products with x) for `rows` rows of `terms` weights. All threads take part.
template <class Store>
__device__ void multiply_rows(const float* w, int rows, int terms, const float* x, const Store& store) {
  const int lane = threadIdx.x % kLanesOfRow;
  for (int begin = 0; begin < rows; begin += kThreads / kLanesOfRow) {
    const int row = begin + threadIdx.x / kLanesOfRow;
    float sum = 0;
    if (row < rows) {
#pragma unroll 8
      for (int term = lane; term < terms; term += kLanesOfRow) sum = fmaf(w[row * terms + term], x[term], sum);
    }
    for (int half = kLanesOfRow / 2; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
    if (row < rows && lane == 0) store(row, sum);
  }
}

/// The layout of the weights of a block's channels, in floats: rows of w1, of its channels; rows of w2; b1; b2.
struct GateWeights {
  int own, squeezed;

  __host__ __device__ int w2() const { return squeezed * own; }
  __host__ __device__ int b1() const { return 2 * squeezed * own; }
  __host__ __device__ int b2() const { return b1() + squeezed; }
  __host__ __device__ int count() const { return (b2() + own + 3) / 4 * 4; }
};

/// A block's shared memory, after its barriers. Arrays that are read as vectors of channels come first.
struct GateShared {
  float *weights,  ///< if the block copies them
      *sums,       ///< of the block's pixels: [row of threads][channel]
      *gates,      ///< of all channels
      *sent_sums,  ///< of the block's channels: [block][channel]
      *means,      ///< of the block's channels
      *parts,      ///< partial sums of the squeezed channels: [block][channel]
      *squeezed;

  static constexpr int kBarriers = 16 * ((kMessages + 1) / 2);  // bytes

  template <class Element>
  __host__ __device__ static size_t bytes(const SqueezeExcite<Element>& step, const GateWeights& weights, int blocks,
                                          bool copies) {
    return kBarriers + ((copies ? weights.count() : 0) + (step.rows + 2) * step.channels + weights.own +
                        (blocks + 1) * step.squeezed) *
                           sizeof(float);
  }
  template <class Element>
  __device__ GateShared(const SqueezeExcite<Element>& step, const GateWeights& packed, int blocks)
      : weights(dynamic_shared<float>() + kBarriers / sizeof(float)),
        sums(weights + (step.copies ? packed.count() : 0)),
        gates(sums + step.rows * step.channels),
        sent_sums(gates + step.channels),
        means(sent_sums + step.channels),
        parts(means + packed.own),
        squeezed(parts + blocks * step.squeezed) {}
};

/// Calls with(first of 8 channels, row of threads) for all channels of this thread.
template <class Element, class With>
__device__ void for_channels(const SqueezeExcite<Element>& step, const With& with) {
  const int row = threadIdx.x / step.lanes;
  if (row >= step.rows) return;
  for (int channel = threadIdx.x % step.lanes * 8; channel < step.channels; channel += step.lanes * 8) {
    with(channel, row);
  }
}

/// Sums the pixels of each row of threads: sums[row][channel].
template <class Element>
__device__ void sum_pixels(const SqueezeExcite<Element>& step, const Element* image, int first, int last, float* sums) {
  for_channels(step, [&](int channel, int row) {
    float sum[8] = {};
#pragma unroll 4
    for (int pixel = first + row; pixel < last; pixel += step.rows) {
      float x[8];
      load_eight(image + pixel * step.x_step + channel, x);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum[i] += x[i];
    }
    store_eight(sums + row * step.channels + channel, sum);
  });
  __syncthreads();
}

template <class Element>
__device__ void scale_pixels(const SqueezeExcite<Element>& step, int64_t image, int first, int last,
                             const float* gates) {
  const Element* const x = step.x + image * step.pixels * step.x_step;
  Element* const y = step.y + image * step.pixels * step.y_step;
  for_channels(step, [&](int channel, int row) {
    float gate[8];
    load_eight(gates + channel, gate);
#pragma unroll 4
    for (int pixel = last - 1 - row; pixel >= first; pixel -= step.rows) {
      float value[8];
      load_eight(x + pixel * step.x_step + channel, value);
#pragma unroll
      for (int i = 0; i < 8; ++i) value[i] *= gate[i];
      store_eight(y + pixel * step.y_step + channel, value);
    }
  });
}

template <class Element, int kBlocks>
__device__ void squeeze_and_excite(const SqueezeExcite<Element>& step) {
  const GateWeights packed{.own = step.channels / kBlocks, .squeezed = step.squeezed};
  const GateShared shared(step, packed, kBlocks);
  const ImageBlocks<kBlocks> blocks(dynamic_shared<uint64_t>());
  const int own = packed.own, floats = sizeof(float);
  const float* weights = step.weights + static_cast<int64_t>(blocks.rank) * packed.count();
  if (threadIdx.x == 0) {
    blocks.expect(kSums, kBlocks * own * floats);
    blocks.expect(kParts, kBlocks * step.squeezed * floats);
    blocks.expect(kGates, step.channels * floats);
    if (step.copies) blocks.expect(kWeights, packed.count() * floats);
  }
  blocks.begin();
  if (step.copies) {  // weights are constant: their copy need not wait for the previous kernel
    if (threadIdx.x == 0) {
      fetch_bulk(to_shared(shared.weights), weights, packed.count() * floats, blocks.barriers + kWeights);
    }
    weights = shared.weights;
  }
  begin_in_turn();

  const int64_t image = blockIdx.x / kBlocks;
  const int first = static_cast<int>(int64_t{step.pixels} * blocks.rank / kBlocks);
  const int last = static_cast<int>(int64_t{step.pixels} * (blocks.rank + 1) / kBlocks);
  sum_pixels(step, step.x + image * step.pixels * step.x_step, first, last, shared.sums);
  for (int block = 0, channel = threadIdx.x; channel < step.channels; channel += kThreads) {
    while (channel >= (block + 1) * own) ++block;
    float sum = 0;
    for (int row = 0; row < step.rows; ++row) sum += shared.sums[row * step.channels + channel];
    blocks.send_to(block, kSums, shared.sent_sums + blocks.rank * own + channel - block * own, sum);
  }
  blocks.await(kSums);

  for (int i = threadIdx.x; i < own; i += kThreads) {
    shared.means[i] = sum_of<kBlocks>(shared.sent_sums + i, own) / static_cast<float>(step.pixels);
  }
  if (step.copies) blocks.await(kWeights);
  __syncthreads();
  multiply_rows(weights, step.squeezed, own, shared.means, [&](int row, float sum) {
    blocks.send_to_all(kParts, shared.parts + blocks.rank * step.squeezed + row, sum);
  });
  blocks.await(kParts);

  for (int i = threadIdx.x; i < step.squeezed; i += kThreads) {
    const float sum = weights[packed.b1() + i] + sum_of<kBlocks>(shared.parts + i, step.squeezed);
    shared.squeezed[i] = activated_as<Element>(step.squeeze, sum);
  }
  __syncthreads();
  multiply_rows(weights + packed.w2(), own, step.squeezed, shared.squeezed, [&](int row, float sum) {
    const float gate = activated_as<Element>(step.excite, weights[packed.b2() + row] + sum);
    blocks.send_to_all(kGates, shared.gates + blocks.rank * own + row, gate);
  });
  blocks.await(kGates);
  scale_pixels(step, image, first, last, shared.gates);
}

template <class Element>
__global__ void __launch_bounds__(kThreads, 2) gate_by_block(const SqueezeExcite<Element> step) {
  squeeze_and_excite<Element, 1>(step);
}

#ifdef __CUDACC__
template <class Element>
__global__ void __launch_bounds__(kThreads, 2) CONVLAB_CLUSTER(kClusterBlocks)
    gate_by_cluster(const SqueezeExcite<Element> step) {
#if __CUDA_ARCH__ >= 900
  squeeze_and_excite<Element, kClusterBlocks>(step);
#endif
}
#endif

/// Packs the GateWeights of `blocks` blocks, one after another.
__global__ void __launch_bounds__(kThreads)
    pack_weights(const float* w1, const float* b1, const float* w2, const float* b2, float* packed, GateWeights weights,
                 int blocks) {
  const int i = blockIdx.x * kThreads + threadIdx.x, block = i / weights.count(), at = i % weights.count();
  if (block >= blocks) return;
  const int own = weights.own, squeezed = weights.squeezed, first = block * own;
  float value = 0;
  if (at < weights.w2()) {
    value = w1[static_cast<int64_t>(at / own) * own * blocks + first + at % own];
  } else if (at < weights.b1()) {
    value = w2[static_cast<int64_t>(first) * squeezed + at - weights.w2()];
  } else if (at < weights.b2()) {
    value = b1[at - weights.b1()];
  } else if (at < weights.b2() + own) {
    value = b2[first + at - weights.b2()];
  }
  packed[i] = value;
}

/// Returns how many blocks share an image. On a GPU newer than this build, the driver compiles code without clusters.
int blocks_of_image() {
#ifdef __CUDACC__
  static const bool clusters = has_code_of_9_0(reinterpret_cast<const void*>(gate_by_cluster<float>));
  if (clusters) return kClusterBlocks;
#endif
  return 1;
}

GateWeights weights_of(const Step& step, int blocks) {
  return {.own = static_cast<int>(step.inputs[0].shape[1]) / blocks,
          .squeezed = static_cast<int>(step.inputs[1].shape[0])};
}

size_t prepared_bytes(const Step& step, const DeviceCaps&) {  // enough for any device
  const auto floats = [&](int blocks) { return int64_t{blocks} * weights_of(step, blocks).count(); };
  return static_cast<size_t>(std::max(floats(1), floats(kClusterBlocks))) * sizeof(float);
}

void prepare(const Args& args, Stream& stream) {
  const int blocks = blocks_of_image();
  const GateWeights weights = weights_of(args.step, blocks);
  launch(pack_weights, {.grid = ceil_div(blocks * weights.count(), kThreads), .block = kThreads}, stream.native(),
         args.input(1), args.input(2), args.input(3), args.input(4), static_cast<float*>(args.prepared), weights,
         blocks);
}

template <class Element>
Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<SqueezeExciteOp>(step.op)) return "only squeeze-and-excitation is supported";
  if (const Refusal refusal = refuse_unless_last<Element>(step)) return refusal;
  const Shape& x = step.inputs[0].shape;
  if (x[1] > kMostChannels || step.inputs[1].shape[0] > kMostSqueezed) {
    return fmt::format("at most {} channels and {} squeezed channels are supported", kMostChannels, kMostSqueezed);
  }
  if (x[1] * x[2] * x[3] * int64_t{sizeof(Element)} > kMostOfCluster * x[0]) {
    return fmt::format("{} images must have at most {} bytes", x[0], kMostOfCluster * x[0]);
  }
  return std::nullopt;
}

template <class Element>
void launch_gate(const Args& args, Stream& stream) {
  const Step& step = args.step;
  const Shape& x = step.inputs[0].shape;
  if (element_count(x) == 0) return;
  const auto& op = std::get<SqueezeExciteOp>(step.op);
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  SqueezeExcite<Element> gate{.x = pixel_input<Element>(args, 0),
                              .x_step = input_pixel_step(step, 0),
                              .y = pixel_output<Element>(args),
                              .y_step = output_pixel_step(step),
                              .weights = static_cast<const float*>(args.prepared),
                              .squeeze = op.squeeze,
                              .excite = op.excite,
                              .channels = narrow(x[1]),
                              .squeezed = narrow(step.inputs[1].shape[0]),
                              .pixels = narrow(x[2] * x[3])};
  gate.lanes = std::min(gate.channels / 8, kThreads);
  gate.rows = kThreads / gate.lanes;
  const int blocks = blocks_of_image();
  const GateWeights weights = weights_of(step, blocks);
  gate.copies = blocks > 1 && GateShared::bytes(gate, weights, blocks, true) <= kMostShared;
  const LaunchShape shape{.grid = x[0] * blocks,
                          .block = kThreads,
                          .shared_bytes = GateShared::bytes(gate, weights, blocks, gate.copies),
                          .early = true};
#ifdef __CUDACC__
  if (blocks > 1) return launch(gate_by_cluster<Element>, shape, stream.native(), gate);
#endif
  launch(gate_by_block<Element>, shape, stream.native(), gate);
}

template <class Element>
Kernel kernel(const char* name) {
  return {
      .info = {.name = name,
               .device = kCompiledFor,
               .family = Family::dense,
               .math = kPixelMath<Element>,
               .idea =
                   "squeeze-and-excitation in one launch: the blocks of a cluster share an image and exchange sums"},
      .refuses = refuses<Element>,
      .prepared_bytes = prepared_bytes,
      .prepare = prepare,
      .launch = launch_gate<Element>,
      .format = kPixelFormat<Element>};
}

const RegisterKernel of_halves(kernel<__half>("cuda.nhwc_squeeze_excite"));
const RegisterKernel of_floats(kernel<float>("cuda.nhwc_squeeze_excite_fp32"));

}  // namespace
}  // namespace convlab
