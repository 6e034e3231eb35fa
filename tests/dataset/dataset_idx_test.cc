// Tests parsing of idx files, plain and gzipped, with truncated and damaged input.

#include <gmock/gmock.h>

#include "convlab/dataset/idx.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const Bytes kPixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::string images_error(const Bytes& bytes) {
  return bad_input_message([&] { parse_idx_images(bytes, "images.gz"); });
}

std::string labels_error(const Bytes& bytes) {
  return bad_input_message([&] { parse_idx_labels(bytes, "labels.gz", 10); });
}

TEST(Idx, ImagesComePlainAndGzipped) {
  const Bytes plain = idx({kIdxImages, 2, 2, 3}, kPixels);
  for (const Bytes& bytes : {plain, gzip(plain)}) {
    const Tensor images = parse_idx_images(bytes, "images");
    EXPECT_EQ(images.shape(), (Shape{2, 1, 2, 3}));
    EXPECT_THAT(values_of<uint8_t>(images), testing::ElementsAreArray(kPixels));
  }
}

TEST(Idx, LabelsComePlainAndGzipped) {
  const Bytes plain = idx({kIdxLabels, 3}, Bytes{0, 9, 4});
  for (const Bytes& bytes : {plain, gzip(plain)}) {
    EXPECT_THAT(parse_idx_labels(bytes, "labels", 10), ElementsAre(0, 9, 4));
  }
}

TEST(Idx, EveryTruncationIsAnErrorThatNamesFileAndByte) {
  const Bytes plain = idx({kIdxImages, 2, 2, 3}, kPixels), packed = gzip(plain);
  for (const Bytes& whole : {plain, packed}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      EXPECT_THAT(images_error(part), AllOf(HasSubstr("images.gz: "),
                                            testing::AnyOf(HasSubstr("truncated"), HasSubstr("more than the file"))))
          << size << " bytes of " << whole.size();
    }
  }
  EXPECT_THAT(images_error(Bytes(packed.begin(), packed.begin() + 15)), HasSubstr("truncated gzip data at byte 15"));
}

TEST(Idx, DamagedGzipIsAnError) {
  const Bytes packed = gzip(idx({kIdxImages, 2, 2, 3}, kPixels));
  Bytes crc = packed, length = packed, body = packed, method = packed;
  crc[crc.size() - 8] ^= 1;
  EXPECT_THAT(images_error(crc), AllOf(HasSubstr("images.gz"), HasSubstr("byte"), HasSubstr("data check")));
  length[length.size() - 4] ^= 1;
  EXPECT_THAT(images_error(length), HasSubstr("length check"));
  body[10] |= 6;  // the reserved block type
  EXPECT_THAT(images_error(body), HasSubstr("corrupt gzip data at byte"));
  method[2] = 7;
  EXPECT_THAT(images_error(method), HasSubstr("corrupt gzip data at byte"));
}

TEST(Idx, NoFlippedBitOfGzipDataPassesUnnoticed) {
  const Bytes plain = idx({kIdxImages, 2, 2, 3}, kPixels);
  const Bytes packed = gzip(plain);
  constexpr size_t kHeaderBytes = 10;  // its timestamp and system fields may have any value
  for (size_t bit = 8 * kHeaderBytes; bit < 8 * packed.size(); ++bit) {
    Bytes damaged = packed;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    try {
      // A flip in the padding bits after the last block may go undetected; then the pixels must be right.
      EXPECT_THAT(values_of<uint8_t>(parse_idx_images(damaged, "images")), testing::ElementsAreArray(kPixels)) << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    }
  }
}

TEST(Idx, AnotherMagicIsAnErrorThatSaysWhatItIs) {
  EXPECT_THAT(images_error(idx({0x802, 2, 2, 3}, kPixels)),
              AllOf(HasSubstr("0x00000802"), HasSubstr("0x00000803 (idx images)")));
  EXPECT_THAT(images_error(idx({kIdxLabels, 3}, Bytes{1, 2, 3})), HasSubstr("0x00000801 (idx labels)"));
  EXPECT_THAT(labels_error(idx({kIdxImages, 2, 2, 3}, kPixels)), HasSubstr("0x00000803 (idx images)"));
}

