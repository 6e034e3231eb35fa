// Uses the driver API: devices, contexts, memory, streams, events, errors, and a kernel of the program. With NVTX.
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const int error = static_cast<int>(call); error != 0) {                \
      std::printf("%s:%d: %s returns %d\n", __FILE__, __LINE__, #call, error); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) failures += std::printf("%s:%d: not %s\n", __FILE__, __LINE__, #condition) > 0

__global__ void scale(float* values, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

void ask_device() {
  CUdevice device = -1;
  int version = 0, count = 0, major = 0, minor = 0, threads = 0, runtime_threads = 0;
  size_t bytes = 0;
  char name[100];
  CHECK(cuInit(0));
  CHECK(cuDriverGetVersion(&version));
  CHECK(cuDeviceGetCount(&count));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDeviceGetName(name, sizeof(name), device));
  CHECK(cuDeviceTotalMem(&bytes, device));
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  CHECK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  CHECK(cudaDeviceGetAttribute(&runtime_threads, cudaDevAttrMaxThreadsPerBlock, 0));
  EXPECT(version >= 12000 && count == 1 && std::strlen(name) > 0 && bytes > 0 && major >= 7);
  EXPECT(threads == runtime_threads);
  EXPECT(cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);

  const char *error_name = nullptr, *text = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_NO_BINARY_FOR_GPU, &error_name));
  CHECK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
  EXPECT(std::strcmp(error_name, "CUDA_ERROR_NO_BINARY_FOR_GPU") == 0);
  EXPECT(std::strcmp(text, "invalid argument") == 0);
  EXPECT(cuGetErrorName(static_cast<CUresult>(12345), &error_name) == CUDA_ERROR_INVALID_VALUE);
}

void use_contexts() {
  CUcontext context = nullptr, current = nullptr, primary = nullptr;
#if CUDA_VERSION >= 13000
  CHECK(cuCtxCreate(&context, nullptr, 0, 0));
#else
  CHECK(cuCtxCreate(&context, 0, 0));
#endif
  CHECK(cuCtxGetCurrent(&current));
  EXPECT(current == context);
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  CHECK(cuCtxPushCurrent(primary));
  CHECK(cuCtxPopCurrent(&current));
  EXPECT(current == primary && primary != context);
  CHECK(cuCtxSynchronize());
  CHECK(cuCtxDestroy(context));
  CHECK(cuCtxSetCurrent(primary));
}

void use_memory() {
  constexpr int count = 300;
  std::vector<float> host(count);
  for (int i = 0; i < count; ++i) host[i] = i;
  CUdeviceptr memory, copy;
  CHECK(cuMemAlloc(&memory, count * sizeof(float)));
  CHECK(cuMemAlloc(&copy, count * sizeof(float)));
  CHECK(cuMemcpyHtoD(memory, host.data(), count * sizeof(float)));

  // Kernels of the program, launched with pointers to their arguments.
  cudaFunction_t function;
  CUstream stream;
  CUevent begin, end;
  float milliseconds = -1, factor = 3;
  int threads = 0, length = count;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(scale)));
  CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  EXPECT(threads == 1024);
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  CHECK(cuEventRecord(begin, stream));
  void* arguments[] = {&memory, &factor, &length};
  nvtxRangePush("scale");
  CHECK(cuLaunchKernel(function, (count + 127) / 128, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  nvtxRangePop();
  CHECK(cuMemcpyDtoDAsync(copy, memory, count * sizeof(float), stream));
  CHECK(cuEventRecord(end, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);
  CHECK(cuMemcpyDtoH(host.data(), copy, count * sizeof(float)));
  EXPECT(host[299] == 897.0f);

  unsigned words[4] = {};
  CHECK(cuMemsetD32(memory, 0x01020304, 2));
  CHECK(cuMemsetD16(memory + 8, 0x0506, 2));
  CHECK(cuMemsetD8(memory + 12, 7, 4));
  CHECK(cuMemcpyDtoH(words, memory, sizeof(words)));
  EXPECT(words[1] == 0x01020304 && words[2] == 0x05060506 && words[3] == 0x07070707);

  unsigned type = 0;
  CUdeviceptr base = 0;
  size_t bytes = 0;
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  CHECK(cuMemGetAddressRange(&base, &bytes, memory));
  EXPECT(type == CU_MEMORYTYPE_DEVICE && base == memory && bytes == count * sizeof(float));
  CHECK(cuEventDestroy(begin));
  CHECK(cuEventDestroy(end));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(memory));
  CHECK(cuMemFree(copy));
}

int main() {
  ask_device();
  use_contexts();
  use_memory();
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
