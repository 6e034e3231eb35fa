// Tests image resizing against checksums of scikit-image's results, from tests/tools/make_resize_checksums.py.

#include <gmock/gmock.h>
#include <zlib.h>

#include <fstream>
#include <sstream>

#include "convlab/base/rng.h"
#include "convlab/dataset/fashion_mnist.h"
#include "convlab/dataset/resize.h"
#include "convlab/device/thread_pool.h"
#include "tests/support/paths.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

uint32_t checksum(const Tensor& images) {
  return static_cast<uint32_t>(crc32(0, static_cast<const Bytef*>(images.raw()), static_cast<uInt>(images.bytes())));
}

TEST(Resize, NoiseOfAllShapesEqualsScikitImage) {
  std::ifstream file(source_folder() / "tests/data/resize_noise_checksums.txt");
  ThreadPool threads(2);
  int64_t rows = 0, columns = 0, least = 0, side = 0;
  uint32_t wanted = 0;
  int lines = 0;
  while (file >> std::dec >> rows >> columns >> least >> side >> std::hex >> wanted) {
    Tensor noise(ElementType::u8, {100, 1, rows, columns});
    Rng rng(1);
    for (uint8_t& pixel : noise.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(least, 255));
    EXPECT_EQ(checksum(resized(noise, side, threads)), wanted)
        << rows << "x" << columns << ", pixels from " << least << ", to " << side;
    ++lines;
  }
  EXPECT_TRUE(file.eof());
  EXPECT_GE(lines, 30);
}

TEST(Resize, AllTestImagesEqualScikitImage) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    GTEST_SKIP() << "Fashion-MNIST is not installed; apt install dataset-fashion-mnist";
  }
  const Tensor images = load_fashion_mnist(Split::test).images;
  std::ifstream file(source_folder() / "tests/data/resize_checksums.txt");
  ThreadPool threads;
  int64_t side = 0;
  uint32_t wanted = 0;
  int lines = 0;
  while (file >> std::dec >> side >> std::hex >> wanted) {
    EXPECT_EQ(checksum(resized(images, side, threads)), wanted) << "side " << side;
    ++lines;
  }
  EXPECT_TRUE(file.eof());
  EXPECT_GE(lines, 12);
}

TEST(Resize, ChannelsAreMapsByThemselves) {
  Tensor images(ElementType::u8, {2, 3, 6, 6});
  Rng rng(7);
  for (uint8_t& pixel : images.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(0, 255));
  ThreadPool threads(1);
  const Tensor by_channels = resized(images, 9, threads);
  EXPECT_EQ(by_channels.shape(), (Shape{2, 3, 9, 9}));
  const Tensor by_images = resized(std::move(images).reshaped({6, 1, 6, 6}), 9, threads);
  EXPECT_EQ(checksum(by_channels), checksum(by_images));
}

TEST(Resize, TheNumberOfThreadsChangesNothing) {
  Tensor images(ElementType::u8, {300, 1, 28, 28});
  Rng rng(8);
  for (uint8_t& pixel : images.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(0, 255));
  ThreadPool one(1), five(5);
  EXPECT_EQ(checksum(resized(images, 33, one)), checksum(resized(images, 33, five)));
}

TEST(Resize, WrongArgumentsAreErrors) {
  ThreadPool threads(1);
  const Tensor image(ElementType::u8, {1, 1, 28, 28});
  EXPECT_THAT(bad_input_message([&] { resized(image, 0, threads); }), HasSubstr("got 0"));
  EXPECT_THAT(bad_input_message([&] { resized(image, kMostSide + 1, threads); }), HasSubstr("between 1 and 4096"));
  EXPECT_THAT(bad_input_message([&] { resized(Tensor(ElementType::u8, {28, 28}), 4, threads); }), HasSubstr("28x28"));
  EXPECT_THAT(bad_input_message([&] {
                resized(Tensor(ElementType::f32, {1, 1, 2, 2}), 4, threads);
              }),
              HasSubstr("float32"));
}

TEST(Resize, AResultLargerThanMemoryIsAnErrorBeforeMemoryIsTaken) {
  ThreadPool threads(1);
  const Tensor images(ElementType::u8, {1'000'000, 1, 1, 1});
  EXPECT_THAT(bad_input_message([&] { resized(images, kMostSide, threads); }), HasSubstr("bytes of memory"));
}

}  // namespace
}  // namespace convlab
