// Inline PTX of warps and blocks against CUDA's intrinsics: shuffles, votes, matches, reductions and barriers.
#include <cstdio>

constexpr int kThreads = 64, kResults = 24;

__global__ void compute(const int* in, unsigned* results) {
  const int i = threadIdx.x, x = in[i];
  unsigned* r = results + 2 * i * kResults;
  int n = 0;
  const auto put = [&](unsigned got, unsigned want) {
    r[n++] = got;
    r[n++] = want;
  };
  const unsigned all = 0xffffffffu;
  int s;
  unsigned u, p;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(s) : "r"(x), "r"(5));
  put(s, __shfl_xor_sync(all, x, 5));
  asm volatile("shfl.sync.idx.b32 %0, %1, 3, %2, %3;" : "=r"(s) : "r"(x), "r"((32 - 8) << 8 | 0x1f), "r"(all));
  put(s, __shfl_sync(all, x, 3, 8));
  asm volatile("{.reg .pred p; shfl.sync.up.b32 %0|p, %2, 4, 0, -1; selp.u32 %1, 1, 0, p;}"
               : "=r"(s), "=r"(p)
               : "r"(x));
  put(s, __shfl_up_sync(all, x, 4));
  put(p, i % 32 >= 4);
  asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %2, 3, %3, -1; @!p mov.b32 %0, 0; selp.u32 %1, 1, 0, p;}"
               : "=r"(s), "=r"(p)
               : "r"(x), "r"((32 - 16) << 8 | 0x1f));
  const int down = __shfl_down_sync(all, x, 3, 16);
  put(s, i % 16 + 3 < 16 ? down : 0);
  put(p, i % 16 + 3 < 16);
  asm volatile("{.reg .pred p; setp.gt.s32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "=r"(u) : "r"(x));
  put(u, __ballot_sync(all, x > 5));
  asm volatile("{.reg .pred p, q; setp.gt.s32 p, %1, 5; vote.sync.any.pred q, !p, -1; selp.u32 %0, 1, 0, q;}"
               : "=r"(u)
               : "r"(x));
  put(u, __any_sync(all, !(x > 5)));
  asm volatile("{.reg .pred p, q; setp.ge.s32 p, %1, 0; vote.sync.uni.pred q, p, -1; selp.u32 %0, 1, 0, q;}"
               : "=r"(u)
               : "r"(x));
  put(u, 1);
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(u) : "r"(x));
  put(u, __match_any_sync(all, x));
  asm volatile("{.reg .pred p; match.all.sync.b64 %0|p, %2, -1; selp.u32 %1, 1, 0, p;}" : "=r"(u), "=r"(p) : "l"(7ll));
  put(u, all);
  put(p, 1);
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(s) : "r"(x));
  put(s, __reduce_add_sync(all, x));
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(u) : "r"(static_cast<unsigned>(x)));
  put(u, __reduce_max_sync(all, static_cast<unsigned>(x)));
  asm volatile("activemask.b32 %0;" : "=r"(u));
  put(u, all);
  asm volatile("bar.warp.sync %0;" ::"r"(all) : "memory");
  asm volatile("barrier.sync 1, %0;" ::"n"(kThreads) : "memory");
  asm volatile("{.reg .pred p; setp.gt.s32 p, %1, 5; bar.red.popc.u32 %0, 0, p;}" : "=r"(u) : "r"(x));
  put(u, __syncthreads_count(x > 5));
  if (i % 32 < 8) {
    asm volatile("shfl.sync.idx.b32 %0, %1, 7, 0x1f, 0xff;" : "=r"(s) : "r"(x));
    put(s, __shfl_sync(0xff, x, 7));
  }
  while (n < 2 * kResults) put(0, 0);
}

int main() {
  int* in = nullptr;
  unsigned* results = nullptr;
  cudaMallocManaged(&in, kThreads * sizeof(int));
  cudaMallocManaged(&results, 2 * kThreads * kResults * sizeof(unsigned));
  for (int i = 0; i < kThreads; ++i) in[i] = i * 7 % 11;
  compute<<<1, kThreads>>>(in, results);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kThreads * kResults; ++i) {
    if (results[2 * i] == results[2 * i + 1]) continue;
    std::printf("thread %d, result %d: 0x%x instead of 0x%x\n", i / kResults, i % kResults, results[2 * i],
                results[2 * i + 1]);
    return 1;
  }
  cudaFree(in);
  cudaFree(results);
  std::printf("PASSED\n");
  return 0;
}
