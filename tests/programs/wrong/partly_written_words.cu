// expect: read of uninitialized global memory 'text'
// Writes the first byte of each word, and reads the second one.
__global__ void write(char* text) { text[4 * threadIdx.x] = 'a'; }
__global__ void read(const char* text, char* to) { to[threadIdx.x] = text[4 * threadIdx.x + 1]; }

int main() {
  char *text, *to;
  cudaMalloc(&text, 4 * 32);
  cudaMalloc(&to, 32);
  write<<<1, 32>>>(text);
  read<<<1, 32>>>(text, to);
  cudaDeviceSynchronize();
  cudaFree(text);
  cudaFree(to);
}
