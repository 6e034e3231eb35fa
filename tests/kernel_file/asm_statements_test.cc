// Tests how asm statements with PTX become calls, and which ones stay.

#include "convlab/kernel_file/asm_statements.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "convlab/kernel_file/ptx_errors.h"

namespace convlab {
namespace {

/// Returns the source without spaces, rewritten.
std::string rewritten(const std::string& source) {
  std::vector<Rewrite> rewrites = rewritten_asm_statements(tokens_of(source));
  std::ranges::stable_sort(rewrites, {}, [](const Rewrite& each) { return each.part.data(); });
  std::string result;
  const char* at = source.data();
  for (const Rewrite& each : rewrites) {
    result.append(at, each.part.data());
    result += each.by;
    at = each.part.data() + each.part.size();
  }
  result += at;
  std::erase(result, ' ');
  return result;
}

constexpr const char *kStatement = "::convlab::simt::ptx::Statement<", *kOperand = "::convlab::simt::ptx::operand<";

TEST(AsmStatements, BecomeCalls) {
  const std::string statement = kStatement, operand = kOperand;
  EXPECT_EQ(rewritten("asm(\"trap;\");"), statement + "\"trap;\">()();");
  EXPECT_EQ(rewritten("asm volatile(\"membar.gl;\\n\" ::: \"memory\");"), statement + "\"membar.gl;\\n\">()();");
  EXPECT_EQ(rewritten("asm (\"a\" \"b;\" : \"=r\"(x), \"+f\"(y[f(1, 2)]) : \"r\"(z) \"n\"(3));"),
            statement + "\"a\"\"b;\">()(" + operand + "\"=r\">(x)," + operand + "\"+f\">(y[f(1,2)])," + operand +
                "\"r\">(z)," + operand + "\"n\">(3));");
}

TEST(AsmStatements, NamesOfOperandsAreKept) {
  EXPECT_EQ(rewritten("__asm__(\"x;\" : [d] \"=r\"(x));"),
            std::string(kStatement) + "\"x;\">()(" + kOperand + "\"=r\",\"d\">(x));");
}

TEST(AsmStatements, InMacrosAreRewrittenOverTheirLines) {
  EXPECT_EQ(rewritten("#define LOAD(CV, x) \\\n  asm volatile(\"ld.\" #CV \\\n  #x \".u32 %0, [%1];\" \\\n"
                      "  : \"=r\"(x) : POINTER(p) : \"memory\")\n"),
            std::string("#defineLOAD(CV,x)\\\n") + kStatement + "\"ld.\"#CV\\\n#x\".u32%0,[%1];\"\\\n>()(" + kOperand +
                "\"=r\">(x)," + kOperand + "POINTER>(p))\n");
}

TEST(AsmStatements, OfTheHostStay) {
  for (std::string source : {"asm volatile(\"rdtsc\" : \"=a\"(a), \"=d\"(d));", "asm(\"int $3\\n\" : : );",
                             "asm volatile(\"\" ::: \"memory\");", "asm(\"nop;\" : \"=a\"(x));",
                             "extern int x asm(\"y\");", "asm goto(\"bra %l0;\" :::: there);"}) {
    const std::string result = rewritten(source);
    std::erase(source, ' ');
    EXPECT_EQ(result, source);
  }
}

TEST(PtxErrors, AreAtTheStatement) {
  const std::string header = "/c/convlab/simt/ptx/inline_ptx.h:9:1: ";
  EXPECT_EQ(
      with_places_of_asm_statements("    inlined from 'void k()' at x.cu:7:3:\n" + header +
                                    "error: call to 'unknown_instruction<Text<9>{\"wgmma.x\"}>' declared\n"),
      "    inlined from 'void k()' at x.cu:7:3:\nx.cu:7: error: simt does not know the PTX instruction 'wgmma.x'; "
      "docs/reference/ptx.md lists those that it knows\n\n");
  EXPECT_EQ(
      with_places_of_asm_statements("x.cu:8:2:   required from here\n" + header +
                                    "error: static assertion failed: it does not fit\n" + header + "note: false\n"),
      "x.cu:8:2:   required from here\nx.cu:8: error: it does not fit\n\n");
  EXPECT_EQ(with_places_of_asm_statements("x.cu:1:1: error: other"), "x.cu:1:1: error: other");
}

}  // namespace
}  // namespace convlab
