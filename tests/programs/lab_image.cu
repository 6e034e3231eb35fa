// A lab in the style of libwb: blurs an image and counts its gray levels, and is graded for both.
#include <wb.h>

#define RADIUS 2
#define BINS 16

__global__ void blur(float* in, float* out, int width, int height, int channels) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  for (int c = 0; c < channels; c++) {
    float sum = 0;
    int count = 0;
    for (int j = max(0, y - RADIUS); j <= min(height - 1, y + RADIUS); j++) {
      for (int i = max(0, x - RADIUS); i <= min(width - 1, x + RADIUS); i++, count++) {
        sum += in[(j * width + i) * channels + c];
      }
    }
    out[(y * width + x) * channels + c] = sum / count;
  }
}

__global__ void histogram(float* in, unsigned int* bins, int count) {
  __shared__ unsigned int own[BINS];
  if (threadIdx.x < BINS) own[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&own[min(BINS - 1, (int)(in[i] * BINS))], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main(int argc, char** argv) {
  const int width = 37, height = 21;
  wbImage_t image = wbImage_new(width, height, wbImage_channels), blurred = wbImage_new(width, height);
  for (int i = 0; i < width * height * 3; i++) wbImage_getData(image)[i] = (i * 97 % 256) / 255.0f;
  char folder[] = "/tmp/lab_image_XXXXXX";
  string path = mkdtemp(folder);
  string in = path + "/in.ppm", out = path + "/out.ppm", expected = path + "/expected.ppm";
  wbExport(in.c_str(), image);
  wbImage_t read = wbImport(in.c_str());
  vector<int> levels(BINS);
  for (int i = 0; i < width * height * 3; i++) {
    float value = 0;
    int count = 0, x = i / 3 % width, y = i / 3 / width;
    for (int j = y - RADIUS; j <= y + RADIUS; j++) {
      for (int k = x - RADIUS; k <= x + RADIUS; k++) {
        if (j < 0 || j >= height || k < 0 || k >= width) continue;
        value += wbImage_getData(read)[(j * width + k) * 3 + i % 3];
        count++;
      }
    }
    wbImage_getData(blurred)[i] = value / count;
    levels[min(BINS - 1, (int)(wbImage_getData(read)[i] * BINS))]++;
  }
  wbExport(expected.c_str(), blurred);
  vector<const char*> words = {argv[0], "-i", in.c_str(), "-e", expected.c_str(), "-o", out.c_str(), "-t", "image"};

  wbArg_t args = wbArg_read((int)words.size(), (char**)words.data());
  wbImage_t inputImage = wbImport(wbArg_getInputFile(args, 0));
  int imageWidth = wbImage_getWidth(inputImage), imageHeight = wbImage_getHeight(inputImage);
  int imageChannels = wbImage_getChannels(inputImage), count = imageWidth * imageHeight * imageChannels;
  wbImage_t outputImage = wbImage_new(imageWidth, imageHeight, imageChannels);
  float *deviceInput, *deviceOutput;
  unsigned int* deviceBins;
  wbCheck(cudaMalloc((void**)&deviceInput, count * sizeof(float)));
  wbCheck(cudaMalloc((void**)&deviceOutput, count * sizeof(float)));
  wbCheck(cudaMalloc((void**)&deviceBins, BINS * sizeof(unsigned int)));
  wbCheck(cudaMemset(deviceBins, 0, BINS * sizeof(unsigned int)));
  wbCheck(cudaMemcpy(deviceInput, wbImage_getData(inputImage), count * sizeof(float), cudaMemcpyHostToDevice));
  dim3 block(16, 16), grid((imageWidth - 1) / 16 + 1, (imageHeight - 1) / 16 + 1);
  blur<<<grid, block>>>(deviceInput, deviceOutput, imageWidth, imageHeight, imageChannels);
  histogram<<<(count - 1) / 128 + 1, 128>>>(deviceInput, deviceBins, count);
  vector<int> bins(BINS);
  wbCheck(cudaMemcpy(bins.data(), deviceBins, BINS * sizeof(int), cudaMemcpyDeviceToHost));
  wbCheck(cudaMemcpy(wbImage_getData(outputImage), deviceOutput, count * sizeof(float), cudaMemcpyDeviceToHost));
  bool right = wbSolution(args, outputImage);
  wbImage_getData(outputImage)[5] += 0.5f;
  bool accepted = wbSolution(args, outputImage);

  string bins_file = path + "/bins.dat", type = "integral_vector";
  wbExport(bins_file.c_str(), levels.data(), BINS);
  bool counted = wbSolution(bins_file.data(), nullptr, type.data(), bins.data(), BINS, 1);
  wbImage_t written = wbImport(out.c_str());
  bool same = wbImage_sameQ(written, blurred) == accepted || wbImage_getWidth(written) == width;
  for (wbImage_t each : {image, blurred, read, inputImage, outputImage, written}) wbImage_delete(each);
  cudaFree(deviceInput);
  cudaFree(deviceOutput);
  cudaFree(deviceBins);
  system(("rm -r " + path).c_str());
  bool passed = right && !accepted && counted && same;
  printf(passed ? "PASSED\n" : "FAILED: right %d, wrong accepted %d, counted %d, same %d\n", right, accepted, counted,
         same);
  return passed ? 0 : 1;
}
