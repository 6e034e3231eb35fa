// Atomic functions of all types and scopes, by many threads at few addresses: totals must be those of a loop, and the
// old values that are returned must all differ.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

struct Totals {
  int add, sub, max_s, min_s;
  unsigned max_u, inc, dec, and_u, or_u, xor_u;
  unsigned long long add_ull, and_ull, or_ull, xor_ull, max_ull, cas_ull;
  long long min_ll;
  float add_f;
  double add_d;
  __half2 add_h2;
  __half add_h[2];
  __nv_bfloat16 add_b[2];
  __nv_bfloat162 add_b2;
  unsigned short cas_us[2];
};

constexpr int kThreads = 256, kBlocks = 4, kAll = kThreads * kBlocks;

__global__ void everything(Totals* t, int* seen) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const unsigned bit = 1u << i % 32;
  atomicAdd(&seen[atomicAdd(&t->add, 1)], 1);
  atomicSub(&t->sub, 2);
  atomicMax(&t->max_s, i - 500);
  atomicMin(&t->min_s, i - 500);
  atomicMax_system(&t->max_u, i);
  atomicInc(&t->inc, 9);
  atomicDec(&t->dec, 9);
  atomicAnd(&t->and_u, ~(1u << i % 7));
  atomicOr(&t->or_u, bit & 0xf0f0f0f0);
  atomicXor(&t->xor_u, static_cast<unsigned>(i));
  atomicAdd_system(&t->add_ull, 1ull << 33);
  atomicAnd(&t->and_ull, ~(1ull << (i % 9 + 40)));
  atomicOr(&t->or_ull, 1ull << (i % 3 + 50));
  atomicXor(&t->xor_ull, static_cast<unsigned long long>(i) << 20);
  atomicMax(&t->max_ull, static_cast<unsigned long long>(i) << 40);
  atomicMin(&t->min_ll, -static_cast<long long>(i) << 33);
  atomicAdd(&t->add_f, 0.5f);
  atomicAdd(&t->add_d, 0.25);
  atomicAdd(&t->add_h2, __half2{__float2half(1), __float2half(-1)});
  atomicAdd(&t->add_h[1], __float2half(0.5f));
  if (i < 100) atomicAdd(&t->add_b[1], __float2bfloat16(1));
  if (i < 100) atomicAdd(&t->add_b2, __nv_bfloat162{__float2bfloat16(2), __float2bfloat16(-1)});
  for (unsigned short old = 0, found;
       (found = atomicCAS(&t->cas_us[1], old, static_cast<unsigned short>(old + 3))) != old;)
    old = found;
  for (unsigned long long old = 0, found; (found = atomicCAS_system(&t->cas_ull, old, old + 5)) != old;) old = found;
}

__global__ void in_block(int* out) {
  __shared__ int sum;
  __shared__ float exchanged;
  if (threadIdx.x == 0) sum = 0, exchanged = -1;
  __syncthreads();
  atomicAdd_block(&sum, static_cast<int>(threadIdx.x));
  if (atomicExch_block(&exchanged, static_cast<float>(threadIdx.x)) == -1) atomicAdd(&out[1], 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

int main() {
  Totals *device, t{};
  int *seen, host_seen[kAll], *out, host_out[2];
  t.and_u = 0xffffffff, t.and_ull = ~0ull;
  cudaMalloc(&device, sizeof(t));
  cudaMalloc(&seen, sizeof(host_seen));
  cudaMalloc(&out, sizeof(host_out));
  cudaMemset(seen, 0, sizeof(host_seen));
  cudaMemset(out, 0, sizeof(host_out));
  cudaMemset(device, 0, sizeof(t));
  cudaMemcpy(&device->and_u, &t.and_u, sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemcpy(&device->and_ull, &t.and_ull, sizeof(unsigned long long), cudaMemcpyHostToDevice);
  everything<<<kBlocks, kThreads>>>(device, seen);
  in_block<<<1, kThreads>>>(out);
  cudaMemcpy(&t, device, sizeof(t), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_seen, seen, sizeof(host_seen), cudaMemcpyDeviceToHost);
  cudaMemcpy(host_out, out, sizeof(host_out), cudaMemcpyDeviceToHost);
  cudaFree(device);
  cudaFree(seen);
  cudaFree(out);
  unsigned inc = 0, dec = 0, xors = 0, ors = 0;
  unsigned long long xors_ull = 0;
  bool once = true;
  for (unsigned i = 0; i < kAll; ++i) {
    inc = inc >= 9 ? 0 : inc + 1;
    dec = dec == 0 || dec > 9 ? 9 : dec - 1;
    xors ^= i;
    xors_ull ^= static_cast<unsigned long long>(i) << 20;
    ors |= 1u << i % 32 & 0xf0f0f0f0;
    once = once && host_seen[i] == 1;
  }
  const float low = __low2float(t.add_h2), high = __high2float(t.add_h2);
  const bool results[] = {once,
                          t.add == kAll,
                          t.sub == -2 * kAll,
                          t.max_s == kAll - 501,
                          t.min_s == -500,
                          t.max_u == kAll - 1,
                          t.inc == inc,
                          t.dec == dec,
                          t.and_u == 0xffffff80,
                          t.or_u == ors,
                          t.xor_u == xors,
                          t.add_ull == static_cast<unsigned long long>(kAll) << 33,
                          t.and_ull == ~(0x1ffull << 40),
                          t.or_ull == 7ull << 50,
                          t.xor_ull == xors_ull,
                          t.max_ull == (kAll - 1ull) << 40,
                          t.min_ll == -(kAll - 1ll) * (1ll << 33),
                          t.add_f == kAll / 2,
                          t.add_d == kAll / 4,
                          low == kAll && high == -kAll,
                          __half2float(t.add_h[1]) == kAll / 2 && __half2float(t.add_h[0]) == 0,
                          __bfloat162float(t.add_b[1]) == 100,
                          __low2float(t.add_b2) == 200 && __high2float(t.add_b2) == -100,
                          t.cas_us[1] == 3 * kAll && t.cas_us[0] == 0,
                          t.cas_ull == 5 * kAll,
                          host_out[0] == kThreads * (kThreads - 1) / 2 && host_out[1] == 1};
  int n = 0;
  for (bool result : results) {
    if (!result) return std::printf("result %d is wrong\n", n), 1;
    ++n;
  }
  std::puts("PASSED");
}
