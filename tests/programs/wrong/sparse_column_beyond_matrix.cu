// expect: cusparseSpMV uses an index that is out of bounds
// Has a matrix of one row with a column index that counts from 1, though the base is 0.
#include <cusparse.h>

#include <cstdio>

int main() {
  const int offsets[2] = {0, 2}, columns[2] = {1, 3};
  const float values[3] = {1, 2, 3};
  int *device_offsets, *device_columns;
  float *device_values, *x, *y;
  cudaMalloc(&device_offsets, sizeof(offsets));
  cudaMalloc(&device_columns, sizeof(columns));
  cudaMalloc(&device_values, sizeof(values));
  cudaMalloc(&x, sizeof(values));
  cudaMalloc(&y, sizeof(float));
  cudaMemcpy(device_offsets, offsets, sizeof(offsets), cudaMemcpyHostToDevice);
  cudaMemcpy(device_columns, columns, sizeof(columns), cudaMemcpyHostToDevice);
  cudaMemcpy(device_values, values, sizeof(values), cudaMemcpyHostToDevice);
  cudaMemcpy(x, values, sizeof(values), cudaMemcpyHostToDevice);
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t vector_x, vector_y;
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, 1, 3, 2, device_offsets, device_columns, device_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&vector_x, 3, x, CUDA_R_32F);
  cusparseCreateDnVec(&vector_y, 1, y, CUDA_R_32F);
  const float one = 1, zero = 0;
  const cusparseStatus_t status = cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vector_x, &zero,
                                               vector_y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
  std::printf("%s\n", cusparseGetErrorName(status));
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
