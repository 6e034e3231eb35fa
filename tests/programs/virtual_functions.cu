// Objects with virtual functions that kernels make on the device's heap, in shared memory and in an array of the host.

#include <cstdio>
#include <new>

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};

struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};

struct Named {
  __device__ virtual int name() const { return 7; }
};

struct Box : Shape, Named {
  int width, height;
  int* ended;
  __device__ Box(int w, int h, int* e) : width(w), height(h), ended(e) {}
  __device__ ~Box() override { atomicAdd(ended, 1); }
  __device__ int area() const override { return width * height; }
  __device__ int name() const override { return 9; }
};

__global__ void make(Shape** shapes, int* ended) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2) {
    shapes[i] = new Square(i);
  } else {
    shapes[i] = new Box(i, 3, ended);
  }
}

__global__ void measure(Shape* const* shapes, int* areas) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  areas[i] = shapes[i]->area();
}

__global__ void end(Shape** shapes) { delete shapes[blockIdx.x * blockDim.x + threadIdx.x]; }

__global__ void share(int* areas, int* ended) {
  __shared__ __align__(8) unsigned char room[sizeof(Box)];
  __shared__ Box* box;
  if (threadIdx.x == 0) box = new (room) Box(blockIdx.x + 1, 5, ended);
  __syncthreads();
  const Named* const named = box;
  areas[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<const Shape*>(box)->area() + named->name();
  __syncthreads();
  if (threadIdx.x == 0) box->~Box();
}

__global__ void fill(Square* squares) { new (&squares[threadIdx.x]) Square(threadIdx.x); }
__global__ void read(const Square* squares, int* areas) {
  const Shape& shape = squares[blockDim.x - 1 - threadIdx.x];
  areas[threadIdx.x] = shape.area();
}

constexpr int kBlocks = 3, kThreads = 64, kShapes = kBlocks * kThreads;
int* areas;

int wrong(const char* what, int at, int expected) {
  cudaDeviceSynchronize();
  if (areas[at] == expected) return 0;
  std::printf("%s[%d] is %d, not %d\n", what, at, areas[at], expected);
  return 1;
}

int main() {
  Shape** shapes;
  Square* squares;
  int* ended;
  cudaMalloc(&shapes, kShapes * sizeof *shapes);
  cudaMalloc(&squares, kThreads * sizeof *squares);
  cudaMallocManaged(&areas, kShapes * sizeof *areas);
  cudaMallocManaged(&ended, sizeof *ended);
  *ended = 0;

  int errors = 0;
  make<<<kBlocks, kThreads>>>(shapes, ended);
  measure<<<kBlocks, kThreads>>>(shapes, areas);
  for (int i = 0; i < kShapes; ++i) errors += wrong("measure", i, i % 2 ? i * i : i * 3);
  end<<<kBlocks, kThreads>>>(shapes);
  share<<<kBlocks, kThreads>>>(areas, ended);
  for (int i = 0; i < kShapes; ++i) errors += wrong("share", i, (i / kThreads + 1) * 5 + 9);
  fill<<<1, kThreads>>>(squares);
  read<<<1, kThreads>>>(squares, areas);
  for (int i = 0; i < kThreads; ++i) errors += wrong("read", i, (kThreads - 1 - i) * (kThreads - 1 - i));
  if (*ended != kShapes / 2 + kBlocks) errors += std::printf("%d boxes have ended\n", *ended);

  cudaFree(ended);
  cudaFree(areas);
  cudaFree(squares);
  cudaFree(shapes);
  if (errors) return 1;
  std::puts("PASSED");
}
