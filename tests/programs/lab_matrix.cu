// A lab in the style of the GPU Teaching Kit: multiplies matrices in tiles, and is graded.
#include <gputk.h>

#define TILE 8

__global__ void multiply(float* A, float* B, float* C, int rows, int inner, int columns) {
  __shared__ float a[TILE][TILE], b[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < inner; tile += TILE) {
    a[threadIdx.y][threadIdx.x] = row < rows && tile + threadIdx.x < inner ? A[row * inner + tile + threadIdx.x] : 0;
    b[threadIdx.y][threadIdx.x] =
        column < columns && tile + threadIdx.y < inner ? B[(tile + threadIdx.y) * columns + column] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) C[row * columns + column] = sum;
}

int main(int argc, char** argv) {
  const int rows = 21, inner = 13, columns = 30;
  vector<float> a(rows * inner), b(inner * columns), c(rows * columns);
  for (size_t i = 0; i < a.size(); i++) a[i] = i % 5;
  for (size_t i = 0; i < b.size(); i++) b[i] = i % 3 - 1.0f;
  for (int i = 0; i < rows * columns; i++) {
    for (int k = 0; k < inner; k++) c[i] += a[i / columns * inner + k] * b[k * columns + i % columns];
  }
  char folder[] = "/tmp/lab_matrix_XXXXXX";
  string path = mkdtemp(folder);
  gpuTKExport((path + "/a.raw").c_str(), a.data(), rows, inner);
  gpuTKExport((path + "/b.tsv").c_str(), b.data(), inner, columns);
  gpuTKExport((path + "/c.csv").c_str(), c.data(), rows, columns);
  string inputs = path + "/a.raw," + path + "/b.tsv", expected = path + "/c.csv";
  vector<const char*> words = {argv[0], "-e", expected.c_str(), "-i", inputs.c_str(), "-t", "matrix"};

  gpuTKArg_t args = gpuTKArg_read((int)words.size(), (char**)words.data());
  int numARows, numAColumns, numBRows, numBColumns;
  gpuTKTime_start(Generic, "Importing data");
  float* hostA = (float*)gpuTKImport(gpuTKArg_getInputFile(args, 0), &numARows, &numAColumns);
  float* hostB = (float*)gpuTKImport(gpuTKArg_getInputFile(args, 1), &numBRows, &numBColumns);
  gpuTKTime_stop(Generic, "Importing data");
  gpuTKLog(TRACE, "The dimensions of A are ", numARows, " x ", numAColumns);
  float* hostC = (float*)malloc(numARows * numBColumns * sizeof(float));
  float *deviceA, *deviceB, *deviceC;
  gpuTKCheck(cudaMalloc((void**)&deviceA, numARows * numAColumns * sizeof(float)));
  gpuTKCheck(cudaMalloc((void**)&deviceB, numBRows * numBColumns * sizeof(float)));
  gpuTKCheck(cudaMalloc((void**)&deviceC, numARows * numBColumns * sizeof(float)));
  gpuTKCheck(cudaMemcpy(deviceA, hostA, numARows * numAColumns * sizeof(float), cudaMemcpyHostToDevice));
  gpuTKCheck(cudaMemcpy(deviceB, hostB, numBRows * numBColumns * sizeof(float), cudaMemcpyHostToDevice));
  dim3 block(TILE, TILE), grid((numBColumns - 1) / TILE + 1, (numARows - 1) / TILE + 1);
  multiply<<<grid, block>>>(deviceA, deviceB, deviceC, numARows, numAColumns, numBColumns);
  gpuTKCheck(cudaMemcpy(hostC, deviceC, numARows * numBColumns * sizeof(float), cudaMemcpyDeviceToHost));
  bool right = gpuTKSolution(args, hostC, numARows, numBColumns);
  bool transposed = gpuTKSolution(args, hostC, numBColumns, numARows);
  cudaFree(deviceA);
  cudaFree(deviceB);
  cudaFree(deviceC);
  free(hostA);
  free(hostB);
  free(hostC);
  system(("rm -r " + path).c_str());
  bool passed = right && !transposed && numBRows == inner;
  printf(passed ? "PASSED\n" : "FAILED: right %d, transposed %d\n", right, transposed);
  return passed ? 0 : 1;
}
