// Inline PTX on integers and bits against loops, C++ and CUDA's intrinsics.
#include <cstdint>
#include <cstdio>

constexpr int kCases = 64, kResults = 64;

#define PTX2(name, T, letter)                                                   \
  __device__ T name(T a, T b) {                                                 \
    T d;                                                                        \
    asm(PTX_TEXT_##name " %0, %1, %2;" : "=" letter(d) : letter(a), letter(b)); \
    return d;                                                                   \
  }
#define PTX_TEXT_add_s32 "add.s32"
#define PTX_TEXT_add_sat "add.sat.s32"
#define PTX_TEXT_mul_hi "mul.hi.u32"
#define PTX_TEXT_mul_hi64 "mul.hi.s64"
#define PTX_TEXT_min_s32 "min.s32"
#define PTX_TEXT_rem_u64 "rem.u64"
PTX2(add_s32, int, "r")
PTX2(add_sat, int, "r")
PTX2(mul_hi, unsigned, "r")
PTX2(mul_hi64, long long, "l")
PTX2(min_s32, int, "r")
PTX2(rem_u64, unsigned long long, "l")

__device__ unsigned long long add128_high(unsigned long long a, unsigned long long b) {
  unsigned long long low, high;
  asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, %2, %3;" : "=l"(low), "=l"(high) : "l"(a), "l"(b));
  return high - low;
}

__device__ unsigned carries(unsigned a, unsigned b, unsigned c) {
  unsigned low, high;
  asm("{\n"
      "  mad.lo.cc.u32 %0, %2, %3, %4;  // the low part\n"
      "  madc.hi.u32 %1, %2, %3, 0;\n"
      "}"
      : "=r"(low), "=r"(high)
      : "r"(a), "r"(b), "r"(c));
  return low ^ high;
}

__device__ unsigned borrow(unsigned a, unsigned b) {
  unsigned high;
  asm("{ .reg .u32 low; sub.cc.u32 low, %1, %2; subc.u32 %0, 0, 0; }" : "=r"(high) : "r"(a), "r"(b));
  return high;
}

__global__ void compute(const unsigned* in, unsigned long long* results) {
  const int i = threadIdx.x;
  const unsigned x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
  const int sx = static_cast<int>(x), sy = static_cast<int>(y);
  const unsigned long long xy = static_cast<unsigned long long>(x) << 32 | y;
  const long long zx = static_cast<long long>(static_cast<unsigned long long>(z) << 32 | x);
  unsigned long long* r = results + 2 * i * kResults;
  int n = 0;
  const auto put = [&](unsigned long long got, unsigned long long want) {
    r[n++] = got;
    r[n++] = want;
  };
  unsigned u;
  int s;
  unsigned long long l;
  put(static_cast<unsigned>(add_s32(sx, sy)), x + y);
  const long long sum = static_cast<long long>(sx) + sy;
  put(add_sat(sx, sy), sum > 2147483647 ? 2147483647 : sum < -2147483647 - 1 ? -2147483647 - 1 : sum);
  put(mul_hi(x, y), __umulhi(x, y));
  put(mul_hi64(static_cast<long long>(xy), zx), __mul64hi(static_cast<long long>(xy), zx));
  put(min_s32(sx, sy), sx < sy ? sx : sy);
  put(rem_u64(xy, y | 1), xy % (y | 1));
  put(add128_high(xy, static_cast<unsigned long long>(zx)), xy + zx + (xy + zx < xy ? 1 : 0) - (xy + zx));
  const unsigned long long product = static_cast<unsigned long long>(x) * y + z;
  put(carries(x, y, z), static_cast<unsigned>(product) ^ static_cast<unsigned>(product >> 32));
  put(borrow(x, y), x < y ? 0xffffffffu : 0);
  asm("mul.wide.s32 %0, %1, %2;" : "=l"(l) : "r"(sx), "r"(sy));
  put(l, static_cast<long long>(sx) * sy);
  asm("mad.wide.u16 %0, %1, %2, %3;" : "=r"(u) : "h"(static_cast<short>(x)), "h"(static_cast<short>(y)), "r"(z));
  put(u, (x & 0xffff) * (y & 0xffff) + z);
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  put(u, __usad(x, y, z));
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(s) : "r"(sx), "r"(sy), "r"(static_cast<int>(z)));
  put(s, __dp4a(sx, sy, static_cast<int>(z)));
  asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  put(u, __dp2a_hi(x, y, z));
  asm("mad24.lo.u32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  put(u, __umul24(x, y) + z);
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  put(u, x ^ y ^ z);
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(u) : "r"(x), "r"(y), "r"(z), "n"((0xf0 & 0xcc) | (~0xf0 & 0xaa)));
  put(u, (x & y) | (~x & z));
  asm("bfe.u32 %0, %1, 7, 12;" : "=r"(u) : "r"(x));
  put(u, x >> 7 & 0xfff);
  asm("bfe.s32 %0, %1, 24, 20;" : "=r"(s) : "r"(sx));
  put(s, sx >> 24);
  asm("bfi.b32 %0, %1, %2, 4, 9;" : "=r"(u) : "r"(x), "r"(y));
  put(u, (y & ~0x1ff0u) | (x << 4 & 0x1ff0u));
  asm("bfind.u32 %0, %1;" : "=r"(u) : "r"(x));
  put(u, x == 0 ? 0xffffffffu : 31 - __clz(sx));
  asm("bfind.shiftamt.s64 %0, %1;" : "=r"(u) : "l"(zx));
  put(u, zx == 0 || zx == -1 ? 0xffffffffu : __clzll(zx < 0 ? ~zx : zx));
  asm("popc.b64 %0, %1;" : "=r"(u) : "l"(xy));
  put(u, __popcll(xy));
  asm("clz.b32 %0, %1;" : "=r"(u) : "r"(x));
  put(u, __clz(sx));
  asm("brev.b32 %0, %1;" : "=r"(u) : "r"(x));
  put(u, __brev(x));
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z & 0x7777));
  put(u, __byte_perm(x, y, z & 0x7777));
  asm("prmt.b32 %0, %1, 0, 0xbbbb;" : "=r"(u) : "r"(x));
  put(u, sx < 0 ? 0xffffffffu : 0);
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  put(u, __funnelshift_l(x, y, z));
  asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z % 64));
  put(u, __funnelshift_rc(x, y, z % 64));
  asm("shl.b32 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(z % 64));
  put(u, z % 64 > 31 ? 0 : x << z % 64);
  asm("shr.s32 %0, %1, 40;" : "=r"(s) : "r"(sx));
  put(s, sx < 0 ? -1 : 0);
  asm("cnot.b32 %0, %1;" : "=r"(u) : "r"(x));
  put(u, x == 0);
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  put(u, __vsadu4(x, y) + z);
  while (n < 2 * kResults) put(0, 0);
}

int main() {
  unsigned* in = nullptr;
  unsigned long long* results = nullptr;
  cudaMallocManaged(&in, 3 * kCases * sizeof(unsigned));
  cudaMallocManaged(&results, 2 * kCases * kResults * sizeof(unsigned long long));
  unsigned state = 1;
  for (int i = 0; i < 3 * kCases; ++i) {
    state = state * 1664525u + 1013904223u;
    in[i] = i % 7 == 0 ? 0x80000000u >> i % 32 : i % 11 == 0 ? 0 : state;
  }
  in[0] = in[1] = 0x7fffffff;
  in[3] = in[4] = 0x80000000u;
  compute<<<1, kCases>>>(in, results);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kCases * kResults; ++i) {
    if (results[2 * i] == results[2 * i + 1]) continue;
    std::printf("case %d, result %d: 0x%llx instead of 0x%llx\n", i / kResults, i % kResults, results[2 * i],
                results[2 * i + 1]);
    return 1;
  }
  cudaFree(in);
  cudaFree(results);
  std::printf("PASSED\n");
  return 0;
}
