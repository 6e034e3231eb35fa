// Tests reading and writing of .npz archives.

#include "convlab/tensor/npz.h"

#include <gmock/gmock.h>

#include <cstring>
#include <string>
#include <vector>

#include "convlab/tensor/npy.h"
#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

std::string error(const Bytes& bytes) {
  return bad_input_message([&] { parse_npz(bytes, "x.npz"); });
}

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Output of numpy.savez(x=numpy.array([1, 2], "u1"), y=numpy.array([[1.5]], "f4")) and of savez_compressed with the
// same arrays, NumPy 2.4.6.
constexpr std::string_view kStored =
    "504b03042d0000000000000021006202655fffffffffffffffff05001400782e6e70790100100082000000000000008200000000000000"
    "934e554d5059010076007b276465736372273a20277c7531272c2027666f727472616e5f6f72646572273a2046616c73652c2027736861"
    "7065273a2028322c292c207d20202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020200a0102504b03042d000000000000002100f93c6c13ffffffffffffffff05001400792e6e7079"
    "0100100084000000000000008400000000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e"
    "5f6f72646572273a2046616c73652c20277368617065273a2028312c2031292c207d202020202020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020200a0000c03f504b01022d032d000000000000"
    "0021006202655f8200000082000000050000000000000000000000800100000000782e6e7079504b01022d032d000000000000002100f9"
    "3c6c1384000000840000000500000000000000000000008001b9000000792e6e7079504b05060000000002000200660000007401000000"
    "00";
constexpr std::string_view kDeflated =
    "504b03042d0000000800000021006202655fffffffffffffffff05001400782e6e70790100100082000000000000004600000000000000"
    "9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
    "f91a463a9a3a0ab50a14002e462600504b03042d000000080000002100f93c6c13ffffffffffffffff05001400792e6e70790100100084"
    "000000000000004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f9492"
    "0a12774bcc294e058a17672416a402f91a863a0a869a3a0ab50a64032e068603f600504b01022d032d0000000800000021006202655f46"
    "00000082000000050000000000000000000000800100000000782e6e7079504b01022d032d000000080000002100f93c6c134a00000084"
    "00000005000000000000000000000080017d000000792e6e7079504b0506000000000200020066000000fe0000000000";

TEST(Npz, ReadsWhatNumPyWrites) {
  for (const std::string_view hex : {kStored, kDeflated}) {
    const auto arrays = parse_npz(from_hex(hex), "x.npz");
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays[0].name, "x");
    EXPECT_THAT(values_of<uint8_t>(arrays[0].tensor), ElementsAre(1, 2));
    EXPECT_EQ(arrays[1].name, "y");
    EXPECT_EQ(arrays[1].tensor.shape(), (Shape{1, 1}));
    EXPECT_THAT(values_of<float>(arrays[1].tensor), ElementsAre(1.5f));
  }
}

Bytes two_arrays() {
  const float x[] = {1, 2, 3};
  const int64_t y[] = {-5};
  NamedTensor arrays[] = {{"x", Tensor::of<float>({3}, x)}, {"deep/y:0", Tensor::of<int64_t>({}, y)}};
  return to_npz(arrays);
}

TEST(Npz, WhatIsWrittenReadsTheSame) {
  const auto back = parse_npz(two_arrays(), "x.npz");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_THAT(values_of<float>(back[0].tensor), ElementsAre(1, 2, 3));
  EXPECT_EQ(back[1].name, "deep/y:0");
  EXPECT_THAT(values_of<int64_t>(back[1].tensor), ElementsAre(-5));
}

TEST(Npz, CutOffAnywhere) {
  for (const Bytes& whole : {two_arrays(), from_hex(kDeflated)}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THAT(error(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))), HasSubstr("x.npz"));
    }
  }
}

/// Returns the offset of the last occurrence of this text or magic number.
size_t last(const Bytes& bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).rfind(text);
}

TEST(Npz, DamageIsFound) {
  const Bytes good = two_arrays();
  const size_t entry = last(good, "PK\1\2");
  const auto with = [&](size_t at, uint8_t value) {
    Bytes bad = good;
    bad[at] = value;
    return error(bad);
  };
  EXPECT_THAT(with(entry, 'X'), HasSubstr("corrupt zip directory"));
  EXPECT_THAT(with(entry + 8, 1), AllOf(HasSubstr("deep/y:0.npy"), HasSubstr("encrypted")));
  EXPECT_THAT(with(entry + 10, 12), HasSubstr("method 12"));
  EXPECT_THAT(with(entry + 16, static_cast<uint8_t>(good[entry + 16] + 1)),
              HasSubstr("does not match the zip directory"));
  EXPECT_THAT(with(entry + 23, 0x7f), HasSubstr("does not match the zip directory"));
  EXPECT_THAT(with(entry + 42, static_cast<uint8_t>(good[entry + 42] - 1)),
              HasSubstr("does not match the zip directory"));
  const size_t data = last(good, "\xfb\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_THAT(with(data, 0), HasSubstr("checksum"));
  const size_t end = last(good, "PK\5\6");
  EXPECT_THAT(with(end + 4, 1), HasSubstr("multi-part"));
  Bytes huge = good;
  for (size_t i = 20; i < 28; ++i) huge[entry + i] = 0xff;
  EXPECT_THAT(error(huge), HasSubstr("4 GiB"));
}

TEST(Npz, OfDeflatedMembersSizesAreChecked) {
  const Bytes good = from_hex(kDeflated);
  const size_t entry = last(good, "PK\1\2");
  Bytes bad = good;
  bad[entry + 27] = 0x40;  // a size of one gigabyte; the local header stores its sizes in the extra field
  EXPECT_THAT(error(bad), HasSubstr("cannot decompress to"));
  bad = good;
  bad[entry + 24] ^= 1;
  EXPECT_THAT(error(bad), HasSubstr("does not decompress to"));
}

TEST(Npz, MembersDoNotOverlapAndNamesAreOnce) {
  const float x[] = {1, 2, 3};
  NamedTensor same[] = {{"x", Tensor::of<float>({3}, x)}, {"x", Tensor::of<float>({3}, x)}};
  Bytes twice = to_npz(same);
  EXPECT_THAT(error(twice), HasSubstr("duplicate array name"));
  const size_t second = last(twice, "PK\1\2");
  for (size_t i = 0; i < 4; ++i) twice[second + 42 + i] = 0;  // both members at offset 0
  EXPECT_THAT(error(twice), HasSubstr("overlaps"));
}

TEST(Npz, WhatIsNone) {
  EXPECT_THAT(error({}), HasSubstr("not an .npz"));
  EXPECT_THAT(error(to_npy(Tensor(ElementType::u8, {0}))), HasSubstr("not an .npz"));
  EXPECT_THAT(error(to_npz({})), HasSubstr("has no arrays"));
}

}  // namespace
}  // namespace convlab
