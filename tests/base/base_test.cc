// Tests small helpers: checked arithmetic, ChaCha20 random numbers, text functions, symbols and fp16 conversion.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "convlab/base/checked.h"
#include "convlab/base/entropy.h"
#include "convlab/base/half.h"
#include "convlab/base/names.h"
#include "convlab/base/semester.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"

namespace convlab {
namespace {

TEST(Checked, OverflowIsAnError) {
  EXPECT_EQ(checked_product({3, 4, 5}), 60);
  EXPECT_THROW(checked_mul(INT64_MAX, 2), Error);
  EXPECT_THROW(checked_add(INT64_MAX, 1), Error);
}

TEST(KeyedRng, IsChaCha20) {
  KeyedRng zeros({});  // the first test vector of RFC 8439, A.1
  EXPECT_EQ(zeros.next(), 0x903df1a0ade0b876u);
  EXPECT_EQ(zeros.next(), 0x28bd8653e56a5d40u);
  for (int i = 0; i < 5; ++i) zeros.next();
  EXPECT_EQ(zeros.next(), 0x8665eeb269b687c3u);
  EXPECT_EQ(zeros.next(), 0x7a385155bee7079fu);
  EXPECT_NE(new_key(), new_key());
  const KeyedRng::Key key = KeyedRng(new_key()).next_key();
  EXPECT_EQ(parse_key(to_text(key)), key);
  for (const char* wrong : {"", "12", "zz"}) EXPECT_THROW(parse_key(wrong), Error);
}

TEST(Text, ParseIntTakesWholeNumbersInRangeOnly) {
  EXPECT_EQ(parse_int("42", "--images", 1, 100), 42);
  for (const char* wrong : {"", "ten", "4.5", "4 ", " 4", "-5", "0", "101", "99999999999999999999"}) {
    EXPECT_THROW(parse_int(wrong, "--images", 1, 100), Error) << wrong;
  }
}

TEST(Text, GlobMatches) {
  EXPECT_TRUE(glob_match("cuda.*", "cuda.basic"));
  EXPECT_TRUE(glob_match("*tile*", "cuda.shared_tile"));
  EXPECT_TRUE(glob_match("cpu.d?rect", "cpu.direct"));
  EXPECT_FALSE(glob_match("cuda.*", "cpu.direct"));
  EXPECT_FALSE(glob_match("cuda", "cuda.basic"));
}

TEST(Names, AreFoundAsWholeNamesOnly) {
  constexpr std::string_view kLine = "tiles[_tile] = tile[tile2] + tile;";
  EXPECT_EQ(find_name(kLine, "tile"), 15u);
  EXPECT_EQ(find_name(kLine, "tile", 16), 29u);
  EXPECT_EQ(find_name(kLine, "tile", 30), std::string_view::npos);
  EXPECT_EQ(find_name("tile", "tile"), 0u);
  EXPECT_EQ(find_name("", "tile"), std::string_view::npos);
}

TEST(Text, PrintableKeepsUtf8AndNothingElse) {
  EXPECT_EQ(printable("conv1/é€😀"), "conv1/é€😀");
  EXPECT_EQ(printable("a\nb\x7f\x1b[31m"), "a?b??[31m");
  EXPECT_EQ(printable("\xff\xc3(\xe2\x82\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xc2\x85"),
            std::string("?") + "?(" + std::string(13, '?'));
  EXPECT_EQ(printable("a\u202eb\u200bc\u2066d\ufeffe\u00adf\U000e0041g"), "a?b?c?d?e?f?g")
      << "not seen, or read backwards";
  EXPECT_EQ(printable(std::string(300, 'x')), std::string(200, 'x') + "...");
}

TEST(Text, ClosestSuggestsOnlyWhatIsNear) {
  EXPECT_EQ(closest("fa91", {"fa19", "sp18"}), "fa19");
  EXPECT_EQ(closest("resnet", {"fa19", "sp18"}), "");
  EXPECT_EQ(closest("xx", {"a", "x"}), "x");
  EXPECT_EQ(closest("c", {"a", "b"}), "") << "every single letter is one edit away";
  EXPECT_EQ(closest("Mia", {"Ada"}), "Ada");
  EXPECT_EQ(closest("Mia", {"Ada"}, 1), "");
  EXPECT_EQ(closest("Ad", {"Ada"}, 1), "Ada");
  EXPECT_EQ(did_you_mean("fa91", {"fa19", "sp18"}), " (did you mean 'fa19'?)");
  EXPECT_EQ(did_you_mean("resnet", {"fa19", "sp18"}), "");
}

TEST(Semester, HintNamesTheNetworkOrTheNearest) {
  const std::vector<std::string> names{"fa17", "fa19", "sp25"};
  EXPECT_EQ(semester_hint("fa20", names), "; fa20 used the network of sp25");
  EXPECT_EQ(semester_hint("fa18", names), "; the nearest are fa17, fa19");
  EXPECT_EQ(semester_hint("sp18", names), "; the nearest is fa17");
  EXPECT_EQ(semester_hint("fa19", names), "") << "known";
  EXPECT_EQ(semester_hint("fa91", names), "") << "misspelled";
  EXPECT_EQ(semester_hint("conv", names), "");
}

TEST(Symbol, HasTheLastNameWithItsTemplateArguments) {
  EXPECT_EQ(short_symbol("_ZN7convlab12_GLOBAL__N_111tile_kernelILi16EEEvPKfPfi"), "tile_kernel<16>");
  EXPECT_EQ(short_symbol("_ZZN7convlab12_GLOBAL__N_111tile_kernelILi16EEEvPKfPfiE4tile"), "tile");
  EXPECT_EQ(short_symbol("_Z5plaini"), "plain");
  EXPECT_EQ(short_symbol("main"), "main");
  EXPECT_EQ(short_symbol("convlab::(anonymous namespace)::table"), "table");
}

TEST(Half, EveryHalfSurvivesTheWayThroughFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), half);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), float_to_half(1.0f));              // a tie rounds to even
  EXPECT_EQ(float_to_half(1.0f + 0x1.8p-10f), float_to_half(1.0f + 0x1p-9f));  // the next tie rounds up
  EXPECT_EQ(half_to_float(float_to_half(65519.0f)), 65504.0f);
  EXPECT_EQ(half_to_float(float_to_half(65520.0f)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(half_to_float(float_to_half(0x1p-24f)), 0x1p-24f);
  EXPECT_EQ(half_to_float(float_to_half(0x1p-25f)), 0.0f);
}

}  // namespace
}  // namespace convlab
