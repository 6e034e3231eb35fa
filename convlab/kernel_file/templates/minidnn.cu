// new-forward.cu for mini-dnn, the course's format since 2020, in three phases as since 2021; the second one is timed
// as the operator (Op Time).
//
//   convlab verify FILE                                 on a GPU, or with --device simt on any machine
//   convlab m3.1 --semester sp25 --kernel FILE 1000     the course's script; without a GPU --device simt, and 10 images

#include <cmath>
#include <iostream>

#include "gpu-new-forward.h"

#define TILE_WIDTH 16

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
  const size_t input_bytes = sizeof(float) * Batch * Channel * Height * Width;
  const size_t mask_bytes = sizeof(float) * Map_out * Channel * K * K;
  const size_t output_bytes = sizeof(float) * Batch * Map_out * (Height - K + 1) * (Width - K + 1);
  cudaMalloc(device_output_ptr, output_bytes);
  cudaMalloc(device_input_ptr, input_bytes);
  cudaMalloc(device_mask_ptr, mask_bytes);
  cudaMemcpy(*device_input_ptr, host_input, input_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(*device_mask_ptr, host_mask, mask_bytes, cudaMemcpyHostToDevice);
}

__host__ void GPUInterface::conv_forward_gpu(float* device_output, const float* device_input, const float* device_mask,
                                             const int Batch, const int Map_out, const int Channel, const int Height,
                                             const int Width, const int K) {
  const int Height_out = Height - K + 1, Width_out = Width - K + 1;
  const int tiles = ((Height_out + TILE_WIDTH - 1) / TILE_WIDTH) * ((Width_out + TILE_WIDTH - 1) / TILE_WIDTH);
  const dim3 grid(Map_out, tiles, Batch), block(TILE_WIDTH, TILE_WIDTH);
  conv_forward_kernel<<<grid, block>>>(device_output, device_input, device_mask, Batch, Map_out, Channel, Height, Width,
                                       K);
  cudaDeviceSynchronize();
}

__host__ void GPUInterface::conv_forward_gpu_epilog(float* host_output, float* device_output, float* device_input,
                                                    float* device_mask, const int Batch, const int Map_out,
                                                    const int Channel, const int Height, const int Width, const int K) {
  const size_t output_bytes = sizeof(float) * Batch * Map_out * (Height - K + 1) * (Width - K + 1);
  cudaMemcpy(host_output, device_output, output_bytes, cudaMemcpyDeviceToHost);
  cudaFree(device_output);
  cudaFree(device_input);
  cudaFree(device_mask);
}
