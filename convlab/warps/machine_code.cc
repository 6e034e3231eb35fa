// Decodes x86-64 machine code to estimate the instructions that a GPU would issue.

#include "convlab/warps/machine_code.h"

#include <algorithm>
#include <cstring>

namespace convlab {
namespace {

using Byte = unsigned char;
using Kind = HostInstruction::Kind;

constexpr int64_t kInstructionsOfDivision = 20;

/// Reads one instruction, byte by byte.
class Decoder {
 public:
  Decoder(const Byte* at, const Byte* end) : begin_(at), at_(at), end_(end) {}

  std::optional<HostInstruction> decode() {
    prefixes();
    const Byte opcode = next();
    const Kind kind = opcode == 0x0f ? two_bytes(next()) : one_byte(opcode);
    if (!known_ || at_ > end_) return std::nullopt;
    return HostInstruction{static_cast<size_t>(at_ - begin_), kind};
  }

 private:
  Byte next() {
    if (at_ < end_) return *at_++;
    known_ = false;
    return 0;
  }

  void skip(int bytes) {
    if (end_ - at_ >= bytes) {
      at_ += bytes;
    } else {
      known_ = false;
    }
  }

  void prefixes() {
    for (; at_ < end_; ++at_) {
      if (*at_ == 0x66) {
        short_ = true;
      } else if (*at_ != 0xf2 && *at_ != 0xf3 && *at_ != 0xf0 && *at_ != 0x2e && *at_ != 0x3e && *at_ != 0x64 &&
                 *at_ != 0x65) {
        break;
      }
    }
    if (at_ < end_ && *at_ >> 4 == 4) wide_ = (*at_++ & 8) != 0;
  }

  /// The operands: mod, reg and rm, possibly an index, possibly a displacement.
  void operands() {
    const Byte modes = next();
    mod_ = modes >> 6;
    reg_ = modes >> 3 & 7;
    rm_ = modes & 7;
    if (mod_ == 3) return;
    int base = rm_;
    if (rm_ == 4) {
      const Byte index = next();
      has_index_ = (index >> 3 & 7) != 4;
      base = index & 7;
    }
    if (mod_ == 1) skip(1);
    if (mod_ == 2 || (mod_ == 0 && base == 5)) skip(4);
  }

  Kind with_operands(Kind kind, int immediate = 0) {
    operands();
    skip(immediate);
    return kind;
  }

  int immediate() const { return short_ ? 2 : 4; }

  Kind unknown() {
    known_ = false;
    return Kind::other;
  }

  Kind one_byte(Byte opcode) {
    if (opcode < 0x40) {  // eight operations: add, or, adc, sbb, and, sub, xor, cmp
      const int form = opcode & 7;
      if (form > 5) return unknown();
      if (form == 4) return skip(1), Kind::integer;
      if (form == 5) return skip(immediate()), Kind::integer;
      operands();
      const bool zeroes = opcode >> 3 == 6 && mod_ == 3 && reg_ == rm_;  // xor of a register with itself
      return zeroes ? Kind::other : Kind::integer;
    }
    if (opcode >= 0x50 && opcode < 0x60) return Kind::other;  // push, pop
    if (opcode >= 0x70 && opcode < 0x80) return skip(1), Kind::branch;
    if (opcode >= 0x90 && opcode < 0xa0) return Kind::other;
    if (opcode >= 0xb0 && opcode < 0xb8) return skip(1), Kind::other;
    if (opcode >= 0xb8 && opcode < 0xc0) return skip(wide_ ? 8 : immediate()), Kind::other;
    if (opcode >= 0xd0 && opcode < 0xd4) return with_operands(Kind::integer);
    if (opcode >= 0xd8 && opcode < 0xe0) return with_operands(Kind::other);
    switch (opcode) {
      case 0x63:  // movsxd
      case 0x86:
      case 0x87:
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:
        return with_operands(Kind::other);
      case 0x68:
        return skip(4), Kind::other;
      case 0x6a:
        return skip(1), Kind::other;
      case 0x69:
        return with_operands(Kind::integer, immediate());
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xc0:
      case 0xc1:
        return with_operands(Kind::integer, 1);
      case 0x81:
        return with_operands(Kind::integer, immediate());
      case 0x84:
      case 0x85:
        return with_operands(Kind::integer);
      case 0x8d:  // lea: a GPU's loads and stores add constants to addresses themselves
        operands();
        return has_index_ ? Kind::integer : Kind::other;
      case 0xa4:
      case 0xa5:
      case 0xaa:
      case 0xab:
      case 0xc3:
      case 0xc9:
      case 0xcc:
        return Kind::other;
      case 0xa8:
        return skip(1), Kind::integer;
      case 0xa9:
        return skip(immediate()), Kind::integer;
      case 0xc6:
        return with_operands(Kind::other, 1);
      case 0xc7:
        return with_operands(Kind::other, immediate());
      case 0xe8:
        return skip(4), Kind::other;
      case 0xe9:
        return skip(4), Kind::branch;
      case 0xeb:
        return skip(1), Kind::branch;
      case 0xf6:
      case 0xf7:
        operands();
        if (reg_ < 2) skip(opcode == 0xf6 ? 1 : immediate());
        return reg_ < 6 ? Kind::integer : Kind::division;
      case 0xfe:
        return with_operands(Kind::integer);
      case 0xff:
        operands();
        return reg_ < 2 ? Kind::integer : reg_ == 4 ? Kind::branch : Kind::other;
      default:
        return unknown();
    }
  }

