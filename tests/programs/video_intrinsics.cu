// SIMD video and DPX instructions against loops over the parts of a word.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Each function: its name, whether parts are signed, and the exact result of parts x and y; wrapped or saturated.
enum Ending { wraps, saturates_signed, saturates_unsigned };
#define FUNCTIONS(USE)                                                               \
  USE(__vadd, false, x + y, wraps)                                                   \
  USE(__vaddss, true, x + y, saturates_signed)                                       \
  USE(__vaddus, false, x + y, saturates_unsigned)                                    \
  USE(__vsub, false, x - y, wraps)                                                   \
  USE(__vsubss, true, x - y, saturates_signed)                                       \
  USE(__vsubus, false, x - y, saturates_unsigned)                                    \
  USE(__vabsdiffs, true, std::abs(x - y), wraps)                                     \
  USE(__vabsdiffu, false, std::abs(x - y), wraps)                                    \
  USE(__vavgu, false, (x + y + 1) / 2, wraps)                                        \
  USE(__vhaddu, false, (x + y) / 2, wraps)                                           \
  USE(__vavgs, true, x + y < 0 ? (x + y - (y + x & 1)) / 2 : (x + y + 1) / 2, wraps) \
  USE(__vmaxs, true, std::max(x, y), wraps)                                          \
  USE(__vmaxu, false, std::max(x, y), wraps)                                         \
  USE(__vmins, true, std::min(x, y), wraps)                                          \
  USE(__vminu, false, std::min(x, y), wraps)                                         \
  USE(__vcmpeq, false, x == y ? -1 : 0, wraps)                                       \
  USE(__vcmpne, false, x != y ? -1 : 0, wraps)                                       \
  USE(__vcmpges, true, x >= y ? -1 : 0, wraps)                                       \
  USE(__vcmpgeu, false, x >= y ? -1 : 0, wraps)                                      \
  USE(__vcmpgts, true, x > y ? -1 : 0, wraps)                                        \
  USE(__vcmpgtu, false, x > y ? -1 : 0, wraps)                                       \
  USE(__vcmples, true, x <= y ? -1 : 0, wraps)                                       \
  USE(__vcmpleu, false, x <= y ? -1 : 0, wraps)                                      \
  USE(__vcmplts, true, x < y ? -1 : 0, wraps)                                        \
  USE(__vcmpltu, false, x < y ? -1 : 0, wraps)                                       \
  USE(__vseteq, false, x == y, wraps)                                                \
  USE(__vsetne, false, x != y, wraps)                                                \
  USE(__vsetges, true, x >= y, wraps)                                                \
  USE(__vsetgtu, false, x > y, wraps)                                                \
  USE(__vsetles, true, x <= y, wraps)                                                \
  USE(__vsetltu, false, x < y, wraps)

constexpr int kMost = 128;

__global__ void compute(unsigned a, unsigned b, unsigned c, unsigned* r) {
  int n = 0;
#define USE(name, is_signed, exact, ending) r[n++] = name##2(a, b), r[n++] = name##4(a, b);
  FUNCTIONS(USE)
#undef USE
  r[n++] = __vabs2(a), r[n++] = __vabs4(a), r[n++] = __vabsss2(a), r[n++] = __vabsss4(a);
  r[n++] = __vneg2(a), r[n++] = __vneg4(a), r[n++] = __vnegss2(a), r[n++] = __vnegss4(a);
  r[n++] = __vsads2(a, b), r[n++] = __vsads4(a, b), r[n++] = __vsadu2(a, b), r[n++] = __vsadu4(a, b);
  r[n++] = __vimax3_s16x2(a, b, c), r[n++] = __viaddmin_s16x2_relu(a, b, c);
  r[n++] = static_cast<unsigned>(__vimin3_s32_relu(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)));
  bool high, low;
  r[n++] = __vibmax_u16x2(a, b, &high, &low);
  r[n++] = high * 2 + low;
}

// Returns the word of the parts' results, each ended by `end(result, range)`.
template <class F, class End>
unsigned each_part(int count, bool is_signed, unsigned a, unsigned b, unsigned c, F exact, End end) {
  const int bits = 32 / count;
  const int64_t range = int64_t{1} << bits;
  const auto part = [&](unsigned word, int i) {
    const int64_t value = word >> i * bits & (range - 1);
    return is_signed && value >= range / 2 ? value - range : value;
  };
  unsigned word = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t result = end(exact(part(a, i), part(b, i), part(c, i)), range);
    word |= static_cast<unsigned>(result & (range - 1)) << i * bits;
  }
  return word;
}

