// Tests loading Fashion-MNIST, from small synthetic files and, if installed, the real ones.

#include <gmock/gmock.h>

#include <algorithm>

#include "convlab/base/file.h"
#include "convlab/dataset/fashion_mnist.h"
#include "tests/support/idx_bytes.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kImages = 3;

/// A folder with a tiny test split, whose files a test may damage.
class FashionMnist : public testing::Test {
 protected:
  FashionMnist() {
    for (size_t i = 0; i < pixels_.size(); ++i) pixels_[i] = static_cast<uint8_t>(i % 251);
    write("t10k-images-idx3-ubyte.gz", gzip(idx({kIdxImages, kImages, 28, 28}, pixels_)));
    write("t10k-labels-idx1-ubyte.gz", gzip(idx({kIdxLabels, kImages}, Bytes{9, 0, 5})));
  }
  void write(const char* name, const Bytes& bytes) const { write_file(folder_.path() / name, bytes); }
  void remove(const char* name) const { std::filesystem::remove(folder_.path() / name); }
  std::string load_error() const {
    return bad_input_message([&] { load_fashion_mnist(Split::test, folder_.path()); });
  }

  TemporaryFolder folder_;
  Bytes pixels_ = Bytes(kImages * 28 * 28);
};

TEST_F(FashionMnist, LoadsImagesAndLabels) {
  const Dataset data = load_fashion_mnist(Split::test, folder_.path());
  EXPECT_EQ(data.images.shape(), (Shape{3, 1, 28, 28}));
  EXPECT_TRUE(std::ranges::equal(data.images.values<uint8_t>(), pixels_));
  EXPECT_THAT(data.labels, ElementsAre(9, 0, 5));
}

TEST_F(FashionMnist, LoadsTheFirstImagesAlone) {
  const Dataset data = load_fashion_mnist(Split::test, folder_.path(), 2);
  EXPECT_EQ(data.images.shape(), (Shape{2, 1, 28, 28}));
  EXPECT_TRUE(std::ranges::equal(data.images.values<uint8_t>(), std::span(pixels_).first(2 * 28 * 28)));
  EXPECT_THAT(data.labels, ElementsAre(9, 0));
  EXPECT_EQ(load_fashion_mnist(Split::test, folder_.path(), 100).labels.size(), 3u);
}

TEST_F(FashionMnist, IsRepeated) {
  const Dataset data = load_fashion_mnist(Split::test, folder_.path(), 2), thrice = part_of_copies(data, 0, 6);
  EXPECT_EQ(thrice.images.shape(), (Shape{6, 1, 28, 28}));
  EXPECT_THAT(thrice.labels, ElementsAre(9, 0, 9, 0, 9, 0));
  const Dataset some = part_of_copies(data, 3, 2);
  EXPECT_THAT(some.labels, ElementsAre(0, 9));
  EXPECT_TRUE(
      std::ranges::equal(some.images.values<uint8_t>(), thrice.images.values<uint8_t>().subspan(3 * 784, 2 * 784)));
  EXPECT_EQ(part_of_copies(data, 5, 0).images.shape()[0], 0);
  const std::span<const uint8_t> pixels = data.images.values<uint8_t>(), all = thrice.images.values<uint8_t>();
  for (size_t copy = 0; copy < 3; ++copy) {
    EXPECT_TRUE(std::ranges::equal(all.subspan(copy * pixels.size(), pixels.size()), pixels));
  }
}

TEST_F(FashionMnist, TakesFilesThatAreNotGzipped) {
  remove("t10k-images-idx3-ubyte.gz");
  write("t10k-images-idx3-ubyte", idx({kIdxImages, kImages, 28, 28}, pixels_));
  EXPECT_EQ(load_fashion_mnist(Split::test, folder_.path()).images.shape()[0], 3);
}

