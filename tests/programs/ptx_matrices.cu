// ldmatrix and mma.sync against loops, with small integers, whose products and sums are exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>

constexpr int kM = 16, kN = 8;

__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// A is 16 x 16 in rows; B is given as its 8 columns of 16.
__global__ void of_half(const __half* a, const __half* b, float* d, unsigned* d_half) {
  __shared__ __align__(16) __half tile_a[kM][16], tile_b[kN][16];
  const int lane = threadIdx.x;
  for (int i = lane; i < kM * 16; i += 32) tile_a[i / 16][i % 16] = a[i];
  for (int i = lane; i < kN * 16; i += 32) tile_b[i / 16][i % 16] = b[i];
  __syncwarp();
  unsigned ra[4], rb[2];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
               : "r"(shared_address(&tile_a[lane % 16][lane / 16 * 8])));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(shared_address(&tile_b[lane % 8][lane / 8 % 2 * 8])));
  float c[4] = {1, 2, 3, 4};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  for (int i = 0; i < 4; ++i) d[(lane / 4 + i / 2 * 8) * kN + lane % 4 * 2 + i % 2] = c[i] - i - 1;
  unsigned h[2] = {0, 0};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
               : "+r"(h[0]), "+r"(h[1])
               : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
  for (int i = 0; i < 2; ++i) d_half[(lane / 4 + i * 8) * (kN / 2) + lane % 4] = h[i];
}

// 8 x 8 numbers, transposed on the way.
__global__ void transpose(const unsigned short* in, unsigned* out) {
  __shared__ __align__(16) unsigned short tile[8][8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 64; i += 32) tile[i / 8][i % 8] = in[i];
  __syncwarp();
  unsigned r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r)
               : "r"(shared_address(tile[lane % 8])));
  out[lane] = r;
}

__global__ void of_bytes(const uint32_t* a, const uint32_t* b, int* d) {  // 16 x 32 and 8 columns of 32
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  int c[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]),
        "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]), "r"(0), "r"(0), "r"(0), "r"(0));
  for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * kN + t * 2 + i % 2] = c[i];
}

__global__ void of_tf32_and_double(const float* a, const float* b, float* d, double* dd) {  // 16 x 8, 8 columns of 8
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const auto bits = [](float x) { return __float_as_uint(x); };
  float c[4];
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%10,%10,%10};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(bits(a[g * 8 + t])), "r"(bits(a[(g + 8) * 8 + t])), "r"(bits(a[g * 8 + t + 4])),
        "r"(bits(a[(g + 8) * 8 + t + 4])), "r"(bits(b[g * 8 + t])), "r"(bits(b[g * 8 + t + 4])), "f"(0.0f));
  for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * kN + t * 2 + i % 2] = c[i];
  double e[2];
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%4};"
               : "=d"(e[0]), "=d"(e[1])
               : "d"(double(a[g * 8 + t])), "d"(double(b[g * 8 + t])), "d"(0.0));
  for (int i = 0; i < 2; ++i) dd[g * kN + t * 2 + i] = e[i];
}

template <class T>
T* managed(int count) {
  T* memory = nullptr;
  cudaMallocManaged(&memory, count * sizeof(T));
  return memory;
}

int value(int i, int j) { return (i * 5 + j * 3) % 7 - 3; }

template <class D>
bool is_product(const char* name, const D* d, int rows, int depth, int b_offset = 0) {
  for (int i = 0; i < rows * kN; ++i) {
    int sum = 0;
    for (int k = 0; k < depth; ++k) sum += value(i / kN, k) * (value(i % kN + 20, k) + b_offset);
    if (static_cast<int>(d[i]) == sum) continue;
    std::printf("%s: element %d is %d instead of %d\n", name, i, static_cast<int>(d[i]), sum);
    return false;
  }
  return true;
}

int main() {
  auto *a = managed<__half>(kM * 16), *b = managed<__half>(kN * 16);
  auto *fa = managed<float>(kM * 8), *fb = managed<float>(kN * 8), *d = managed<float>(kM * kN);
  auto *ba = managed<uint32_t>(kM * 8), *bb = managed<uint32_t>(kN * 8), *pairs = managed<uint32_t>(kM * kN / 2);
  auto* di = managed<int>(kM * kN);
  auto* dd = managed<double>(8 * kN);
  for (int i = 0; i < kM * 16; ++i) a[i] = __float2half(value(i / 16, i % 16));
  for (int i = 0; i < kN * 16; ++i) b[i] = __float2half(value(i / 16 + 20, i % 16));
  for (int i = 0; i < kM * 8; ++i) fa[i] = value(i / 8, i % 8);
  for (int i = 0; i < kN * 8; ++i) fb[i] = value(i / 8 + 20, i % 8);
  for (int i = 0; i < kM * 32; ++i) reinterpret_cast<int8_t*>(ba)[i] = value(i / 32, i % 32);
  for (int i = 0; i < kN * 32; ++i) reinterpret_cast<uint8_t*>(bb)[i] = value(i / 32 + 20, i % 32) + 200;
  of_half<<<1, 32>>>(a, b, d, pairs);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  bool right = is_product("f16", d, kM, 16);
  for (int i = 0; i < kM * kN; ++i) di[i] = __half2float(reinterpret_cast<__half*>(pairs)[i]);
  right = is_product("f16 into f16", di, kM, 8) && right;
  of_bytes<<<1, 32>>>(ba, bb, di);
  of_tf32_and_double<<<1, 32>>>(fa, fb, d, dd);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  right = is_product("bytes", di, kM, 32, 200) && is_product("tf32", d, kM, 8) && is_product("f64", dd, 8, 4) && right;
  auto* in = reinterpret_cast<unsigned short*>(fa);
  for (int i = 0; i < 64; ++i) in[i] = i;
  transpose<<<1, 32>>>(in, pairs);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < 64; ++i) {
    if ((pairs[i / 2] >> 16 * (i % 2) & 0xffff) == static_cast<unsigned>(i % 8 * 8 + i / 8)) continue;
    std::printf("transposed element %d is 0x%x\n", i, pairs[i / 2]);
    right = false;
  }
  for (void* each : {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(fa), static_cast<void*>(fb),
                     static_cast<void*>(d), static_cast<void*>(ba), static_cast<void*>(bb), static_cast<void*>(pairs),
                     static_cast<void*>(di), static_cast<void*>(dd)}) {
    cudaFree(each);
  }
  if (right) std::printf("PASSED\n");
  return right ? 0 : 1;
}
