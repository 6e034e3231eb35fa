#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/simt/ptx/ptx_table.h"
#include "convlab/simt/ptx/ptx_types.h"

/// What the parser makes of the text of an asm statement.
namespace convlab::simt::ptx {

/// The modifiers that change what an instruction does. Others, such as cache hints, have no effect here.
inline constexpr std::string_view kWords =
    "lo hi wide cc rn rz rm rp rna rni rzi rmi rpi ftz sat satfinite relu approx full NaN finite infinite number "
    "notanumber normal subnormal l r clamp wrap shiftamt f4e b4e rc8 ecl ecr rc16 add min max and or xor cas exch inc "
    "dec "
    "eq ne lt le gt ge ls hs equ neu ltu leu gtu geu num nan to global shared shared::cta local const volatile relaxed "
    "acquire release acq_rel mmio cta v2 v4 popc up down bfly idx all any uni ballot x1 x2 x4 trans m8n8k4 m8n8k16 "
    "m16n8k4 "
    "m16n8k8 m16n8k16 m16n8k32 row col L2::cache_hint";
inline constexpr size_t kMostWords = 128;

/// Returns the word's number in kWords, or kMostWords.
constexpr size_t number_of_word(std::string_view word) {
  size_t number = 0;
  for (size_t at = 0; at < kWords.size(); ++number) {
    const size_t end = position_of(kWords, ' ', at);
    if (kWords.substr(at, end - at) == word) return number;
    at = end + 1;
  }
  return kMostWords;
}

struct Word {
  size_t number;
};
consteval Word operator""_word(const char* text, size_t length) {
  const size_t number = number_of_word({text, length});
  if (number == kMostWords) throw "kWords lacks this word";
  return {number};
}

enum class Special : uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  warp_size,
  zero,
  one,
};

/// At most so many registers, with the operands of the asm statement.
inline constexpr size_t kMostRegisters = 512;

struct Operand {
  enum class Kind : uint8_t {
    reg,      ///< a register, or an operand of the asm statement
    sink,     ///< _
    integer,  ///< bits
    real,     ///< bits of a double
    real32,   ///< bits of a float
    special,  ///< of the number `reg`
  };
  Kind kind = Kind::sink;
  bool negated = false;    ///< !p
  bool predicate = false;  ///< a register of type .pred
  int reg = 0;
  uint64_t bits = 0;   ///< of an immediate
  int64_t offset = 0;  ///< in bytes, of an address
};

/// The operands of one place in the instruction: several for {a, b} and p|q.
struct Group {
  size_t begin = 0, count = 0;
};

struct Instruction {
  static constexpr size_t kMostGroups = 6, kMostTypes = 4;
  static constexpr int kAlways = -1;

  const Row* row = nullptr;
  std::bitset<kMostWords> words;
  std::array<Type, kMostTypes> types{};
  size_t type_count = 0;
  int guard = kAlways;  ///< the predicate's register
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::array<Group, kMostGroups> groups{};
  size_t group_count = 0;
  size_t target = 0;  ///< of a branch: the index of an instruction
  std::string text;   ///< for messages

  bool has(Word word) const { return words[word.number]; }
  Type type(size_t n = 0) const { return types[n]; }
  const Operand& operand(size_t group, size_t n = 0) const { return operands[groups[group].begin + n]; }
};

struct Program {
  std::vector<Instruction> instructions;
  size_t registers = 0;
  std::string error;  ///< why the text is not understood; "" if it is
};

/// `names`: of the operands of the asm statement, "" for those without.
Program parse(std::string_view text, const std::vector<std::string_view>& names);

}  // namespace convlab::simt::ptx
