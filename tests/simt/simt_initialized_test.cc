// Tests which bytes of an array count as initialized.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convlab/simt/initialized_bytes.h"

namespace convlab::simt::internal {
namespace {

TEST(InitializedBytes, AreMarkedAndCopiedOneByOne) {
  const auto marks = [](const std::vector<uint8_t>& map) {
    std::string text;
    for (size_t i = 0; i < 4 * map.size(); ++i) text += (map[i / 4] >> i % 4 & 1) != 0 ? 'x' : '.';
    return text;
  };
  const std::string none(24, '.');
  for (size_t offset = 0; offset < 12; ++offset) {
    for (size_t bytes = 0; bytes <= 12; ++bytes) {
      std::vector<uint8_t> map(6), copy(6);
      mark_bytes(map.data(), offset, bytes);
      std::string expected = none;
      expected.replace(offset, bytes, bytes, 'x');
      EXPECT_EQ(marks(map), expected) << offset << " " << bytes;
      EXPECT_EQ(first_unmarked(map.data(), offset, 24 - offset), offset + bytes);
      mark_bytes(copy.data(), 0, 24);
      copy_marks(copy.data(), offset, std::vector<uint8_t>(6).data(), offset, bytes);
      std::string rest(24, 'x');
      EXPECT_EQ(marks(copy), rest.replace(offset, bytes, bytes, '.')) << offset << " " << bytes;
    }
  }
  uint8_t entry = 0;
  set_initialised(&entry, byte_bits(1, 2));
  EXPECT_TRUE(is_initialised(&entry, byte_bits(2, 2)));
  EXPECT_FALSE(is_initialised(&entry));
}

}  // namespace
}  // namespace convlab::simt::internal
