// __match_*_sync, __reduce_*_sync, __activemask and counting barriers, against loops over the lanes on the host.
#include <cstdio>

struct Lane {
  unsigned any, any_double, all_equal, all_different, half, active;
  int equal, different, sum, smallest, count, every, some;
  unsigned most, bits_and, bits_or, bits_xor;
  long long shuffled;
};

__global__ void compute(Lane* lanes) {
  const unsigned lane = threadIdx.x % 32, all = 0xffffffff;
  Lane r;
  r.any = __match_any_sync(all, static_cast<int>(lane * lane % 5));
  r.any_double = __match_any_sync(all, static_cast<double>(lane / 10));
  r.all_equal = __match_all_sync(all, 7ull << 40, &r.equal);
  r.all_different = __match_all_sync(all, lane / 31, &r.different);
  r.half = 0;
  r.active = 0;
  if (lane < 16) {
    r.half = __match_any_sync(0xffff, lane % 2);
    r.active = __activemask();
  }
  __syncwarp();
  r.sum = __reduce_add_sync(all, static_cast<int>(lane) - 20);
  r.smallest = __reduce_min_sync(all, static_cast<int>(lane) - 20);
  r.most = __reduce_max_sync(all, lane * 3 % 32);
  r.bits_and = __reduce_and_sync(all, lane | 0x40);
  r.bits_or = __reduce_or_sync(all, lane & 5);
  r.bits_xor = __reduce_xor_sync(all, lane << 8);
  r.shuffled = __shfl_sync(all, static_cast<long long>(lane) << 35, static_cast<int>(lane + 3) % 32);
  r.count = __syncthreads_count(threadIdx.x % 3 == 0);
  r.every = __syncthreads_and(threadIdx.x < 64);
  r.some = __syncthreads_or(threadIdx.x == 64);
  lanes[threadIdx.x] = r;
}

int main() {
  Lane *device, lanes[64];
  cudaMalloc(&device, sizeof(lanes));
  compute<<<1, 64>>>(device);
  cudaMemcpy(lanes, device, sizeof(lanes), cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (unsigned thread = 0; thread < 64; ++thread) {
    const unsigned lane = thread % 32;
    const Lane& r = lanes[thread];
    unsigned any = 0, any_double = 0, half = 0, ands = ~0u, ors = 0, xors = 0;
    int sum = 0;
    for (unsigned other = 0; other < 32; ++other) {
      if (other * other % 5 == lane * lane % 5) any |= 1u << other;
      if (other / 10 == lane / 10) any_double |= 1u << other;
      if (lane < 16 && other < 16 && other % 2 == lane % 2) half |= 1u << other;
      sum += static_cast<int>(other) - 20;
      ands &= other | 0x40;
      ors |= other & 5;
      xors ^= other << 8;
    }
    const bool matches = r.any == any && r.any_double == any_double && r.half == half && r.all_equal == ~0u &&
                         r.equal == 1 && r.all_different == 0 && r.different == 0;
    const bool reductions = r.sum == sum && r.smallest == -20 && r.most == 31 && r.bits_and == ands &&
                            r.bits_or == ors && r.bits_xor == xors;
    const bool barriers = r.count == 22 && r.every != 0 && r.some == 0;
    const bool active = lane >= 16 || (r.active >> lane & 1 && (r.active & 0xffff0000) == 0);
    if (matches && reductions && barriers && active && r.shuffled == static_cast<long long>((lane + 3) % 32) << 35)
      continue;
    std::printf("thread %u: matches %d, reductions %d, barriers %d, active %d\n", thread, matches, reductions, barriers,
                active);
    return 1;
  }
  std::puts("PASSED");
}