struct Expected {
  const unsigned* found;
  int n = 0;
  bool right = true;

  template <class F>
  void parts(const char* name, int count, bool is_signed, Ending ending, unsigned a, unsigned b, unsigned c, F exact) {
    const unsigned word = each_part(count, is_signed, a, b, c, exact, [&](int64_t result, int64_t range) {
      if (ending == saturates_signed) return std::clamp(result, -range / 2, range / 2 - 1);
      return ending == saturates_unsigned ? std::clamp(result, int64_t{0}, range - 1) : result;
    });
    check(name, count, a, b, word);
  }
  void check(const char* name, int count, unsigned a, unsigned b, unsigned expected) {
    if (found[n] != expected) {
      std::printf("%s%d(%08x, %08x): %08x instead of %08x\n", name, count, a, b, found[n], expected);
      right = false;
    }
    ++n;
  }
};

bool is_right(unsigned a, unsigned b, unsigned c, const unsigned* found) {
  Expected expected{found};
#define USE(name, is_signed, exact, ending)                                       \
  for (int count : {2, 4}) {                                                      \
    expected.parts(#name, count, is_signed, ending, a, b, c,                      \
                   [](int64_t x, int64_t y, int64_t) { return int64_t(exact); }); \
  }
  FUNCTIONS(USE)
#undef USE
  const auto absolute = [](int64_t x, int64_t, int64_t) { return std::abs(x); };
  const auto negative = [](int64_t x, int64_t, int64_t) { return -x; };
  for (Ending ending : {wraps, saturates_signed}) {
    for (int count : {2, 4}) expected.parts("__vabs", count, true, ending, a, b, c, absolute);
  }
  for (Ending ending : {wraps, saturates_signed}) {
    for (int count : {2, 4}) expected.parts("__vneg", count, true, ending, a, b, c, negative);
  }
  for (bool is_signed : {true, false}) {
    for (int count : {2, 4}) {
      int64_t sum = 0;
      each_part(
          count, is_signed, a, b, c, [&](int64_t x, int64_t y, int64_t) { return sum += std::abs(x - y); },
          [](int64_t result, int64_t) { return result; });
      expected.check("__vsad", count, a, b, static_cast<unsigned>(sum));
    }
  }
  expected.parts("__vimax3_s16x", 2, true, wraps, a, b, c, [](int64_t x, int64_t y, int64_t z) {
    return std::max({x, y, z});
  });
  expected.parts("__viaddmin_relu", 2, true, wraps, a, b, c, [](int64_t x, int64_t y, int64_t z) {
    return std::max(int64_t{0}, std::min<int64_t>(static_cast<int16_t>(x + y), z));
  });
  expected.parts("__vimin3_s32_relu", 1, true, wraps, a, b, c, [](int64_t x, int64_t y, int64_t z) {
    return std::max(int64_t{0}, std::min({x, y, z}));
  });
  expected.parts("__vibmax_u16x", 2, false, wraps, a, b, c,
                 [](int64_t x, int64_t y, int64_t) { return std::max(x, y); });
  expected.check("choices of __vibmax", 2, a, b, (a >> 16 >= b >> 16) * 2 + ((a & 0xffff) >= (b & 0xffff)));
  return expected.right;
}

int main() {
  unsigned *device, found[kMost],
      words[] = {0, 0xffffffff, 0x80008000, 0x7fff8000, 0x80ff7f01, 0x12345678, 0xfedc0123, 0x00ff00ff};
  cudaMalloc(&device, sizeof(found));
  bool right = true;
  for (unsigned a : words) {
    for (unsigned b : words) {
      compute<<<1, 1>>>(a, b, a ^ b * 3, device);
      cudaMemcpy(found, device, 79 * sizeof(unsigned), cudaMemcpyDeviceToHost);
      right = right && is_right(a, b, a ^ b * 3, found);
    }
  }
  cudaFree(device);
  if (right) std::puts("PASSED");
  return right ? 0 : 1;
}