TEST(Idx, DimensionsMustAgreeWithTheBytes) {
  EXPECT_THAT(images_error(idx({kIdxImages, 2, 2, 4}, kPixels)), HasSubstr("16 bytes, more than the file can hold"));
  EXPECT_THAT(images_error(gzip(idx({kIdxImages, 2, 2, 4}, kPixels))),
              HasSubstr("expected 16 bytes for the pixels at byte 16, got 12"));
  EXPECT_THAT(images_error(idx({kIdxImages, 2, 2, 2}, kPixels)), HasSubstr("unexpected data after byte 24"));
  EXPECT_THAT(images_error(gzip(idx({kIdxImages, 2, 2, 2}, kPixels))), HasSubstr("unexpected data after byte 24"));
  EXPECT_THAT(labels_error(gzip(idx({kIdxLabels, 2}, Bytes{1, 2, 3}))), HasSubstr("unexpected data after byte 10"));
}

TEST(Idx, EmptyDimensionsAreErrors) {
  EXPECT_THAT(images_error(idx({kIdxImages, 0, 2, 3}, {})),
              HasSubstr("number of images in the header must be between 1 and 2147483647, got 0"));
  EXPECT_THAT(images_error(idx({kIdxImages, 2, 0, 3}, {})),
              HasSubstr("number of rows in the header must be between 1 and 2147483647, got 0"));
  EXPECT_THAT(images_error(idx({kIdxImages, 2, 2, 0}, {})),
              HasSubstr("number of columns in the header must be between 1 and 2147483647, got 0"));
  EXPECT_THAT(labels_error(idx({kIdxLabels, 0}, {})),
              HasSubstr("number of labels in the header must be between 1 and 2147483647, got 0"));
}

TEST(Idx, HugeHeadersAreErrorsBeforeMemoryIsTaken) {
  const uint32_t most = INT32_MAX;
  for (const Bytes& bytes : {idx({kIdxImages, most, most, most}, kPixels), idx({kIdxImages, most, most, 1}, kPixels),
                             idx({kIdxImages, 1, 1, most}, kPixels)}) {
    EXPECT_THAT(images_error(bytes), HasSubstr("more than the file can hold"));
    EXPECT_THAT(images_error(gzip(bytes)), HasSubstr("more than the file can hold"));
  }
  EXPECT_THAT(images_error(idx({kIdxImages, 1, UINT32_MAX, 1}, kPixels)),
              HasSubstr("rows in the header must be between 1 and 2147483647, got 4294967295"));
  EXPECT_THAT(labels_error(gzip(idx({kIdxLabels, most}, kPixels))), HasSubstr("more than the file can hold"));
}

TEST(Idx, GzipThatInflatesBeyondTheHeaderIsAnError) {
  // A decompression bomb: 10 MB of zeros after a header for twelve pixels. Nothing after the pixels may be inflated.
  EXPECT_THAT(images_error(gzip(idx({kIdxImages, 2, 2, 3}, Bytes(10'000'000)))),
              HasSubstr("unexpected data after byte 28"));
}

TEST(Idx, BytesAfterTheGzipDataAreAnError) {
  Bytes packed = gzip(idx({kIdxImages, 2, 2, 3}, kPixels));
  const size_t size = packed.size();
  packed.push_back(0);
  EXPECT_THAT(images_error(packed),
              HasSubstr("1 unexpected bytes after the gzip data, which ends at byte " + std::to_string(size)));
}

TEST(Idx, LabelsOutOfRangeAreErrorsThatNameTheByte) {
  EXPECT_THAT(labels_error(gzip(idx({kIdxLabels, 3}, Bytes{9, 10, 0}))),
              AllOf(HasSubstr("labels.gz"), HasSubstr("the label at byte 9 must be between 0 and 9, got 10")));
}

}  // namespace
}  // namespace convlab
