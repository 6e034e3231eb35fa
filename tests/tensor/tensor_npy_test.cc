// Tests reading and writing of .npy files.

#include "convlab/tensor/npy.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

using Bytes = std::vector<uint8_t>;

/// Returns a .npy file with this header, padded as NumPy pads it.
Bytes npy(std::string header, const Bytes& data, int version = 1) {
  const size_t length_bytes = version == 1 ? 2 : 4;
  while ((8 + length_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(version), 0};
  for (size_t i = 0; i < length_bytes; ++i) bytes.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string header(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string error(const Bytes& bytes) {
  return bad_input_message([&] { parse_npy(bytes, "x.npy"); });
}

TEST(Npy, ReadsAndWritesTheBytesOfNumPy) {
  // Output of numpy.save(numpy.array([[1.5, -2], [0, 3]], '<f4')), NumPy 2.4.
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" + std::string(58, ' ') + "\n";
  bytes.insert(bytes.end(), text.begin(), text.end());
  for (uint8_t byte : {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x40, 0x40}) bytes.push_back(byte);
  const Tensor tensor = parse_npy(bytes, "x.npy");
  EXPECT_EQ(tensor.shape(), (Shape{2, 2}));
  EXPECT_THAT(values_of<float>(tensor), ElementsAre(1.5f, -2.0f, 0.0f, 3.0f));
  EXPECT_EQ(to_npy(tensor), bytes);
}

TEST(Npy, TypesThatATensorDoesNotHaveBecomeWiderOnes) {
  const Tensor truths = parse_npy(npy(header("|b1", "(2,)"), {0, 1}), "x.npy");
  EXPECT_THAT(values_of<uint8_t>(truths), ElementsAre(0, 1));
  EXPECT_THAT(values_of<int32_t>(parse_npy(npy(header("<i2", "(2,)"), {0xfe, 0xff, 1, 0}), "x.npy")),
              ElementsAre(-2, 1));
  EXPECT_THAT(values_of<int32_t>(parse_npy(npy(header("<u2", "(1,)"), {0xfe, 0xff}), "x.npy")), ElementsAre(0xfffe));
  EXPECT_THAT(values_of<int64_t>(parse_npy(npy(header("<u4", "(1,)"), {0, 0, 0, 0x80}), "x.npy")),
              ElementsAre(int64_t{1} << 31));
  EXPECT_THAT(values_of<int64_t>(parse_npy(npy(header("<u8", "(1,)"), {7, 0, 0, 0, 0, 0, 0, 0}), "x.npy")),
              ElementsAre(7));
  EXPECT_THAT(error(npy(header("<u8", "(1,)"), {0, 0, 0, 0, 0, 0, 0, 0x80})), HasSubstr("9223372036854775808"));
  EXPECT_THAT(error(npy(header("<u4", "(2,)"), {0, 0, 0, 0})), HasSubstr("needs 8 bytes"));
}

TEST(Npy, EveryTypeAndRankSurvivesTheWayThroughBytes) {
  for (ElementType type : {ElementType::f32, ElementType::f16, ElementType::f64, ElementType::u8, ElementType::i8,
                           ElementType::i32, ElementType::i64}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 1, 3, 2}, Shape{0}, Shape{4, 0, 2}}) {
      Tensor tensor(type, shape);
      auto* raw = static_cast<uint8_t*>(tensor.raw());
      for (size_t i = 0; i < tensor.bytes(); ++i) raw[i] = static_cast<uint8_t>(37 * i + 1);
      const Tensor back = parse_npy(to_npy(tensor), "x.npy");
      EXPECT_EQ(back.type(), type);
      EXPECT_EQ(back.shape(), shape);
      const auto* back_raw = static_cast<const uint8_t*>(back.raw());
      EXPECT_THAT(std::vector(back_raw, back_raw + back.bytes()), ElementsAreArray(raw, tensor.bytes()));
    }
  }
}

