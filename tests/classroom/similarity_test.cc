// Tests similarity search: it finds files that differ only in names, comments and layout, and ignores the common
// template.

#include "convlab/classroom/similarity.h"

#include <gtest/gtest.h>

#include <regex>

#include "convlab/base/file.h"
#include "convlab/classroom/pack.h"
#include "tests/support/paths.h"
#include "tests/support/source_tree.h"

namespace convlab::classroom {
namespace {

std::string ladder(const std::string& name) { return read_text(source_folder() / "convlab/kernels/ladder" / name); }

TEST(Similarity, SeesThroughNamesCommentsAndLayout) {
  const std::string text = ladder("10_register_tile.cu");
  std::string other = "// all my own work\n" + std::regex_replace(text, std::regex("\\bsum\\b"), "total");
  other = std::regex_replace(std::regex_replace(other, std::regex("\\bshape\\b"), "sizes"), std::regex("\n"), "\n\n");
  const std::vector<SimilarPair> pairs =
      similar_pairs({{1, "ada", text}, {2, "bob", ladder("14_fft.cu")}, {3, "eve", other}}, "", 0.5);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs.front().first.name, "ada");
  EXPECT_EQ(pairs.front().second.name, "eve");
  EXPECT_GT(pairs.front().share, 0.95);
}

TEST(Similarity, LeavesOutWhatAllBeginWith) {
  const std::string begin = read_text(load_pack("fa19").template_file);
  const std::vector<HandedIn> files{{1, "ada", begin + ladder("10_register_tile.cu")},
                                    {2, "bob", begin + ladder("14_fft.cu")},
                                    {3, "eve", begin},
                                    {4, "kim", begin}};
  EXPECT_TRUE(similar_pairs(files, begin, 0.5).empty());
  EXPECT_FALSE(similar_pairs(files, "", 0.5).empty());
}

TEST(Similarity, PutsTheMostAlikeFirst) {
  const std::string text = ladder("10_register_tile.cu");
  const std::string half = text.substr(0, text.size() / 2) + ladder("14_fft.cu");
  const std::vector<SimilarPair> pairs = similar_pairs({{1, "a", text}, {2, "b", half}, {3, "c", text}}, "", 0.2);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs.front().share, 1);
  EXPECT_GE(pairs[1].share, pairs[2].share);
}

}  // namespace
}  // namespace convlab::classroom
