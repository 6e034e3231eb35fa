// expect: array the column indices of C is a null pointer
// Copies the product of two sparse matrices before cusparseCsrSetPointers.
#include <cusparse.h>

#include <cstdio>

int main() {
  const int offsets[3] = {0, 1, 2}, columns[2] = {1, 0};
  const float values[2] = {2, 3};
  int *device_offsets, *device_columns, *c_offsets;
  float* device_values;
  cudaMalloc(&device_offsets, sizeof(offsets));
  cudaMalloc(&c_offsets, sizeof(offsets));
  cudaMalloc(&device_columns, sizeof(columns));
  cudaMalloc(&device_values, sizeof(values));
  cudaMemcpy(device_offsets, offsets, sizeof(offsets), cudaMemcpyHostToDevice);
  cudaMemcpy(device_columns, columns, sizeof(columns), cudaMemcpyHostToDevice);
  cudaMemcpy(device_values, values, sizeof(values), cudaMemcpyHostToDevice);
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a, c;
  cusparseSpGEMMDescr_t product;
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, 2, 2, 2, device_offsets, device_columns, device_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateCsr(&c, 2, 2, 0, c_offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseSpGEMM_createDescr(&product);
  const float one = 1, zero = 0;
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const auto algorithm = CUSPARSE_SPGEMM_DEFAULT;
  size_t bytes = 0;
  void *first, *second;
  cusparseSpGEMM_workEstimation(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, algorithm, product, &bytes, nullptr);
  cudaMalloc(&first, bytes);
  cusparseSpGEMM_workEstimation(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, algorithm, product, &bytes, first);
  cusparseSpGEMM_compute(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, algorithm, product, &bytes, nullptr);
  cudaMalloc(&second, bytes);
  cusparseSpGEMM_compute(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, algorithm, product, &bytes, second);
  const cusparseStatus_t status =
      cusparseSpGEMM_copy(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, algorithm, product);
  std::printf("%s\n", cusparseGetErrorName(status));
  cusparseSpGEMM_destroyDescr(product);
  cusparseDestroySpMat(a);
  cusparseDestroySpMat(c);
  cusparseDestroy(handle);
  for (void* each : {first, second, static_cast<void*>(device_offsets), static_cast<void*>(c_offsets),
                     static_cast<void*>(device_columns), static_cast<void*>(device_values)}) {
    cudaFree(each);
  }
  return 0;
}
