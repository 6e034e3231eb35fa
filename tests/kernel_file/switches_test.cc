// Tests the detection of preprocessor switches in kernel files.

#include "convlab/kernel_file/switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convlab/kernel_file/instruction_counts.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<Switch> switches_in(std::string text) { return switches_of({.path = "mine.cu", .text = std::move(text)}); }

TEST(Switches, AreMacrosThatTheFileAsksFor) {
  const std::vector<Switch> switches = switches_in(
      "#ifdef WITH_A  // the first\n#elif defined(WITH_B) && WITH_C > 1 // two\n#endif\n"
      "// #ifdef WITH_COMMENT\nconst char* text = \"#ifdef WITH_TEXT\";\n"
      "#ifndef WITH_D\n#define WITH_D 0 // has a default\n#endif\n#if WITHOUT_E\n#endif\n#if WITH_A // again\n#endif\n"
      "#undef WITH_F\n");
  std::vector<std::string> names;
  for (const Switch& each : switches) names.push_back(each.name);
  ASSERT_THAT(names, ElementsAre("WITH_A", "WITH_B", "WITH_C", "WITH_D"));
  EXPECT_EQ(switches[0].what, "the first");
  EXPECT_EQ(switches[1].what, "") << "a line with two describes neither";
  EXPECT_EQ(switches[3].what, "has a default");
  EXPECT_EQ(switches[3].line, 6);
  EXPECT_TRUE(switches[3].has_default);
  EXPECT_FALSE(switches[0].has_default);
}

TEST(Switches, AreOffByZeroOnlyWhereTheFileHasADefault) {
  const std::vector<Switch> switches = switches_in("#ifdef WITH_A\n#endif\n#ifndef WITH_B\n#define WITH_B 1\n#endif\n");
  EXPECT_THAT(definitions_of(switches, 0b00), ElementsAre("WITH_B=0"));
  EXPECT_THAT(definitions_of(switches, 0b01), ElementsAre("WITH_A=1", "WITH_B=0"));
  EXPECT_THAT(definitions_of(switches, 0b10), ElementsAre("WITH_B=1"));
}

TEST(Switches, CannotBeDefinedForGood) {
  EXPECT_THAT(bad_input_message([] { switches_in("#ifdef WITH_A\n#endif\n\n#define WITH_A\n"); }),
              HasSubstr("mine.cu:4"));
}

constexpr const char* kSass = R"(
		Function : _Z8convolveILi5EEvPKf
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;             /* 0x00000a00ff017b82 */
                                                                      /* 0x000ff00000000800 */
        /*0010*/              @!P0 LDG.E R2, desc[UR4][R2.64] ;       /* 0x0 */
        /*0020*/                   I2F.RP R5, R10 ;                   /* 0x0 */
        /*0030*/                   FFMA R0, R2, R3, R0 ;              /* 0x0 */
        /*0040*/                   IMAD R0, R2, R3, R0 ;              /* 0x0 */
        /*0050*/                   STL [R1], R0 ;                     /* 0x0 */
        /*0060*/                   NOP;                               /* 0x0 */
		Function : _Z5otherv
        /*0000*/                   EXIT ;                             /* 0x0 */

Resource usage:
 Function _Z8convolveILi5EEvPKf:
  REG:31 STACK:0 SHARED:0 LOCAL:0
 Function _Z5otherv:
  REG:40 STACK:0 SHARED:0 LOCAL:0
)";

int64_t count(const MachineCode& code, const std::string& name) {
  for (const auto& [each, value] : code.counts) {
    if (each == name) return value;
  }
  ADD_FAILURE() << name << " is not counted";
  return -1;
}

TEST(MachineCode, OfAGpuIsCounted) {
  const MachineCode code = parse_sass(kSass);
  EXPECT_EQ(count(code, "instructions"), 7);
  EXPECT_EQ(count(code, "global loads"), 1);
  EXPECT_EQ(count(code, "constant loads"), 1);
  EXPECT_EQ(count(code, "divisions"), 1);
  EXPECT_EQ(count(code, "multiply-adds"), 1);
  EXPECT_EQ(count(code, "integer multiply-adds"), 1);
  EXPECT_EQ(count(code, "spills"), 1);
  EXPECT_EQ(count(code, "registers"), 40);
}

TEST(MachineCode, OfLaunchedKernelsAloneIsCounted) {
  const MachineCode code = parse_sass(kSass, {"convolve<5>"});
  EXPECT_EQ(count(code, "instructions"), 6);
  EXPECT_EQ(count(code, "registers"), 31);
  EXPECT_EQ(parse_sass(kSass, {"nobody"}), parse_sass(kSass));
}

TEST(MachineCode, IsTheSameWhateverTheNamesAndTheOrder) {
  const auto text = [](const std::string& a, const std::string& b, const char* instruction) {
    return "\tFunction : " + a + "\n /*0000*/  EXIT ; /* 0x0 */\n\tFunction : " + b + "\n /*0000*/  " + instruction +
           " ; /* 0x0 */\n";
  };
  EXPECT_EQ(parse_sass(text("a", "b", "EXIT")).fingerprint, parse_sass(text("c", "d", "EXIT")).fingerprint);
  EXPECT_NE(parse_sass(text("a", "b", "RET")).fingerprint, parse_sass(text("a", "b", "EXIT")).fingerprint);
}

TEST(MachineCode, OfACpuIsCounted) {
  const MachineCode code = parse_objdump(
      "\nmine.so:     file format elf64-x86-64\n\n<convolve>:\n\tvmovups (%rsi,%rax,1),%ymm1\n"
      "\tvfmadd231ps (%rdx),%ymm1,%ymm0\n\tidiv   %ecx\n\tnopw   0x0(%rax,%rax,1)\n\tret\n");
  EXPECT_THAT(code.counts, ElementsAre(Pair("instructions", 4), Pair("multiply-adds", 1), Pair("divisions", 1),
                                       Pair("vector instructions", 2), Pair("memory operands", 2)));
}

}  // namespace
}  // namespace convlab
