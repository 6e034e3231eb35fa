// Tests the parser of inline PTX, the table of instructions, and that docs/reference/ptx.md lists that table.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/simt/ptx/inline_ptx.h"
#include "convlab/simt/ptx/ptx_program.h"
#include "tests/support/paths.h"

namespace convlab::simt::ptx {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string_view> operands(size_t count) { return std::vector<std::string_view>(count); }

TEST(PtxPage, ListsTheTable) {
  const std::string page = read_text(source_folder() / "docs/reference/ptx.md");
  std::string table = "| instruction | modifiers | types |\n|---|---|---|\n";
  for (const Row& row : kTable) table += fmt::format("| `{}` | {} | {} |\n", row.name, row.words, row.types);
  EXPECT_THAT(page, HasSubstr(table)) << "it must be:\n" << table;
}

TEST(PtxTable, NamesAreUniqueAndTypesExist) {
  for (const Row& row : kTable) {
    EXPECT_EQ(std::ranges::count(kTable, row.name, &Row::name), 1) << row.name;
    for (size_t at = 0; at < row.types.size();) {
      const size_t end = position_of(row.types, ' ', at);
      EXPECT_NE(type_named(row.types.substr(at, end - at)), Type::none) << row.name;
      at = end + 1;
    }
  }
}

TEST(PtxTable, KnowsInstructionsWithTheirModifiersOnly) {
  static_assert(is_known("ld.global.nc.L1::no_allocate.L2::128B.v4.f32"));
  static_assert(is_known("cp.async.commit_group") && is_known("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  static_assert(!is_known("cp.async.bulk.commit_group") && !is_known("wgmma.fence.sync.aligned"));
  static_assert(!is_known("add.f33") && !is_known("adds.u32") && !is_known("fma.rn.u32"));
  static_assert(detail::first_unknown("{ .reg .pred p; L: @p bra L; /* a */ // b\n add.u32 %0, {a}, %1;}").empty());
  static_assert(detail::first_unknown("add.u32 %0, %1, 1; tcgen05.alloc x;") == "tcgen05.alloc");
}

TEST(PtxParser, ReadsOperandsOfAllKinds) {
  const Program program =
      parse("{.reg .pred p<2>; .reg .b32 t; @!p1 shfl.sync.up.b32 t|p0, %0, -2, 0x1f, %[mask];}", {"", "mask"});
  ASSERT_THAT(program.error, IsEmpty());
  ASSERT_THAT(program.instructions, SizeIs(1));
  EXPECT_EQ(program.registers, 5u);
  const Instruction& shuffle = program.instructions[0];
  EXPECT_EQ(shuffle.guard, 3);
  EXPECT_TRUE(shuffle.guard_negated);
  EXPECT_EQ(shuffle.groups[0].count, 2u);
  EXPECT_EQ(shuffle.operand(0).reg, 4);
  EXPECT_TRUE(shuffle.operand(0, 1).predicate);
  EXPECT_EQ(static_cast<int64_t>(shuffle.operand(2).bits), -2);
  EXPECT_EQ(shuffle.operand(4).reg, 1);
}

TEST(PtxParser, ReadsAddressesAndNumbers) {
  const Program program =
      parse("ld.v2.f32 {%0, %1}, [%2+-16]; mul.f32 %0, %1, 0fBF800000; add.f64 %0, %1, 1.5e-1;", operands(3));
  ASSERT_THAT(program.error, IsEmpty());
  EXPECT_EQ(program.instructions[0].operand(1).offset, -16);
  EXPECT_EQ(program.instructions[1].operand(2).bits, 0xbf800000u);
  EXPECT_EQ(program.instructions[2].operand(2).bits, 0x3fc3333333333333u);
}

TEST(PtxParser, SaysWhatIsWrong) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"add.u32 %0, %1 %0;", "expected , before"},        {"add.u32 %0, %1, %7;", "no operand 7"},
      {"add.u32 %0, %1, x;", "register or variable 'x'"}, {"add.u32 %0, %1, 1", "lacks its ;"},
      {"wgmma.fence;", "instruction wgmma.fence"},        {"bra NOWHERE;", "no label NOWHERE"},
      {"{ add.u32 %0, %1, 1;", "{ is not closed"},        {"}", "has no {"},
      {".shared .b32 x;", "directive .shared"},           {".reg .b32 x<100000>;", "more registers"},
      {"add.u32 %0, %1, 12q;", "not a number"},           {"add.u32 %0,", "middle of an instruction"},
  };
  for (const auto& [text, why] : cases) EXPECT_THAT(parse(text, operands(2)).error, HasSubstr(why)) << text;
}

}  // namespace
}  // namespace convlab::simt::ptx
