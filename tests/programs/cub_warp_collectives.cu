// CUB's collectives of warps: reductions, scans and exchanges, of whole warps, parts of warps, and large types.
#include <cub/cub.cuh>

#include <cstdio>
#include <vector>

struct Pair {
  double sum;
  int count;
};
struct AddPairs {
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const { return {a.sum + b.sum, a.count + b.count}; }
};
struct Later {
  // Not commutative: the right operand wins unless it is 0.
  __host__ __device__ int operator()(int a, int b) const { return b != 0 ? b : a; }
};

constexpr int kThreads = 96, kWarps = kThreads / 32;

__global__ void whole_warps(const int* in, int* out) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  __shared__ typename Reduce::TempStorage reduce[kWarps];
  __shared__ typename Scan::TempStorage scan[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int value = in[threadIdx.x];
  const int sum = Reduce(reduce[warp]).Sum(value);
  const int part = Reduce(reduce[warp]).Sum(value, 7);
  const int last = Reduce(reduce[warp]).Reduce(lane < 20 ? value : 0, Later());
  int before, aggregate, upto;
  Scan(scan[warp]).ExclusiveSum(value, before, aggregate);
  Scan(scan[warp]).InclusiveScan(value, upto, Later());
  out[threadIdx.x] = before;
  out[kThreads + threadIdx.x] = upto;
  if (lane == 0) {
    out[2 * kThreads + warp] = sum;
    out[2 * kThreads + kWarps + warp] = part;
    out[2 * kThreads + 2 * kWarps + warp] = last;
    out[2 * kThreads + 3 * kWarps + warp] = aggregate;
  }
}

__global__ void parts(const int* in, int* sums, int* heads, Pair* pairs) {
  using Eight = cub::WarpReduce<int, 8>;
  using Pairs = cub::WarpReduce<Pair>;
  __shared__ typename Eight::TempStorage eight[kThreads / 8];
  __shared__ typename Pairs::TempStorage large[kWarps];
  const int sum = Eight(eight[threadIdx.x / 8]).Sum(in[threadIdx.x]);
  if (threadIdx.x % 8 == 0) sums[threadIdx.x / 8] = sum;
  // Segments of 5 items, cut at the warp's end.
  const int lane = threadIdx.x % 32;
  const int head = Eight(eight[threadIdx.x / 8]).HeadSegmentedSum(in[threadIdx.x], lane % 8 == 5 ? 1 : 0);
  if (lane % 8 == 0 || lane % 8 == 5) heads[threadIdx.x / 8 * 2 + (lane % 8 == 5)] = head;
  const Pair pair = Pairs(large[threadIdx.x / 32]).Reduce(Pair{in[threadIdx.x] * 0.5, 1}, AddPairs());
  if (lane == 0) pairs[threadIdx.x / 32] = pair;
}

__global__ void exchange(int* out) {
  using Exchange = cub::WarpExchange<int, 4, 16>;
  __shared__ typename Exchange::TempStorage storage[kThreads / 16];
  int items[4];
  for (int i = 0; i < 4; ++i) items[i] = threadIdx.x * 4 + i;
  Exchange(storage[threadIdx.x / 16]).BlockedToStriped(items, items);
  for (int i = 0; i < 4; ++i) out[threadIdx.x / 16 * 64 + i * 16 + threadIdx.x % 16] = items[i];
}

int main() {
  std::vector<int> in(kThreads);
  for (int i = 0; i < kThreads; ++i) in[i] = (i * 7 + 3) % 11;
  int *d_in, *d_out, *d_sums, *d_heads, *d_items;
  Pair* d_pairs;
  cudaMalloc(&d_in, kThreads * sizeof(int));
  cudaMalloc(&d_out, (2 * kThreads + 4 * kWarps) * sizeof(int));
  cudaMalloc(&d_sums, kThreads / 8 * sizeof(int));
  cudaMalloc(&d_heads, kThreads / 4 * sizeof(int));
  cudaMalloc(&d_pairs, kWarps * sizeof(Pair));
  cudaMalloc(&d_items, kThreads * 4 * sizeof(int));
  cudaMemcpy(d_in, in.data(), kThreads * sizeof(int), cudaMemcpyHostToDevice);
  whole_warps<<<1, kThreads>>>(d_in, d_out);
  parts<<<1, kThreads>>>(d_in, d_sums, d_heads, d_pairs);
  exchange<<<1, kThreads>>>(d_items);
  std::vector<int> out(2 * kThreads + 4 * kWarps), sums(kThreads / 8), heads(kThreads / 4), items(kThreads * 4);
  std::vector<Pair> pairs(kWarps);
  cudaMemcpy(out.data(), d_out, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(sums.data(), d_sums, sums.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(heads.data(), d_heads, heads.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(pairs.data(), d_pairs, pairs.size() * sizeof(Pair), cudaMemcpyDeviceToHost);
  cudaMemcpy(items.data(), d_items, items.size() * sizeof(int), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int warp = 0; warp < kWarps; ++warp) {
    int sum = 0, part = 0, last = 0, upto = 0;
    for (int lane = 0; lane < 32; ++lane) {
      const int i = warp * 32 + lane;
      wrong += out[i] != sum;
      upto = Later()(upto, in[i]);
      wrong += out[kThreads + i] != upto;
      sum += in[i];
      if (lane < 7) part += in[i];
      if (lane < 20) last = Later()(last, in[i]);
    }
    wrong += out[2 * kThreads + warp] != sum || out[2 * kThreads + kWarps + warp] != part;
    wrong += out[2 * kThreads + 2 * kWarps + warp] != last || out[2 * kThreads + 3 * kWarps + warp] != sum;
    wrong += pairs[warp].sum != sum * 0.5 || pairs[warp].count != 32;
  }
  for (int part = 0; part < kThreads / 8; ++part) {
    int first = 0, second = 0;
    for (int i = 0; i < 5; ++i) first += in[part * 8 + i];
    for (int i = 5; i < 8; ++i) second += in[part * 8 + i];
    wrong += sums[part] != first + second || heads[part * 2] != first || heads[part * 2 + 1] != second;
  }
  for (int i = 0; i < kThreads * 4; ++i) wrong += items[i] != i;
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(d_sums);
  cudaFree(d_heads);
  cudaFree(d_pairs);
  cudaFree(d_items);
  std::printf(wrong == 0 ? "PASSED\n" : "FAILED: %d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
