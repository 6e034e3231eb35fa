// CUB's collectives of blocks: load, scan, reduce, exchange, differences and store, with storage in a union.
#include <cub/cub.cuh>

#include <cstdio>
#include <vector>

constexpr int kX = 16, kY = 5, kThreads = kX * kY, kItems = 3, kTile = kThreads * kItems, kBlocks = 4;

struct Largest {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct Add {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct Minus {
  __host__ __device__ int operator()(const int& a, const int& b) const { return a - b; }
};
struct Unequal {
  __host__ __device__ bool operator()(const int& a, const int& b) const { return a != b; }
};

// The running total over the tiles that a block handles.
struct Total {
  int sum;
  __device__ int operator()(int aggregate) {
    const int before = sum;
    sum += aggregate;
    return before;
  }
};

__global__ void scan_tiles(const int* in, int* out, int* sums, int* largest, int count) {
  using Load = cub::BlockLoad<int, kX, kItems, cub::BLOCK_LOAD_TRANSPOSE, kY>;
  using Scan = cub::BlockScan<int, kX, cub::BLOCK_SCAN_WARP_SCANS, kY>;
  using Store = cub::BlockStore<int, kX, kItems, cub::BLOCK_STORE_TRANSPOSE, kY>;
  using Reduce = cub::BlockReduce<int, kX, cub::BLOCK_REDUCE_WARP_REDUCTIONS, kY>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
    typename Reduce::TempStorage reduce;
  } storage;
  Total total{0};
  int most = -1;
  const int thread = threadIdx.y * kX + threadIdx.x;
  for (int tile = 0; tile < count; tile += kTile) {
    int items[kItems];
    Load(storage.load).Load(in + tile, items, count - tile, 0);
    __syncthreads();
    const int own = Reduce(storage.reduce).Reduce(items, Largest());
    if (thread == 0) most = own > most ? own : most;
    __syncthreads();
    Scan(storage.scan).ExclusiveSum(items, items, total);
    __syncthreads();
    Store(storage.store).Store(out + tile, items, count - tile);
    __syncthreads();
  }
  if (thread == 0) {
    *sums = total.sum;
    *largest = most;
  }
}

__global__ void reduce_blocks(const int* in, int* sums, int* parts, int* scanned) {
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Reduce::TempStorage reduce, part;
  __shared__ typename Scan::TempStorage scan;
  const int value = in[blockIdx.x * kThreads + threadIdx.x];
  const int sum = Reduce(reduce).Sum(value);
  const int some = Reduce(part).Reduce(value, Add(), 41);
  int inclusive, all;
  Scan(scan).InclusiveSum(value, inclusive, all);
  scanned[blockIdx.x * kThreads + threadIdx.x] = inclusive + all;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    parts[blockIdx.x] = some;
  }
}

__global__ void neighbors(const int* in, int* left, int* heads) {
  using Difference = cub::BlockAdjacentDifference<int, kThreads>;
  using Discontinuity = cub::BlockDiscontinuity<int, kThreads>;
  __shared__ typename Difference::TempStorage difference;
  __shared__ typename Discontinuity::TempStorage discontinuity;
  int items[kItems], result[kItems], flags[kItems];
  cub::LoadDirectBlocked(threadIdx.x, in, items);
  Difference(difference).SubtractLeft(items, result, Minus());
  Discontinuity(discontinuity).FlagHeads(flags, items, Unequal());
  cub::StoreDirectBlocked(threadIdx.x, left, result);
  cub::StoreDirectBlocked(threadIdx.x, heads, flags);
}

__global__ void histogram(const unsigned char* in, unsigned* bins) {
  using Histogram = cub::BlockHistogram<unsigned char, kThreads, kItems, 16, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned counts[16];
  unsigned char items[kItems];
  cub::LoadDirectStriped<kThreads>(threadIdx.x, in, items);
  Histogram(storage).Histogram(items, counts);
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] = counts[threadIdx.x];
}

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}
template <class T>
std::vector<T> on_host(T* device, size_t count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return host;
}

int main() {
  constexpr int kCount = 1000;
  std::vector<int> in(kCount), empty(kCount, 0);
  std::vector<unsigned char> bytes(kTile);
  for (int i = 0; i < kCount; ++i) in[i] = (i * 37 + 5) % 23 / 3;
  for (int i = 0; i < kTile; ++i) bytes[i] = i * i % 16;
  int *d_in = on_device(in), *d_out = on_device(empty), *d_sums = on_device(empty), *d_most = on_device(empty);
  int *d_parts = on_device(empty), *d_scanned = on_device(empty), *d_left = on_device(empty),
      *d_heads = on_device(empty);
  int* d_totals = on_device(empty);
  unsigned char* d_bytes = on_device(bytes);
  unsigned* d_bins = on_device(std::vector<unsigned>(16));
  scan_tiles<<<1, dim3(kX, kY)>>>(d_in, d_out, d_sums, d_most, kCount);
  reduce_blocks<<<kBlocks, kThreads>>>(d_in, d_totals, d_parts, d_scanned);
  neighbors<<<1, kThreads>>>(d_in, d_left, d_heads);
  histogram<<<1, kThreads>>>(d_bytes, d_bins);
  const std::vector<int> out = on_host(d_out, kCount), total = on_host(d_sums, 1), most = on_host(d_most, 1);
  const std::vector<int> sums = on_host(d_totals, kBlocks), parts = on_host(d_parts, kBlocks);
  const std::vector<int> scanned = on_host(d_scanned, kBlocks * kThreads);
  const std::vector<int> left = on_host(d_left, kTile), heads = on_host(d_heads, kTile);
  const std::vector<unsigned> bins = on_host(d_bins, 16);
  cudaFree(d_in);
  cudaFree(d_bytes);

  int wrong = 0, sum = 0, largest = 0;
  for (int i = 0; i < kCount; ++i) {
    wrong += out[i] != sum;
    sum += in[i];
    largest = in[i] > largest ? in[i] : largest;
  }
  wrong += total[0] != sum || most[0] != largest;
  for (int block = 0; block < kBlocks; ++block) {
    int all = 0, part = 0, upto = 0;
    for (int i = 0; i < kThreads; ++i) all += in[block * kThreads + i];
    for (int i = 0; i < 41; ++i) part += in[block * kThreads + i];
    wrong += sums[block] != all || parts[block] != part;
    for (int i = 0; i < kThreads; ++i) {
      upto += in[block * kThreads + i];
      wrong += scanned[block * kThreads + i] != upto + all;
    }
  }
  for (int i = 0; i < kTile; ++i) {
    wrong += left[i] != (i == 0 ? in[0] : in[i] - in[i - 1]);
    wrong += heads[i] != (i == 0 || in[i] != in[i - 1] ? 1 : 0);
  }
  unsigned counts[16] = {};
  for (unsigned char byte : bytes) ++counts[byte];
  for (int bin = 0; bin < 16; ++bin) wrong += bins[bin] != counts[bin];
  std::printf(wrong == 0 ? "PASSED\n" : "FAILED: %d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
