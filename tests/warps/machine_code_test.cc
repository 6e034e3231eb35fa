// Tests the decoding of x86-64 instructions, and the count of GPU instructions of a basic block.

#include "convlab/warps/machine_code.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace convlab {
namespace {

using Kind = HostInstruction::Kind;
using Bytes = std::vector<unsigned char>;

struct Case {
  Bytes bytes;
  Kind kind;
  const char* text;  // as printed by objdump
};

TEST(MachineCode, KnowsLengthsAndKinds) {
  const Case kCases[] = {
      {{0x55}, Kind::other, "push %rbp"},
      {{0x48, 0x89, 0xe5}, Kind::other, "mov %rsp,%rbp"},
      {{0x31, 0xc0}, Kind::other, "xor %eax,%eax"},
      {{0x31, 0xd8}, Kind::integer, "xor %ebx,%eax"},
      {{0x48, 0x8d, 0x7b, 0x04}, Kind::other, "lea 0x4(%rbx),%rdi"},
      {{0x48, 0x8d, 0x3c, 0x8b}, Kind::integer, "lea (%rbx,%rcx,4),%rdi"},
      {{0x4c, 0x8d, 0x3d, 0x78, 0x56, 0x34, 0x12}, Kind::other, "lea 0x12345678(%rip),%r15"},
      {{0x41, 0x81, 0xc4, 0x00, 0x01, 0x00, 0x00}, Kind::integer, "add $0x100,%r12d"},
      {{0x66, 0x81, 0xc3, 0x00, 0x01}, Kind::integer, "add $0x100,%bx"},
      {{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, Kind::other, "movabs $0x807060504030201,%rax"},
      {{0x41, 0xf7, 0xfc}, Kind::division, "idiv %r12d"},
      {{0xf7, 0xd8}, Kind::integer, "neg %eax"},
      {{0xf7, 0xc3, 0, 0, 0, 1}, Kind::integer, "test $0x1000000,%ebx"},
      {{0x0f, 0xaf, 0x44, 0x24, 0x10}, Kind::integer, "imul 0x10(%rsp),%eax"},
      {{0x6b, 0xc0, 0x19}, Kind::integer, "imul $0x19,%eax,%eax"},
      {{0xf3, 0x0f, 0x58, 0xc1}, Kind::add, "addss %xmm1,%xmm0"},
      {{0xf3, 0x41, 0x0f, 0x59, 0x04, 0x24}, Kind::multiply, "mulss (%r12),%xmm0"},
      {{0xf2, 0x0f, 0x5e, 0x05, 0, 0, 0, 0}, Kind::divide, "divsd 0x0(%rip),%xmm0"},
      {{0x0f, 0x8c, 0, 1, 0, 0}, Kind::branch, "jl"},
      {{0x7e, 0x10}, Kind::branch, "jle"},
      {{0xe8, 0, 0, 0, 0}, Kind::other, "call"},
      {{0xff, 0x15, 0, 0, 0, 0}, Kind::other, "call *0x0(%rip)"},
      {{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, Kind::other, "cs nopw 0x0(%rax,%rax,1)"},
      {{0x66, 0x0f, 0x3a, 0x0b, 0xc0, 0x09}, Kind::other, "roundsd $0x9,%xmm0,%xmm0"},
  };
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.text);
    const auto found = decode(each.bytes.data(), each.bytes.data() + each.bytes.size());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bytes, each.bytes.size());
    EXPECT_EQ(found->kind, each.kind);
    EXPECT_FALSE(decode(each.bytes.data(), each.bytes.data() + each.bytes.size() - 1)) << "cut off";
  }
}

TEST(MachineCode, DoesNotKnowVectorsOfAvx) {
  const Bytes kCode{0xc5, 0xfa, 0x58, 0xc1};  // vaddss
  EXPECT_FALSE(decode(kCode.data(), kCode.data() + kCode.size()));
}

#if defined(__x86_64__)

/// A block between two calls of the same function, which is at code offset 0x105.
class Block {
 public:
  explicit Block(std::initializer_list<Bytes> instructions) {
    add_call();
    begin_ = code_.size();
    for (const Bytes& bytes : instructions) code_.insert(code_.end(), bytes.begin(), bytes.end());
    add_call();
    code_.insert(code_.end(), {0xf3, 0x0f, 0x58, 0xc1});  // belongs to the next block
  }
  BlockCode counted() const { return block_code(code_.data() + begin_, code_.data() + code_.size()).value(); }

 private:
  void add_call() {
    const auto distance = static_cast<int32_t>(0x105 - (code_.size() + 5));
    code_.push_back(0xe8);
    code_.resize(code_.size() + 4);
    std::memcpy(code_.data() + code_.size() - 4, &distance, 4);
  }
  Bytes code_;
  size_t begin_ = 0;
};

const Bytes kAdd{0xf3, 0x0f, 0x58, 0xc1}, kMultiply{0xf3, 0x0f, 0x59, 0xc1}, kDivision{0xf7, 0xf9},
    kCompare{0x39, 0xd8}, kJump{0x7e, 0x10}, kMove{0x89, 0xd8};

TEST(MachineCode, AProductAndASumAreOneInstruction) {
  EXPECT_EQ(Block({kMultiply, kAdd}).counted().instructions, 1);
  EXPECT_EQ(Block({kMultiply, kAdd}).counted().float_operations, 2);
  EXPECT_EQ(Block({kAdd, kAdd, kMultiply}).counted().instructions, 2);
}

TEST(MachineCode, ADivisionIsManyAndAMoveNone) {
  EXPECT_EQ(Block({kDivision}).counted().instructions, 20);
  EXPECT_EQ(Block({kMove, kMove}).counted().instructions, 0);
  EXPECT_EQ(Block({kMove, kCompare, kJump}).counted().instructions, 2);
  EXPECT_EQ(Block({}).counted().instructions, 0);
}

#endif

}  // namespace
}  // namespace convlab