TEST_F(FashionMnist, TheTrainSplitHasFilesOfItsOwn) {
  EXPECT_THAT(bad_input_message([&] { load_fashion_mnist(Split::train, folder_.path()); }),
              HasSubstr("cannot find train-images-idx3-ubyte.gz"));
  write("train-images-idx3-ubyte.gz", gzip(idx({kIdxImages, 1, 28, 28}, Bytes(28 * 28))));
  write("train-labels-idx1-ubyte.gz", gzip(idx({kIdxLabels, 1}, Bytes{7})));
  EXPECT_THAT(load_fashion_mnist(Split::train, folder_.path()).labels, ElementsAre(7));
}

TEST_F(FashionMnist, AMissingFileIsNamedWithWhatToDo) {
  remove("t10k-labels-idx1-ubyte.gz");
  EXPECT_THAT(load_error(), AllOf(HasSubstr(folder_.path().string()), HasSubstr("t10k-labels-idx1-ubyte.gz"),
                                  HasSubstr("apt install dataset-fashion-mnist")));
}

TEST_F(FashionMnist, AFileThatIsAFolderIsAnError) {
  remove("t10k-labels-idx1-ubyte.gz");
  std::filesystem::create_directory(folder_.path() / "t10k-labels-idx1-ubyte.gz");
  EXPECT_THAT(load_error(), AllOf(HasSubstr("t10k-labels-idx1-ubyte.gz"), HasSubstr("is a directory")));
}

TEST_F(FashionMnist, CountsOfImagesAndLabelsMustAgree) {
  write("t10k-labels-idx1-ubyte.gz", gzip(idx({kIdxLabels, 4}, Bytes{9, 0, 5, 1})));
  EXPECT_THAT(load_error(), AllOf(HasSubstr("4 labels"), HasSubstr("3 images")));
}

TEST_F(FashionMnist, ImagesMustBe28By28) {
  write("t10k-images-idx3-ubyte.gz", gzip(idx({kIdxImages, kImages, 14, 56}, pixels_)));
  EXPECT_THAT(load_error(), AllOf(HasSubstr("t10k-images-idx3-ubyte.gz"),
                                  HasSubstr("expected Fashion-MNIST images of 28x28 pixels, got 14x56")));
}

TEST_F(FashionMnist, WhatIsWrongInAFileNamesItsPath) {
  write("t10k-labels-idx1-ubyte.gz", gzip(idx({kIdxLabels, 3}, Bytes{9, 0, 17})));
  EXPECT_THAT(load_error(), AllOf(HasSubstr((folder_.path() / "t10k-labels-idx1-ubyte.gz").string()),
                                  HasSubstr("the label at byte 10 must be between 0 and 9, got 17")));
}

TEST_F(FashionMnist, EvenTheFirstImageIsRefusedFromADamagedFile) {
  Bytes packed = gzip(idx({kIdxImages, kImages, 28, 28}, pixels_));
  packed.resize(packed.size() - 3);
  write("t10k-images-idx3-ubyte.gz", packed);
  EXPECT_THAT(bad_input_message([&] { load_fashion_mnist(Split::test, folder_.path(), 1); }), HasSubstr("truncated"));
}

TEST(FashionMnistSplit, IsTestOrTrain) {
  EXPECT_EQ(parse_split("test"), Split::test);
  EXPECT_EQ(parse_split("train"), Split::train);
  EXPECT_THAT(bad_input_message([] { parse_split("tests"); }), HasSubstr("'tests'"));
}

TEST(FashionMnistInstalled, HasTheCountsThatItIsKnownFor) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    GTEST_SKIP() << "Fashion-MNIST is not installed; apt install dataset-fashion-mnist";
  }
  for (const auto& [split, count] : {std::pair(Split::test, 10000), std::pair(Split::train, 60000)}) {
    const Dataset data = load_fashion_mnist(split);
    EXPECT_EQ(data.images.shape(), (Shape{count, 1, 28, 28}));
    for (int label = 0; label < 10; ++label) EXPECT_EQ(std::ranges::count(data.labels, label), count / 10) << label;
  }
  // The first test image is an ankle boot (Fashion-MNIST's README).
  EXPECT_EQ(kFashionMnistClasses[load_fashion_mnist(Split::test, {}, 1).labels[0]], "Ankle boot");
}

}  // namespace
}  // namespace convlab