  Kind two_bytes(Byte opcode) {
    if (opcode >= 0x40 && opcode < 0x50) return with_operands(Kind::integer);  // cmov
    if (opcode >= 0x80 && opcode < 0x90) return skip(4), Kind::branch;
    if (opcode >= 0x90 && opcode < 0xa0) return with_operands(Kind::integer);  // set
    if (opcode >= 0xc8 && opcode < 0xd0) return Kind::integer;                 // bswap
    switch (opcode) {
      case 0x05:
      case 0x0b:  // ud2
      case 0x31:
      case 0xa2:
        return Kind::other;
      case 0x2a:  // conversions, minimum, maximum, comparisons
      case 0x2c:
      case 0x2d:
      case 0x2e:
      case 0x2f:
      case 0x5a:
      case 0x5b:
      case 0x5d:
      case 0x5f:
      case 0xa3:
      case 0xab:
      case 0xaf:  // imul
      case 0xbc:
      case 0xbd:
        return with_operands(Kind::integer);
      case 0x51:
      case 0x5e:
        return with_operands(Kind::divide);
      case 0x58:
      case 0x5c:
        return with_operands(Kind::add);
      case 0x59:
        return with_operands(Kind::multiply);
      case 0xa4:
      case 0xac:
      case 0xba:
      case 0xc2:
        return with_operands(Kind::integer, 1);
      case 0x70:
      case 0x71:
      case 0x72:
      case 0x73:
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return with_operands(Kind::other, 1);
      case 0x38:
        next();
        return with_operands(Kind::other);
      case 0x3a:
        next();
        return with_operands(Kind::other, 1);
      default:
        return with_operands(Kind::other);
    }
  }

  const Byte* const begin_;
  const Byte* at_;
  const Byte* const end_;
  bool known_ = true, short_ = false, wide_ = false, has_index_ = false;
  int mod_ = 0, reg_ = 0, rm_ = 0;
};

/// Returns the target of the call before `end`; for an indirect call, the location that holds the target.
const Byte* target_of(const Byte* end) {
  int32_t distance;
  std::memcpy(&distance, end - sizeof(distance), sizeof(distance));
  return end + distance;
}

/// Returns whether the instruction before `end`, of this many bytes, is a call of `target`.
bool calls(const Byte* end, size_t bytes, const Byte* target) {
  const bool is_call = (bytes == 5 && end[-5] == 0xe8) || (bytes == 6 && end[-6] == 0xff && end[-5] == 0x15);
  return is_call && target_of(end) == target;
}

/// Returns whether a branch is conditional: 70 to 7f, or 0f 80 to 0f 8f.
bool is_conditional(const Byte* branch) {
  const int opcode = branch[0] == 0x0f ? branch[1] - 0x10 : branch[0];
  return opcode >= 0x70 && opcode < 0x80;
}

}  // namespace

std::optional<HostInstruction> decode(const unsigned char* code, const unsigned char* end) {
  return Decoder(code, end).decode();
}

std::optional<BlockCode> block_code(const void* begin, const void* end) {
#if defined(__x86_64__)
  const Byte* const last = static_cast<const Byte*>(end);
  const Byte* at = static_cast<const Byte*>(begin);
  const Byte* const mark = target_of(at);
  int64_t of_kind[7] = {};
  while (at < last) {
    const std::optional<HostInstruction> instruction = decode(at, last);
    if (!instruction) break;
    at += instruction->bytes;
    if (calls(at, instruction->bytes, mark)) break;
    ++of_kind[static_cast<size_t>(instruction->kind)];
  }
  const auto count = [&](Kind kind) { return of_kind[static_cast<size_t>(kind)]; };
  const int64_t adds = count(Kind::add), products = count(Kind::multiply), quotients = count(Kind::divide);
  return BlockCode{.float_operations = adds + products + quotients,
                   .instructions = std::max(adds, products) + quotients + count(Kind::integer) + count(Kind::branch) +
                                   kInstructionsOfDivision * count(Kind::division)};
#else
  static_cast<void>(begin);
  static_cast<void>(end);
  return std::nullopt;
#endif
}

const void* end_of_condition(const void* begin, const void* end) {
#if defined(__x86_64__)
  const Byte* const last = static_cast<const Byte*>(end);
  for (const Byte* at = static_cast<const Byte*>(begin); at < last;) {
    const std::optional<HostInstruction> instruction = decode(at, last);
    if (!instruction) return nullptr;
    if (instruction->kind == Kind::branch) return is_conditional(at) ? at + instruction->bytes : nullptr;
    at += instruction->bytes;
  }
#else
  static_cast<void>(begin);
  static_cast<void>(end);
#endif
  return nullptr;
}

}  // namespace convlab
