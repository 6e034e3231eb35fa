// Integer and bit intrinsics against loops over bits, bytes and digits.
#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int kCases = 64, kResults = 32;

__global__ void compute(const unsigned* a, const unsigned* b, const unsigned* c, unsigned long long* results) {
  const int i = threadIdx.x;
  const unsigned x = a[i], y = b[i], z = c[i];
  const int sx = static_cast<int>(x), sy = static_cast<int>(y), sz = static_cast<int>(z);
  const unsigned long long xy = static_cast<unsigned long long>(x) << 32 | y,
                           zx = static_cast<unsigned long long>(z) << 32 | x;
  unsigned long long* r = results + i * kResults;
  int n = 0;
  const auto put = [&](unsigned long long value) { r[n++] = value; };
  put(__popc(x));
  put(__popcll(xy));
  put(__clz(sx));
  put(__clzll(static_cast<long long>(xy)));
  put(__ffs(sx));
  put(__ffsll(static_cast<long long>(xy)));
  put(__brev(x));
  put(__brevll(xy));
  put(__byte_perm(x, y, z & 0x7777));
  put(__funnelshift_l(x, y, z));
  put(__funnelshift_r(x, y, z));
  put(__funnelshift_lc(x, y, z % 64));
  put(__funnelshift_rc(x, y, z % 64));
  put(__umul24(x, y));
  put(static_cast<unsigned>(__mul24(sx, sy)));
  put(static_cast<unsigned>(__mulhi(sx, sy)));
  put(__umulhi(x, y));
  put(static_cast<unsigned long long>(__mul64hi(static_cast<long long>(xy), static_cast<long long>(zx))));
  put(__umul64hi(xy, zx));
  put(__sad(sx, sy, z));
  put(__usad(x, y, z));
  put(static_cast<unsigned>(__hadd(sx, sy)));
  put(static_cast<unsigned>(__rhadd(sx, sy)));
  put(__uhadd(x, y));
  put(__urhadd(x, y));
  put(static_cast<unsigned>(__dp4a(sx, sy, sz)));
  put(__dp4a(x, y, z));
  put(static_cast<unsigned>(__dp2a_lo(sx, sy, sz)));
  put(static_cast<unsigned>(__dp2a_hi(sx, sy, sz)));
  put(__dp2a_lo(x, y, z));
  put(__dp2a_hi(x, y, z));
  put(__fns(x, z % 32, static_cast<int>(y % 9) - 4));
}

unsigned long long reversed(unsigned long long x, int bits) {
  unsigned long long y = 0;
  for (int i = 0; i < bits; ++i) y = y << 1 | (x >> i & 1);
  return y;
}
int ones(unsigned long long x) { return x == 0 ? 0 : static_cast<int>(x & 1) + ones(x >> 1); }
int zeros(unsigned long long x, int bits) {
  int count = 0;
  while (count < bits && !(x >> (bits - 1 - count) & 1)) ++count;
  return count;
}
int first(unsigned long long x) {
  for (int i = 0; i < 64; ++i) {
    if (x >> i & 1) return i + 1;
  }
  return 0;
}
// Both words as a string of bits, shifted one by one.
unsigned funnel(unsigned low, unsigned high, unsigned by, bool left) {
  for (unsigned i = 0; i < by; ++i) {
    if (left) {
      high = high << 1 | low >> 31;
      low <<= 1;
    } else {
      low = low >> 1 | high << 31;
      high >>= 1;
    }
  }
  return left ? high : low;
}
int64_t digit(unsigned x, int index, int bits, bool is_signed) {
  const int64_t value = x >> index * bits & ((1u << bits) - 1);
  return is_signed && value >> (bits - 1) ? value - (int64_t{1} << bits) : value;
}
unsigned dot(unsigned a, int a_bits, unsigned b, int from, int count, unsigned c, bool is_signed) {
  int64_t sum = c;
  for (int i = 0; i < count; ++i) sum += digit(a, i, a_bits, is_signed) * digit(b, from + i, 8, is_signed);
  return static_cast<unsigned>(sum);
}
// The upper word of a product by 32-bit digits.
uint64_t upper(uint64_t a, uint64_t b) {
  const uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
  const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffff);
  return ah * bh + (middle >> 32) + (other >> 32);
}
unsigned nth(unsigned mask, int base, int offset) {
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffff;
  int left = offset < 0 ? -offset : offset;
  for (int bit = base; 0 <= bit && bit < 32; bit += offset < 0 ? -1 : 1) {
    if (mask >> bit & 1 && --left == 0) return bit;
  }
  return 0xffffffff;
}

