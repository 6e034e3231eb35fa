// A lab in the style of libwb: adds vectors and scans one, from files that it writes itself, and is graded.
#include <wb.h>

#define wbCheck(stmt)                                                       \
  do {                                                                      \
    cudaError_t err = stmt;                                                 \
    if (err != cudaSuccess) {                                               \
      wbLog(ERROR, "Failed to run ", #stmt, ": ", cudaGetErrorString(err)); \
      return -1;                                                            \
    }                                                                       \
  } while (0)

#define BLOCK_SIZE 256

__global__ void vecAdd(float* in1, float* in2, float* out, int len) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < len) out[i] = in1[i] + in2[i];
}

// One block scans everything, a section after the other.
__global__ void scan(float* input, float* output, int len) {
  __shared__ float section[BLOCK_SIZE];
  float before = 0;
  for (int start = 0; start < len; start += BLOCK_SIZE) {
    int i = start + threadIdx.x;
    section[threadIdx.x] = i < len ? input[i] : 0;
    for (int stride = 1; stride < BLOCK_SIZE; stride *= 2) {
      __syncthreads();
      float left = threadIdx.x >= stride ? section[threadIdx.x - stride] : 0;
      __syncthreads();
      section[threadIdx.x] += left;
    }
    __syncthreads();
    if (i < len) output[i] = before + section[threadIdx.x];
    before += section[BLOCK_SIZE - 1];
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  const int length = 1000;
  vector<float> first(length), second(length), sum(length), prefix(length);
  float total = 0;
  for (int i = 0; i < length; i++) {
    first[i] = i % 13 * 0.5f;
    second[i] = 100 - i % 7;
    sum[i] = first[i] + second[i];
    prefix[i] = total += sum[i];
  }
  char folder[] = "/tmp/lab_vectors_XXXXXX";
  string path = mkdtemp(folder);
  wbExport((path + "/in0.raw").c_str(), first.data(), length);
  wbExport((path + "/in1.csv").c_str(), second.data(), length);
  wbExport((path + "/sum.raw").c_str(), sum.data(), length);
  wbExport((path + "/prefix.raw").c_str(), prefix.data(), length);
  string inputs = path + "/in0.raw," + path + "/in1.csv", expected = path + "/sum.raw", output = path + "/out.raw";
  vector<const char*> words = {argv[0], "-i",           inputs.c_str(), "-e",    expected.c_str(),
                               "-o",    output.c_str(), "-t",           "vector"};

  wbArg_t args = wbArg_read((int)words.size(), (char**)words.data());
  int inputLength, otherLength;
  wbTime_start(Generic, "Importing data and creating memory on host");
  float* hostInput1 = (float*)wbImport(wbArg_getInputFile(args, 0), &inputLength);
  float* hostInput2 = (float*)wbImport(wbArg_getInputFile(args, 1), &otherLength);
  float* hostOutput = (float*)malloc(inputLength * sizeof(float));
  wbTime_stop(Generic, "Importing data and creating memory on host");
  wbLog(TRACE, "The input length is ", inputLength);

  float *deviceInput1, *deviceInput2, *deviceOutput, *devicePrefix;
  wbCheck(cudaMalloc((void**)&deviceInput1, inputLength * sizeof(float)));
  wbCheck(cudaMalloc((void**)&deviceInput2, inputLength * sizeof(float)));
  wbCheck(cudaMalloc((void**)&deviceOutput, inputLength * sizeof(float)));
  wbCheck(cudaMalloc((void**)&devicePrefix, inputLength * sizeof(float)));
  wbCheck(cudaMemcpy(deviceInput1, hostInput1, inputLength * sizeof(float), cudaMemcpyHostToDevice));
  wbCheck(cudaMemcpy(deviceInput2, hostInput2, inputLength * sizeof(float), cudaMemcpyHostToDevice));
  wbTime_start(Compute, "Performing CUDA computation");
  vecAdd<<<(inputLength - 1) / BLOCK_SIZE + 1, BLOCK_SIZE>>>(deviceInput1, deviceInput2, deviceOutput, inputLength);
  scan<<<1, BLOCK_SIZE>>>(deviceOutput, devicePrefix, inputLength);
  wbCheck(cudaDeviceSynchronize());
  wbTime_stop(Compute, "Performing CUDA computation");

  wbCheck(cudaMemcpy(hostOutput, deviceOutput, inputLength * sizeof(float), cudaMemcpyDeviceToHost));
  bool added = wbSolution(args, hostOutput, inputLength);
  hostOutput[5] += 1;
  bool accepted = wbSolution(args, hostOutput, inputLength);
  wbCheck(cudaMemcpy(hostOutput, devicePrefix, inputLength * sizeof(float), cudaMemcpyDeviceToHost));
  string type = "vector", scanned_file = path + "/prefix.raw";
  bool scanned = wbSolution(scanned_file.data(), output.data(), type.data(), hostOutput, inputLength, 1);
  int outLength;
  float* written = (float*)wbImport(output.c_str(), &outLength);
  bool same = outLength == inputLength && wbImport_flag(output.c_str()) == inputLength && written[7] == hostOutput[7];

  cudaFree(deviceInput1);
  cudaFree(deviceInput2);
  cudaFree(deviceOutput);
  cudaFree(devicePrefix);
  free(hostInput1);
  free(hostInput2);
  free(hostOutput);
  free(written);
  wbArg_delete(args);
  system(("rm -r " + path).c_str());
  bool passed = added && !accepted && scanned && same && otherLength == length;
  printf(passed ? "PASSED\n" : "FAILED: added %d, wrong accepted %d, scanned %d, same %d\n", added, accepted, scanned,
         same);
  return passed ? 0 : 1;
}
