// Asks for errors' names, versions, attributes, limits, streams' flags and pointers' attributes.
#include <cuda_runtime_api.h>
#include <driver_types.h>

#include <cstdio>
#include <cstring>

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                   \
    }                                                             \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

__global__ void half_used(float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

int check_device() {
  int device = -1, value = 0, version = 0;
  OK(cudaSetDevice(0));
  OK(cudaGetDevice(&device));
  CHECK(device == 0);
  cudaDeviceProp prop;
  OK(cudaGetDeviceProperties(&prop, 0));
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  CHECK(value == prop.multiProcessorCount && value > 0);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0));
  CHECK(value != cudaComputeModeProhibited);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
  CHECK(value > 0);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  CHECK(static_cast<size_t>(value) == prop.sharedMemPerBlockOptin);
  OK(cudaDriverGetVersion(&version));
  OK(cudaRuntimeGetVersion(&value));
  CHECK(version >= value && value == CUDART_VERSION);
  OK(cudaChooseDevice(&device, &prop));
  char bus[20];
  OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  OK(cudaDeviceGetByPCIBusId(&device, bus));
  size_t heap = 0, free_bytes = 0, all_bytes = 0;
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  OK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  CHECK(heap == 32 << 20);
  OK(cudaMemGetInfo(&free_bytes, &all_bytes));
  CHECK(free_bytes > 0 && free_bytes <= all_bytes);
  return 0;
}

int check_kernel() {
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, half_used));
  CHECK(attributes.sharedSizeBytes == 256 && attributes.maxThreadsPerBlock == 1024);
  int blocks = 0, least_grid = 0, block = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, half_used, 1024, 0));
  cudaDeviceProp prop;
  OK(cudaGetDeviceProperties(&prop, 0));
  CHECK(blocks == prop.maxThreadsPerMultiProcessor / 1024);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, half_used, 2048, 0));
  CHECK(blocks == 0);
  OK(cudaOccupancyMaxPotentialBlockSize(&least_grid, &block, half_used, 0, 0));
  CHECK(block > 0 && block % 32 == 0 && least_grid % prop.multiProcessorCount == 0);
  OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least_grid, &block, half_used, [](int n) { return n * 4; }));
  CHECK(block > 0);
  return 0;
}

int check_pointers() {
  float *array = nullptr, *pinned = nullptr, *managed = nullptr, local = 0;
  OK(cudaMalloc(&array, 64 * sizeof(float)));
  OK(cudaMallocHost(&pinned, 64 * sizeof(float)));
  OK(cudaMallocManaged(&managed, 64 * sizeof(float)));
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, array + 3));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == array + 3);
  OK(cudaPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
  OK(cudaPointerGetAttributes(&attributes, managed));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&attributes, &local));
  CHECK(attributes.type == cudaMemoryTypeUnregistered && attributes.devicePointer == nullptr);
  OK(cudaMemAdvise(managed, 64 * sizeof(float), cudaMemAdviseSetReadMostly,
                   cudaMemLocation{cudaMemLocationTypeDevice, 0}));
  half_used<<<1, 64>>>(managed);
  OK(cudaDeviceSynchronize());
  CHECK(managed[0] == 63);
  OK(cudaFree(array));
  OK(cudaFreeHost(pinned));
  OK(cudaFree(managed));
  return 0;
}

int check_streams() {
  int least = 1, greatest = 1, priority = 1;
  unsigned flags = 9;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least == 0 && greatest <= least);
  cudaStream_t stream;
  OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  OK(cudaStreamGetFlags(stream, &flags));
  OK(cudaStreamGetPriority(stream, &priority));
  CHECK(flags == cudaStreamNonBlocking && priority == greatest);
  cudaEvent_t timed, untimed;
  OK(cudaEventCreate(&timed));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventRecord(timed, stream));
  OK(cudaEventRecord(untimed, stream));
  OK(cudaStreamSynchronize(stream));
  float time = -1;
  CHECK(cudaEventElapsedTime(&time, timed, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  OK(cudaEventElapsedTime(&time, timed, timed));
  CHECK(time == 0);
  OK(cudaEventDestroy(timed));
  OK(cudaEventDestroy(untimed));
  OK(cudaStreamDestroy(stream));
  return 0;
}

int main() {
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorInvalidPitchValue), "cudaErrorInvalidPitchValue") == 0);
  CHECK(std::strcmp(cudaGetErrorString(cudaErrorNoDevice), "no CUDA-capable device is detected") == 0);
  CHECK(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code") == 0);
  if (check_device() != 0 || check_kernel() != 0 || check_pointers() != 0 || check_streams() != 0) return 1;
  std::printf("PASSED\n");
  return 0;
}