int expect(unsigned x, unsigned y, unsigned z, const unsigned long long* r) {
  const int64_t sx = static_cast<int>(x), sy = static_cast<int>(y);
  const uint64_t xy = uint64_t{x} << 32 | y, zx = uint64_t{z} << 32 | x;
  unsigned permuted = 0;
  for (int i = 0; i < 4; ++i) {
    const int from = z >> 4 * i & 7;
    permuted |= static_cast<unsigned>(digit(from < 4 ? x : y, from % 4, 8, false)) << 8 * i;
  }
  const auto signed24 = [](int64_t v) { return digit(static_cast<unsigned>(v), 0, 24, true); };
  const uint64_t negative = (static_cast<int64_t>(xy) < 0 ? zx : 0) + (static_cast<int64_t>(zx) < 0 ? xy : 0);
  const auto floor2 = [](int64_t sum) { return static_cast<unsigned>((sum - (sum & 1)) / 2); };
  const uint64_t expected[kResults] = {uint64_t(ones(x)),
                                       uint64_t(ones(xy)),
                                       uint64_t(zeros(x, 32)),
                                       uint64_t(zeros(xy, 64)),
                                       uint64_t(first(x)),
                                       uint64_t(first(xy)),
                                       reversed(x, 32),
                                       reversed(xy, 64),
                                       permuted,
                                       funnel(x, y, z % 32, true),
                                       funnel(x, y, z % 32, false),
                                       funnel(x, y, z % 64 < 32 ? z % 64 : 32, true),
                                       funnel(x, y, z % 64 < 32 ? z % 64 : 32, false),
                                       static_cast<unsigned>(digit(x, 0, 24, false) * digit(y, 0, 24, false)),
                                       static_cast<unsigned>(signed24(sx) * signed24(sy)),
                                       static_cast<unsigned>(sx * sy >> 32),
                                       static_cast<unsigned>(uint64_t{x} * y >> 32),
                                       upper(xy, zx) - negative,
                                       upper(xy, zx),
                                       static_cast<unsigned>((sx < sy ? sy - sx : sx - sy) + z),
                                       static_cast<unsigned>((x < y ? y - x : x - y) + z),
                                       floor2(sx + sy),
                                       floor2(sx + sy + 1),
                                       floor2(int64_t{x} + y),
                                       floor2(int64_t{x} + y + 1),
                                       dot(x, 8, y, 0, 4, z, true),
                                       dot(x, 8, y, 0, 4, z, false),
                                       dot(x, 16, y, 0, 2, z, true),
                                       dot(x, 16, y, 2, 2, z, true),
                                       dot(x, 16, y, 0, 2, z, false),
                                       dot(x, 16, y, 2, 2, z, false),
                                       nth(x, z % 32, static_cast<int>(y % 9) - 4)};
  for (int n = 0; n < kResults; ++n) {
    if (r[n] == expected[n]) continue;
    std::printf("function %d of %08x, %08x, %08x: %llx instead of %llx\n", n, x, y, z, r[n],
                static_cast<unsigned long long>(expected[n]));
    return 1;
  }
  return 0;
}

int main() {
  unsigned host[3][kCases], *device[3], state = 1;
  for (auto& operand : host) {
    for (unsigned& x : operand) {
      state = state * 1664525 + 1013904223;
      x = state >> 8 ^ state << 13;
    }
  }
  const unsigned edges[] = {0, 1, 0x80000000, 0xffffffff, 0x7fffffff, 0x80808080};
  for (int i = 0; i < 6; ++i) host[0][i] = edges[i], host[1][(i + 2) % 6] = edges[i], host[2][(i + 1) % 6] = edges[i];
  unsigned long long *results, found[kCases * kResults];
  for (int i = 0; i < 3; ++i) {
    cudaMalloc(&device[i], sizeof(host[i]));
    cudaMemcpy(device[i], host[i], sizeof(host[i]), cudaMemcpyHostToDevice);
  }
  cudaMalloc(&results, sizeof(found));
  compute<<<1, kCases>>>(device[0], device[1], device[2], results);
  cudaMemcpy(found, results, sizeof(found), cudaMemcpyDeviceToHost);
  for (unsigned* each : device) cudaFree(each);
  cudaFree(results);
  for (int i = 0; i < kCases; ++i) {
    if (expect(host[0][i], host[1][i], host[2][i], found + i * kResults)) return 1;
  }
  std::puts("PASSED");
}
