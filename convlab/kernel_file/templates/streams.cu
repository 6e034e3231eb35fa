// new-forward.cu with overlapped copies and kernels: the images are split into batches. While one batch is computed,
// the next one is copied to the GPU and the previous one is copied back, each on its own stream.
//
// Copies can overlap only where both the host arrays and the GPU arrays are known: in the prolog. So the prolog does
// all the work, and the call, which is timed as the operator, does nothing. Compare such a file with one that computes
// in its call by the time from prolog to epilog:
//
//   convlab verify FILE                          on a GPU, or with --device simt on any machine
//   convlab new minidnn -o plain.cu              the same kernel without streams
//   convlab bench FILE --against plain.cu        which of the two is faster, from prolog to epilog

#include <cmath>
#include <iostream>

#include "gpu-new-forward.h"

#define TILE_WIDTH 16
#define STREAMS 3   // one copies in, one computes, one copies out
#define BATCHES 12  // more batches: less time before the first kernel and after the last, but three calls each

// Each block computes TILE_WIDTH x TILE_WIDTH outputs of one image and one output channel.
__global__ void conv_forward_kernel(float* output, const float* input, const float* mask, const int Batch,
                                    const int Map_out, const int Channel, const int Height, const int Width,
                                    const int K) {
  const int Height_out = Height - K + 1, Width_out = Width - K + 1;
  const int tiles_across = (Width_out + TILE_WIDTH - 1) / TILE_WIDTH;
  const int m = blockIdx.x, b = blockIdx.z;
  const int h = blockIdx.y / tiles_across * TILE_WIDTH + threadIdx.y;
  const int w = blockIdx.y % tiles_across * TILE_WIDTH + threadIdx.x;
  if (h >= Height_out || w >= Width_out) return;

  float sum = 0;
  for (int c = 0; c < Channel; ++c) {
    for (int p = 0; p < K; ++p) {
      for (int q = 0; q < K; ++q) {
        sum += input[((b * Channel + c) * Height + h + p) * Width + w + q] * mask[((m * Channel + c) * K + p) * K + q];
      }
    }
  }
  output[((b * Map_out + m) * Height_out + h) * Width_out + w] = sum;
}

__host__ void GPUInterface::conv_forward_gpu_prolog(const float* host_output, const float* host_input,
                                                    const float* host_mask, float** device_output_ptr,
                                                    float** device_input_ptr, float** device_mask_ptr, const int Batch,
                                                    const int Map_out, const int Channel, const int Height,
                                                    const int Width, const int K) {
  const int Height_out = Height - K + 1, Width_out = Width - K + 1;
  const size_t image = (size_t)Channel * Height * Width, maps = (size_t)Map_out * Height_out * Width_out;  // in floats
  const size_t input_bytes = sizeof(float) * Batch * image, output_bytes = sizeof(float) * Batch * maps;
  const size_t mask_bytes = sizeof(float) * Map_out * Channel * K * K;
  cudaMalloc(device_output_ptr, output_bytes);
  cudaMalloc(device_input_ptr, input_bytes);
  cudaMalloc(device_mask_ptr, mask_bytes);
  cudaMemcpy(*device_mask_ptr, host_mask, mask_bytes, cudaMemcpyHostToDevice);

  // Copies are asynchronous only from and to page-locked memory; otherwise the host waits for each copy.
  float* const to = const_cast<float*>(host_output);
  float* const from = const_cast<float*>(host_input);
  cudaHostRegister(to, output_bytes, cudaHostRegisterDefault);
  cudaHostRegister(from, input_bytes, cudaHostRegisterDefault);

  cudaStream_t streams[STREAMS];
  for (int i = 0; i < STREAMS; ++i) cudaStreamCreate(&streams[i]);
  const int tiles = ((Height_out + TILE_WIDTH - 1) / TILE_WIDTH) * ((Width_out + TILE_WIDTH - 1) / TILE_WIDTH);
  const int most = (Batch + BATCHES - 1) / BATCHES;  // images per batch; the last one may have fewer
  for (int first = 0, batch = 0; first < Batch; first += most, ++batch) {
    const int images = first + most < Batch ? most : Batch - first;
    cudaStream_t stream = streams[batch % STREAMS];  // a stream executes its operations in order
    float* const input = *device_input_ptr + first * image;
    float* const output = *device_output_ptr + first * maps;
    cudaMemcpyAsync(input, from + first * image, sizeof(float) * images * image, cudaMemcpyHostToDevice, stream);
    conv_forward_kernel<<<dim3(Map_out, tiles, images), dim3(TILE_WIDTH, TILE_WIDTH), 0, stream>>>(
        output, input, *device_mask_ptr, images, Map_out, Channel, Height, Width, K);
    cudaMemcpyAsync(to + first * maps, output, sizeof(float) * images * maps, cudaMemcpyDeviceToHost, stream);
  }
  cudaDeviceSynchronize();

  for (int i = 0; i < STREAMS; ++i) cudaStreamDestroy(streams[i]);
  cudaHostUnregister(from);
  cudaHostUnregister(to);
}

// The prolog has already computed the output.
__host__ void GPUInterface::conv_forward_gpu(float* device_output, const float* device_input, const float* device_mask,
                                             const int Batch, const int Map_out, const int Channel, const int Height,
                                             const int Width, const int K) {}

__host__ void GPUInterface::conv_forward_gpu_epilog(float* host_output, float* device_output, float* device_input,
                                                    float* device_mask, const int Batch, const int Map_out,
                                                    const int Channel, const int Height, const int Width, const int K) {
  cudaFree(device_output);
  cudaFree(device_input);
  cudaFree(device_mask);
}
