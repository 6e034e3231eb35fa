// expect: out-of-bounds write of array externalBuffer by cusparseSpSV_solve
// Frees the buffer of a triangular solve after its analysis, and solves.
#include <cusparse.h>

#include <cstdio>

int main() {
  const int offsets[3] = {0, 1, 3}, columns[3] = {0, 0, 1};
  const float values[3] = {2, 1, 4};
  int *device_offsets, *device_columns;
  float *device_values, *x, *y;
  void* buffer;
  cudaMalloc(&device_offsets, sizeof(offsets));
  cudaMalloc(&device_columns, sizeof(columns));
  cudaMalloc(&device_values, sizeof(values));
  cudaMalloc(&x, 2 * sizeof(float));
  cudaMalloc(&y, 2 * sizeof(float));
  cudaMemcpy(device_offsets, offsets, sizeof(offsets), cudaMemcpyHostToDevice);
  cudaMemcpy(device_columns, columns, sizeof(columns), cudaMemcpyHostToDevice);
  cudaMemcpy(device_values, values, sizeof(values), cudaMemcpyHostToDevice);
  cudaMemcpy(x, values, 2 * sizeof(float), cudaMemcpyHostToDevice);
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t vector_x, vector_y;
  cusparseSpSVDescr_t solver;
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, 2, 2, 3, device_offsets, device_columns, device_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&vector_x, 2, x, CUDA_R_32F);
  cusparseCreateDnVec(&vector_y, 2, y, CUDA_R_32F);
  cusparseSpSV_createDescr(&solver);
  const float one = 1;
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  size_t bytes = 0;
  cusparseSpSV_bufferSize(handle, op, &one, a, vector_x, vector_y, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, solver,
                          &bytes);
  cudaMalloc(&buffer, bytes);
  cusparseSpSV_analysis(handle, op, &one, a, vector_x, vector_y, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, solver, buffer);
  cudaFree(buffer);
  const cusparseStatus_t status =
      cusparseSpSV_solve(handle, op, &one, a, vector_x, vector_y, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, solver);
  std::printf("%s\n", cusparseGetErrorName(status));
  cusparseSpSV_destroyDescr(solver);
  cusparseDestroySpMat(a);
  cusparseDestroyDnVec(vector_x);
  cusparseDestroyDnVec(vector_y);
  cusparseDestroy(handle);
  for (void* each : {static_cast<void*>(device_offsets), static_cast<void*>(device_columns),
                     static_cast<void*>(device_values), static_cast<void*>(x), static_cast<void*>(y)}) {
    cudaFree(each);
  }
  return 0;
}
