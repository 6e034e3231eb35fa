// Executes PTX's operations on bits.

#include <algorithm>
#include <bit>
#include <type_traits>

#include "convlab/simt/cuda/integers.h"
#include "convlab/simt/ptx/ptx_run.h"

namespace convlab::simt::ptx {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

uint64_t combined(std::string_view name, uint64_t a, uint64_t b) {
  return name == "and" ? a & b : name == "or" ? a | b : a ^ b;
}

/// Returns x shifted by any distance: all bits may leave it.
template <class T>
T shifted_left(T x, uint32_t distance) {
  return distance >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<Unsigned<T>>(x) << distance);
}
template <class T>
T shifted_right(T x, uint32_t distance) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  if (distance >= kBits) return static_cast<T>(std::is_signed_v<T> && x < 0 ? -1 : 0);
  return static_cast<T>(x >> distance);
}

/// The second operation of a video instruction: .add, .min or .max with c.
template <class T>
T with_second(const Run& run, const Instruction& i, T value) {
  if (i.group_count < 4) return value;
  const T c = run.get<T>(i.operand(3));
  if (i.has("min"_word)) return std::min(value, c);
  if (i.has("max"_word)) return std::max(value, c);
  return static_cast<T>(static_cast<Unsigned<T>>(value) + static_cast<Unsigned<T>>(c));
}

/// Returns the selector of prmt for its modes: four digits of 4 bits.
uint32_t selector_of(const Instruction& i, uint32_t c) {
  const uint32_t n = c & 3u;
  const auto digits = [](auto digit) {
    uint32_t selector = 0;
    for (uint32_t byte = 0; byte < 4; ++byte) selector |= (digit(byte) & 7u) << 4 * byte;
    return selector;
  };
  if (i.has("f4e"_word)) return digits([n](uint32_t byte) { return n + byte; });
  if (i.has("b4e"_word)) return digits([n](uint32_t byte) { return n - byte; });
  if (i.has("rc8"_word)) return digits([n](uint32_t) { return n; });
  if (i.has("ecl"_word)) return digits([n](uint32_t byte) { return std::max(n, byte); });
  if (i.has("ecr"_word)) return digits([n](uint32_t byte) { return std::min(n, byte); });
  if (i.has("rc16"_word)) return digits([n](uint32_t byte) { return n % 2 * 2 + byte % 2; });
  return c;
}

}  // namespace

void logic(Run& run, const Instruction& i) {
  if (i.type() == Type::pred) {
    const bool a = run.is_true(i.operand(1)), b = run.is_true(i.operand(2));
    return run.put(i.operand(0), static_cast<uint8_t>(combined(i.row->name, a, b)));
  }
  with_integer(i.type(), [&]<class T>(T) {
    run.put(i.operand(0), static_cast<T>(combined(i.row->name, run.get<T>(i.operand(1)), run.get<T>(i.operand(2)))));
  });
}

void invert(Run& run, const Instruction& i) {
  if (i.type() == Type::pred) return run.put(i.operand(0), static_cast<uint8_t>(!run.is_true(i.operand(1))));
  with_integer(i.type(), [&]<class T>(T) {
    const T x = run.get<T>(i.operand(1));
    run.put(i.operand(0), static_cast<T>(i.row->name == "cnot" ? x == 0 : ~x));
  });
}

void shift(Run& run, const Instruction& i) {
  const auto distance = run.get<uint32_t>(i.operand(2));
  with_integer(i.type(), [&]<class T>(T) {
    const T x = run.get<T>(i.operand(1));
    run.put(i.operand(0), i.row->name == "shl" ? shifted_left(x, distance) : shifted_right(x, distance));
  });
}

void funnel_shift(Run& run, const Instruction& i) {
  const auto low = run.get<uint32_t>(i.operand(1)), high = run.get<uint32_t>(i.operand(2));
  const auto distance = run.get<uint32_t>(i.operand(3));
  const bool clamps = i.has("clamp"_word);
  uint32_t result = 0;
  if (i.has("l"_word)) {
    result = clamps ? cuda::__funnelshift_lc(low, high, distance) : cuda::__funnelshift_l(low, high, distance);
  } else {
    result = clamps ? cuda::__funnelshift_rc(low, high, distance) : cuda::__funnelshift_r(low, high, distance);
  }
  run.put(i.operand(0), result);
}

void logic3(Run& run, const Instruction& i) {
  const auto a = run.get<uint32_t>(i.operand(1)), b = run.get<uint32_t>(i.operand(2)),
             c = run.get<uint32_t>(i.operand(3));
  const auto table = run.get<uint32_t>(i.operand(4));
  uint32_t result = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1u) == 0) continue;
    result |= (row & 4u ? a : ~a) & (row & 2u ? b : ~b) & (row & 1u ? c : ~c);
  }
  run.put(i.operand(0), result);
}

