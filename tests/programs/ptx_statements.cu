// The forms of asm statements: macros, stringified and named operands, scopes, labels, predicates, special registers.
#include <cstdio>

#define LOAD_AS(type, letter, to, from) asm volatile("ld.global." #type " %0, [%1];" : "=" letter(to) : "l"(from))
#define FENCE() asm volatile("membar.gl;" ::: "memory")
#define BINARY(op, a, b)                       \
  ({                                           \
    unsigned d_;                               \
    asm(#op ".b32 %0, %1, %2;" /* a comment */ \
        : "=r"(d_)                             \
        : "r"(a), "r"(b));                     \
    d_;                                        \
  })
#define POINTER "l"

template <int kShift>
__device__ unsigned shifted(unsigned x) {
  unsigned y;
  asm("shl.b32 %0, %1, %2;" : "=r"(y) : "r"(x), "n"(kShift));
  return y;
}

static __device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Nothing calls it, so it may have any instruction.
static inline __device__ void unused() { asm volatile("wgmma.fence.sync.aligned;\n"); }

__device__ unsigned gcd(unsigned a, unsigned b) {
  asm("{\n\t"
      ".reg .pred p;\n\t"
      ".reg .u32 t<2>;\n\t"
      "LOOP:\n\t"
      "setp.eq.u32 p, %1, 0;\n\t"
      "@p bra DONE;\n\t"
      "mov.u32 t0, %1;\n\t"
      "rem.u32 %1, %0, t0;\n\t"
      "mov.u32 %0, t0;\n\t"
      "bra.uni LOOP;\n"
      "DONE:\n\t"
      "}"
      : "+r"(a), "+r"(b));
  return a;
}

__global__ void run(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = 0, y = 7;
  LOAD_AS(u32, "r", x, in + i);
  FENCE();
  asm volatile("ld.global.u32 %0, [%1+-4];" : "=r"(y) : POINTER(in + i + 1));
  unsigned wrong = x != y;
  wrong |= BINARY(xor, x, 0xffu) != (x ^ 0xffu);
  wrong |= (shifted<3>(x) != x << 3) << 1;
  unsigned named = 5;
  asm("mad.lo.u32 %0, %1, %2, %0;" : "+r"(named) : "r"(x), "r"(3u) "r"(1u));  // as nvcc, without the comma
  wrong |= (named != x * 3 + 5) << 2;
  wrong |= (gcd(x * 6, x * 10) != x * 2) << 3;
  unsigned t, b, g, ng, lt;
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(t));
  asm volatile("mov.u32 %0, %%ctaid.x; mov.u32 %1, %%nctaid.x;\n mov.u32 %2, %%ntid.x;" : "=r"(b), "=r"(ng), "=r"(g));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  wrong |= (t != threadIdx.x || b != blockIdx.x || g != blockDim.x || ng != gridDim.x) << 4;
  wrong |= (lane_id() != threadIdx.x % 32 || lt != (1u << threadIdx.x % 32) - 1) << 5;
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before)::"memory");
  asm volatile("nanosleep.u32 100;");
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after)::"memory");
  wrong |= (after < before) << 6;
  unsigned kept = 3;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; @!p mov.u32 %0, 9; { .reg .u32 p; mov.u32 p, 4; add.u32 %0, %0, p; } }"
      : "+r"(kept)
      : "r"(x % 2));
  wrong |= (kept != (x % 2 == 0 ? 13 : 7)) << 7;
  out[i] = wrong;
  if (x == 0) asm("trap;");
  if (i % 2 == 0) asm volatile("exit;");
  out[i] |= 0x80000000u;
}

int main() {
  constexpr int kCount = 128;
  unsigned *in = nullptr, *out = nullptr;
  cudaMallocManaged(&in, (kCount + 1) * sizeof(unsigned));
  cudaMallocManaged(&out, kCount * sizeof(unsigned));
  for (int i = 0; i <= kCount; ++i) in[i] = i * 5 + 3;
  run<<<2, kCount / 2>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kCount; ++i) {
    if (out[i] == (i % 2 == 0 ? 0 : 0x80000000u)) continue;
    std::printf("thread %d: 0x%x\n", i, out[i]);
    return 1;
  }
  cudaFree(in);
  cudaFree(out);
  std::printf("PASSED\n");
  return 0;
}
