#pragma once

#include <bit>
#include <cstdint>

#include "convlab/simt/vector_types.h"

/// CUDA's integer and bit intrinsics, as the CUDA Math API defines them. All are exact.
namespace convlab::simt::cuda {

constexpr int __popc(unsigned x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
/// The number of the lowest set bit, from 1; 0 if there is none.
constexpr int __ffs(int x) { return __builtin_ffs(x); }
constexpr int __ffsll(long long x) { return __builtin_ffsll(x); }
constexpr unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
constexpr unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
/// Returns the position of the set bit number `offset` of the mask: counted from `base` upwards if offset > 0 (the
/// first is 1), downwards if it is negative. 0: `base` itself. 0xffffffff if there is none.
constexpr unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1u) ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1u) && --left == 0) return static_cast<unsigned>(bit);
  }
  return 0xffffffffu;
}
/// Selects four of the eight bytes of x (0 to 3) and y (4 to 7): each hex digit of the selector, the lowest first, is
/// the index of one byte.
constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned bytes = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned from = selector >> 4 * i & 7u;
    bytes |= ((from < 4 ? x : y) >> 8 * (from % 4) & 0xffu) << 8 * i;
  }
  return bytes;
}

/// Shift high:low left and return the upper word, or right and return the lower word: by shift % 32, or with the suffix
/// c by at most 32.
constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  return shift >= 32 ? low : static_cast<unsigned>(both << shift >> 32);
}
constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  const uint64_t both = static_cast<uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift < 32 ? shift : 32));
}
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return __funnelshift_lc(low, high, shift % 32);
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return __funnelshift_rc(low, high, shift % 32);
}

/// The low 32 bits of the product of the low 24 bits of both factors.
constexpr unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
constexpr int __mul24(int a, int b) {
  const auto low = [](int x) { return static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(x) << 8) >> 8); };
  return static_cast<int>(low(a) * low(b));
}
/// The upper half of the product.
constexpr int __mulhi(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) * b) >> 32); }
constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
__extension__ constexpr long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
__extension__ constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}

/// |a - b| + c
constexpr unsigned __sad(int a, int b, unsigned c) {
  return (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a)
                : static_cast<unsigned>(a) - static_cast<unsigned>(b)) +
         c;
}
constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }

/// The mean, without overflow: rounded down, and with an r rounded up.
constexpr int __hadd(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) + b) >> 1); }
constexpr int __rhadd(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) + b + 1) >> 1); }
constexpr unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) + b) >> 1);
}
constexpr unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) + b + 1) >> 1);
}

/// Dot products of four bytes each, plus c. Sums wrap.
constexpr unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return c + unsigned{a.x} * b.x + unsigned{a.y} * b.y + unsigned{a.z} * b.z + unsigned{a.w} * b.w;
}
constexpr int __dp4a(char4 a, char4 b, int c) {
  return static_cast<int>(static_cast<unsigned>(c) +
                          static_cast<unsigned>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w));
}
constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return __dp4a(std::bit_cast<uchar4>(a), std::bit_cast<uchar4>(b), c);
}
constexpr int __dp4a(int a, int b, int c) { return __dp4a(std::bit_cast<char4>(a), std::bit_cast<char4>(b), c); }

/// Dot products of two 16-bit numbers with the low or high two of four bytes, plus c. Sums wrap.
constexpr unsigned __dp2a_lo(ushort2 a, uchar4 b, unsigned c) { return c + unsigned{a.x} * b.x + unsigned{a.y} * b.y; }
constexpr unsigned __dp2a_hi(ushort2 a, uchar4 b, unsigned c) { return c + unsigned{a.x} * b.z + unsigned{a.y} * b.w; }
constexpr int __dp2a_lo(short2 a, char4 b, int c) {
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(a.x * b.x + a.y * b.y));
}
constexpr int __dp2a_hi(short2 a, char4 b, int c) {
  return static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(a.x * b.z + a.y * b.w));
}
constexpr unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return __dp2a_lo(std::bit_cast<ushort2>(a), std::bit_cast<uchar4>(b), c);
}
constexpr unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return __dp2a_hi(std::bit_cast<ushort2>(a), std::bit_cast<uchar4>(b), c);
}
constexpr int __dp2a_lo(int a, int b, int c) { return __dp2a_lo(std::bit_cast<short2>(a), std::bit_cast<char4>(b), c); }
constexpr int __dp2a_hi(int a, int b, int c) { return __dp2a_hi(std::bit_cast<short2>(a), std::bit_cast<char4>(b), c); }

}  // namespace convlab::simt::cuda
