// expect: cuModuleLoadData failed: CUDA_ERROR_NO_BINARY_FOR_GPU
// Loads PTX, which simt cannot run.
#include <cuda.h>

#include <cstdio>

int main() {
  CUmodule module;
  cuInit(0);
  const CUresult result = cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n.address_size 64\n");
  std::printf("%d\n", result);
  return result == CUDA_SUCCESS ? 0 : 1;
}