TEST(Npy, VersionsOneToThreeAreRead) {
  for (int version : {1, 2, 3}) {
    EXPECT_THAT(values_of<uint8_t>(parse_npy(npy(header("|u1", "(3,)"), {7, 8, 9}, version), "x.npy")),
                ElementsAre(7, 8, 9));
  }
  EXPECT_THAT(error(npy(header("|u1", "(3,)"), {7, 8, 9}, 4)), HasSubstr("version 4"));
}

TEST(Npy, EveryTruncationIsAnError) {
  const Bytes whole = npy(header("|u1", "(3,)"), {7, 8, 9});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}), HasSubstr("x.npy: ")) << size;
  }
  const Bytes long_header = npy(header("|u1", "(3,)"), {7, 8, 9}, 2);
  EXPECT_THAT(error({long_header.begin(), long_header.begin() + 11}), HasSubstr("truncated npy header"));
}

TEST(Npy, AnotherFormatIsAnError) {
  EXPECT_THAT(error({'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}), HasSubstr("not an .npy file"));
}

TEST(Npy, BytesMustBeAsManyAsTheShapeSays) {
  EXPECT_THAT(error(npy(header("|u1", "(3,)"), {7, 8})), AllOf(HasSubstr("needs 3 bytes"), HasSubstr("has 2")));
  EXPECT_THAT(error(npy(header("|u1", "(3,)"), {7, 8, 9, 10})), AllOf(HasSubstr("needs 3 bytes"), HasSubstr("has 4")));
}

TEST(Npy, HugeAndOverflowingShapesAreErrorsBeforeMemoryIsTaken) {
  EXPECT_THAT(error(npy(header("<f8", "(1152921504606846976,)"), {1})), HasSubstr("overflow"));
  EXPECT_THAT(error(npy(header("|u1", "(4294967296, 4294967296)"), {1})), HasSubstr("overflow"));
  EXPECT_THAT(error(npy(header("|u1", "(1000000000000,)"), {1})), HasSubstr("needs 1000000000000 bytes"));
}

TEST(Npy, WhatIsNotSupportedIsNamed) {
  EXPECT_THAT(error(npy(header(">f4", "(1,)"), {0, 0, 0, 0})), HasSubstr("'>f4'"));
  EXPECT_THAT(error(npy(header("<c8", "(1,)"), Bytes(8))), HasSubstr("'<c8'"));
  EXPECT_THAT(error(npy(header("<f4", "(2, 2)", "True"), Bytes(16))), HasSubstr("ascontiguousarray"));
}

TEST(Npy, MalformedHeadersAreErrors) {
  EXPECT_THAT(error(npy("{'fortran_order': False, 'shape': (1,), }", {1})), HasSubstr("does not have 'descr'"));
  EXPECT_THAT(error(npy("{'descr': '|u1', 'shape': (1,), }", {1})), HasSubstr("does not have 'fortran_order'"));
  EXPECT_THAT(error(npy("{'descr': '|u1', 'fortran_order': False, }", {1})), HasSubstr("does not have 'shape'"));
  EXPECT_THAT(error(npy(header("|u1", "3"), {1, 2, 3})), HasSubstr("malformed npy shape"));
  EXPECT_THAT(error(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3", {1, 2, 3})),
              HasSubstr("malformed npy shape"));
  EXPECT_THAT(error(npy(header("|u1", "(-3,)"), {1, 2, 3})), HasSubstr("must be at least 0"));
  EXPECT_THAT(error(npy(header("|u1", "(three,)"), {1, 2, 3})), HasSubstr("must be an integer"));
  EXPECT_THAT(error(npy(header("|u1", "(99999999999999999999,)"), {1})), HasSubstr("must be at least 0"));
  EXPECT_THAT(error(npy("{'descr':", {1})), HasSubstr("x.npy: "));
}

}  // namespace
}  // namespace convlab
