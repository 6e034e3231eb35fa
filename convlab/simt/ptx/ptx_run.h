#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "convlab/simt/cuda/cuda_bfloat16.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/ptx/ptx_program.h"
#include "convlab/simt/ptx/special_registers.h"
#include "convlab/simt/where.h"

/// One execution of an asm statement by one thread, and what instructions have in common.
namespace convlab::simt::ptx {

// Wide enough for sums and products of 64-bit integers.
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Unsigned128;

using Half = cuda::__half;
using Brain = cuda::__nv_bfloat16;

/// A register holds the bits of a number in its low part; the others repeat the sign of signed integers and are zero
/// for all others, as where PTX lets a destination be wider than the instruction's type.
struct Run {
  uint64_t* registers;
  size_t next = 0;     ///< the index of the instruction after the running one
  bool carry = false;  ///< PTX's CC.CF
  Where where;
  const void* code;  ///< return address in the kernel

  template <class T>
  void put(const Operand& operand, T value) {
    if (operand.kind != Operand::Kind::reg) return;
    uint64_t bits = 0;
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
      std::memcpy(&bits, &value, sizeof value);
    }
    registers[operand.reg] = bits;
  }

  template <class T>
  T get(const Operand& operand) const {
    constexpr bool kReal = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Brain>;
    switch (operand.kind) {
      case Operand::Kind::reg:
        return from<T>(registers[operand.reg]);
      case Operand::Kind::special:
        return from<T>(value_of(static_cast<Special>(operand.reg)));
      case Operand::Kind::real:
        if constexpr (kReal) return static_cast<T>(from<double>(operand.bits));
        return from<T>(operand.bits);
      case Operand::Kind::real32:
        if constexpr (std::is_same_v<T, double>) return from<float>(operand.bits);
        return from<T>(operand.bits);
      case Operand::Kind::integer:
        if constexpr (std::is_floating_point_v<T>) return static_cast<T>(static_cast<int64_t>(operand.bits));
        return from<T>(operand.bits);
      case Operand::Kind::sink:
        return from<T>(0);
    }
    return from<T>(0);
  }

  bool is_true(const Operand& operand) const { return (get<uint64_t>(operand) != 0) != operand.negated; }

  template <class T>
  static T from(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

/// Ends the thread with a fault: the instruction is wrong, or a combination of modifiers that simt does not know.
[[noreturn]] void fail(const Run& run, std::string&& why);
[[noreturn]] void fail_unsupported(const Run& run, const Instruction& instruction);

/// Calls f with a value of the C++ type of an integer or untyped PTX type. Returns false for other types.
template <class F>
bool with_integer(Type type, F f) {
  switch (type) {
    case Type::b8:
    case Type::u8:
      return f(uint8_t{}), true;
    case Type::b16:
    case Type::u16:
      return f(uint16_t{}), true;
    case Type::b32:
    case Type::u32:
      return f(uint32_t{}), true;
    case Type::b64:
    case Type::u64:
      return f(uint64_t{}), true;
    case Type::s8:
      return f(int8_t{}), true;
    case Type::s16:
      return f(int16_t{}), true;
    case Type::s32:
      return f(int32_t{}), true;
    case Type::s64:
      return f(int64_t{}), true;
    default:
      return false;
  }
}

/// The same for the types of real numbers, and for one half of those of two.
template <class F>
bool with_real(Type type, F f) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return f(Half(0.0f)), true;
    case Type::bf16:
    case Type::bf16x2:
      return f(Brain(0.0f)), true;
    case Type::f32:
      return f(float{}), true;
    case Type::f64:
      return f(double{}), true;
    default:
      return false;
  }
}

constexpr bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

/// Numbers whose magnitude is below the normal ones become zeros of their sign: .ftz.
template <class T>
T flushed(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value != 0 && __builtin_fabsf(value) < 0x1p-126f ? __builtin_copysignf(0.0f, value) : value;
  } else if constexpr (std::is_same_v<T, Half>) {
    return (value.bits & 0x7c00u) == 0 ? Run::from<Half>(value.bits & 0x8000u) : value;
  } else {
    return value;
  }
}

/// .sat: into [0, 1], and 0 instead of NaN.
template <class T>
T saturated(T value) {
  const auto x = static_cast<double>(value);
  return x >= 1 ? T(1.0f) : x > 0 ? value : T(0.0f);
}

/// Executes an instruction on real numbers: operation(x) returns the result for the sources x[0], x[1], ... Those of
/// types of two numbers are computed one after the other.
template <class F>
void on_reals(Run& run, const Instruction& i, Type type, F operation) {
  const size_t sources = i.group_count - 1;
  const bool flush = i.has("ftz"_word);
  const bool known = with_real(type, [&]<class T>(T) {
    const auto compute = [&](const auto& get) {
      T x[3]{T(0.0f), T(0.0f), T(0.0f)};
      for (size_t s = 0; s < sources && s < 3; ++s) x[s] = flush ? flushed(get(s)) : get(s);
      T result = operation(x);
      if (flush) result = flushed(result);
      if (i.has("sat"_word)) result = saturated(result);
      if (i.has("relu"_word) && static_cast<float>(result) < 0) result = T(0.0f);
      return result;
    };
    if constexpr (sizeof(T) == 2) {
      if (is_pair(type)) {
        uint32_t both = 0;
        for (int part = 0; part < 2; ++part) {
          const T result = compute(
              [&](size_t s) { return Run::from<T>(run.get<uint32_t>(i.operand(s + 1)) >> 16 * part & 0xffffu); });
          both |= static_cast<uint32_t>(result.bits) << 16 * part;
        }
        return run.put(i.operand(0), both);
      }
    }
    run.put(i.operand(0), compute([&](size_t s) { return run.get<T>(i.operand(s + 1)); }));
  });
  if (!known) fail_unsupported(run, i);
}

}  // namespace convlab::simt::ptx
