// Inline PTX that accesses memory: vectors, small types, memory orders, atomic operations, addresses of shared memory
// and asynchronous copies.
#include <cstdint>
#include <cstdio>

struct Counters {
  int sum;
  unsigned most, swapped, bits;
  unsigned long long wide;
  float real;
  int flag, value, seen;
};

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void vectors(const float4* in, float4* out, signed char* bytes, unsigned* wrong) {
  const int i = threadIdx.x;
  float a, b, c, d;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(in + i));
  asm volatile("st.global.cs.v4.f32 [%0], {%4, %3, %2, %1};" ::"l"(out + i), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
  int narrow;
  unsigned wide;
  asm volatile("st.global.u8 [%0], %1;" ::"l"(bytes + 4 * i), "r"(180 + i));
  asm volatile("ld.global.s8 %0, [%1];" : "=r"(narrow) : "l"(bytes + 4 * i));
  asm volatile("ld.u8 %0, [%1];" : "=r"(wide) : "l"(bytes + 4 * i));
  unsigned bad = narrow != static_cast<signed char>(180 + i);
  bad |= (wide != 180u + i) << 1;
  unsigned is_global, is_shared;
  asm("{.reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is_global) : "l"(in));
  asm("{.reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(is_shared) : "l"(in));
  wrong[i] = bad | (is_global != 1 || is_shared != 0) << 2;
}

__global__ void orders(Counters* c) {
  int old;
  asm volatile("atom.global.add.s32 %0, [%1], %2;" : "=r"(old) : "l"(&c->sum), "r"(2) : "memory");
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(&c->most), "r"(threadIdx.x));
  asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(&c->swapped), "r"(0), "r"(threadIdx.x + 100));
  asm volatile("red.global.or.b32 [%0], %1;" ::"l"(&c->bits), "r"(1u << threadIdx.x % 32));
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(&c->wide), "l"(1ull << 33));
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(&c->real), "f"(0.5f));
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    c->value = 42;
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(&c->flag), "r"(1) : "memory");
  }
  if (threadIdx.x == 0 && blockIdx.x == 1) {
    int flag = 0;
    while (flag == 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(flag) : "l"(&c->flag) : "memory");
    c->seen = c->value;
  }
}

__global__ void through_shared(const int4* in, int4* out, int count) {
  __shared__ int4 tile[64];
  extern __shared__ int dynamic[];
  const int i = threadIdx.x;
  const unsigned to = shared_address(tile + i);
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(in + (i < count ? i : 0)),
               "r"(i < count ? 16 : 0)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 4;}" ::"r"(
                   shared_address(dynamic + i)),
               "l"(in + i), "r"(i % 2)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (i % 2 == 0) asm volatile("st.shared.s32 [%0], %1;" ::"r"(shared_address(dynamic + i)), "r"(in[i].x) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  const int j = blockDim.x - 1 - i;
  int4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(shared_address(tile) + 16 * j));
  int word;
  asm volatile("{.reg .u64 a; cvta.shared.u64 a, %1; ld.s32 %0, [a+4];}"
               : "=r"(word)
               : "l"(__cvta_generic_to_shared(dynamic + (j == 63 ? 62 : j))));
  v.w += word;
  out[i] = v;
}

int main() {
  constexpr int kCount = 64, kFilled = 50;
  float4 *in = nullptr, *out = nullptr;
  signed char* bytes = nullptr;
  unsigned* wrong = nullptr;
  Counters* counters = nullptr;
  cudaMallocManaged(&in, kCount * sizeof(float4));
  cudaMallocManaged(&out, kCount * sizeof(float4));
  cudaMallocManaged(&bytes, 4 * kCount);
  cudaMallocManaged(&wrong, kCount * sizeof(unsigned));
  cudaMallocManaged(&counters, sizeof(Counters));
  *counters = Counters{};
  for (int i = 0; i < kCount; ++i) in[i] = {1.0f * i, 2.0f * i, 3.0f * i, 4.0f * i};
  vectors<<<1, kCount>>>(in, out, bytes, wrong);
  orders<<<2, kCount>>>(counters);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  bool right = true;
  for (int i = 0; i < kCount; ++i) right = right && out[i].x == in[i].w && out[i].y == in[i].z && wrong[i] == 0;
  const Counters& c = *counters;
  right = right && c.sum == 256 && c.most == 63 && c.swapped >= 100 && c.bits == 0xffffffffu &&
          c.wide == 128ull << 33 && c.real == 64 && c.seen == 42;
  if (!right)
    std::printf("vectors or counters are wrong: %d %u %u 0x%x %f %d\n", c.sum, c.most, c.swapped, c.bits, c.real,
                c.seen);
  int4 *words = reinterpret_cast<int4*>(in), *copied = reinterpret_cast<int4*>(out);
  for (int i = 0; i < kCount; ++i) words[i] = {i, i + 1, i + 2, i + 3};
  through_shared<<<1, kCount, kCount * sizeof(int)>>>(words, copied, kFilled);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kCount; ++i) {
    const int j = kCount - 1 - i, next = j == 63 ? 63 : j + 1;
    const int x = j < kFilled ? j : 0, w = (j < kFilled ? j + 3 : 0) + next;
    if (copied[i].x == x && copied[i].w == w) continue;
    std::printf("thread %d: %d %d instead of %d %d\n", i, copied[i].x, copied[i].w, x, w);
    right = false;
  }
  cudaFree(in);
  cudaFree(out);
  cudaFree(bytes);
  cudaFree(wrong);
  cudaFree(counters);
  if (right) std::printf("PASSED\n");
  return right ? 0 : 1;
}
