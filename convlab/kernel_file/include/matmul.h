#pragma once

/// Replaces the course's header and file of this name: a matrix product with shared memory tiles.

#include <cuda_runtime.h>

#define MATMUL_TILE_WIDTH 16

/// C = A * B, row-major. A block of 16 x 16 threads computes one tile of C: blockIdx.x is its column, blockIdx.y its
/// row.
static __global__ void matrixMultiplyShared(const float* A, const float* B, float* C, int numARows, int numAColumns,
                                            int numBRows, int numBColumns, int numCRows, int numCColumns) {
  __shared__ float a[MATMUL_TILE_WIDTH][MATMUL_TILE_WIDTH];
  __shared__ float b[MATMUL_TILE_WIDTH][MATMUL_TILE_WIDTH];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * MATMUL_TILE_WIDTH + y, column = blockIdx.x * MATMUL_TILE_WIDTH + x;
  float sum = 0;
  for (int first = 0; first < numAColumns; first += MATMUL_TILE_WIDTH) {
    a[y][x] = row < numARows && first + x < numAColumns ? A[(size_t)row * numAColumns + first + x] : 0;
    b[y][x] = first + y < numBRows && column < numBColumns ? B[(size_t)(first + y) * numBColumns + column] : 0;
    __syncthreads();
    for (int i = 0; i < MATMUL_TILE_WIDTH; ++i) sum += a[y][i] * b[i][x];
    __syncthreads();
  }
  if (row < numCRows && column < numCColumns) C[(size_t)row * numCColumns + column] = sum;
}