void extract_field(Run& run, const Instruction& i) {
  with_integer(i.type(), [&]<class T>(T) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const T x = run.get<T>(i.operand(1));
    const uint32_t position = run.get<uint32_t>(i.operand(2)) & 0xffu, length = run.get<uint32_t>(i.operand(3)) & 0xffu;
    if (length == 0) return run.put(i.operand(0), T{0});
    T field = shifted_right(x, std::min(position, kBits));  // signed: the sign follows the highest bit
    if (length < kBits) {
      const uint32_t spare = kBits - length;
      field = shifted_right(shifted_left(field, spare), spare);
    }
    run.put(i.operand(0), field);
  });
}

void insert_field(Run& run, const Instruction& i) {  // of the first source into the second
  with_integer(i.type(), [&]<class T>(T) {
    const T from = run.get<T>(i.operand(1)), into = run.get<T>(i.operand(2));
    const uint32_t position = run.get<uint32_t>(i.operand(3)) & 0xffu, length = run.get<uint32_t>(i.operand(4)) & 0xffu;
    const T ones = static_cast<T>(shifted_left(T{1}, length) - 1), mask = shifted_left(ones, position);
    run.put(i.operand(0), static_cast<T>((into & ~mask) | (shifted_left(from, position) & mask)));
  });
}

void find_bit(Run& run, const Instruction& i) {
  with_integer(i.type(), [&]<class T>(T) {
    T x = run.get<T>(i.operand(1));
    if (std::is_signed_v<T> && x < 0) x = static_cast<T>(~x);
    const int above = std::countl_zero(static_cast<Unsigned<T>>(x)), bits = 8 * sizeof(T);
    const uint32_t none = 0xffffffffu;
    run.put(i.operand(0), above == bits            ? none
                          : i.has("shiftamt"_word) ? static_cast<uint32_t>(above)
                                                   : static_cast<uint32_t>(bits - 1 - above));
  });
}

void count_bits(Run& run, const Instruction& i) {
  with_integer(i.type(), [&]<class T>(T) {
    const auto x = static_cast<Unsigned<T>>(run.get<T>(i.operand(1)));
    run.put(i.operand(0), static_cast<uint32_t>(i.row->name == "clz" ? std::countl_zero(x) : std::popcount(x)));
  });
}

void reverse_bits(Run& run, const Instruction& i) {
  if (i.type() == Type::b64) return run.put(i.operand(0), cuda::__brevll(run.get<uint64_t>(i.operand(1))));
  run.put(i.operand(0), cuda::__brev(run.get<uint32_t>(i.operand(1))));
}

void permute_bytes(Run& run, const Instruction& i) {
  const uint64_t both = run.get<uint32_t>(i.operand(1)) | static_cast<uint64_t>(run.get<uint32_t>(i.operand(2))) << 32;
  const uint32_t selector = selector_of(i, run.get<uint32_t>(i.operand(3)));
  uint32_t result = 0;
  for (uint32_t byte = 0; byte < 4; ++byte) {
    const uint32_t digit = selector >> 4 * byte & 0xfu;
    uint32_t value = static_cast<uint32_t>(both >> 8 * (digit & 7u)) & 0xffu;
    if (digit & 8u) value = value & 0x80u ? 0xffu : 0;  // its sign
    result |= value << 8 * byte;
  }
  run.put(i.operand(0), result);
}

void find_set_bit(Run& run, const Instruction& i) {
  run.put(i.operand(0), cuda::__fns(run.get<uint32_t>(i.operand(1)), run.get<uint32_t>(i.operand(2)),
                                    run.get<int32_t>(i.operand(3))));
}

void video_shift(Run& run, const Instruction& i) {
  auto distance = run.get<uint32_t>(i.operand(2));
  distance = i.has("wrap"_word) ? distance % 32 : std::min(distance, 32u);
  with_integer(i.type(), [&]<class T>(T) {
    const T x = run.get<T>(i.operand(1));
    run.put(i.operand(0),
            with_second(run, i, i.row->name == "vshl" ? shifted_left(x, distance) : shifted_right(x, distance)));
  });
}

/// The sum of absolute differences with .add, otherwise each difference in its part.
void video_difference(Run& run, const Instruction& i) {
  const int parts = i.row->name == "vabsdiff4" ? 4 : 2, bits = 32 / parts;
  const auto part_of = [&](uint32_t word, int part, bool has_sign) -> int32_t {
    const uint32_t up = word << (32 - bits * (part + 1));
    return has_sign ? static_cast<int32_t>(up) >> (32 - bits) : static_cast<int32_t>(up >> (32 - bits));
  };
  const auto a = run.get<uint32_t>(i.operand(1)), b = run.get<uint32_t>(i.operand(2));
  uint32_t sum = run.get<uint32_t>(i.operand(3)), word = 0;
  for (int part = 0; part < parts; ++part) {
    const int32_t x = part_of(a, part, is_signed(i.type(1))), y = part_of(b, part, is_signed(i.type(2)));
    const auto difference = static_cast<uint32_t>(x < y ? y - x : x - y);
    sum += difference;
    word |= difference << bits * part;
  }
  run.put(i.operand(0), i.has("add"_word) ? sum : word);
}

}  // namespace convlab::simt::ptx
