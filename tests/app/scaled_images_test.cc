// Tests scaling of data set images, at once or on demand.

#include "app/runs/scaled_images.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convlab/base/rng.h"
#include "convlab/dataset/resize.h"

namespace convlab::app {
namespace {

Tensor random_images(int64_t count) {
  Tensor images(ElementType::u8, {count, 1, 28, 28});
  Rng rng(7);
  for (uint8_t& pixel : images.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(0, 255));
  return images;
}

/// Whether images `first` to first + n equal what resized() computes from the same originals.
bool right(ScaledImages& images, const Tensor& originals, int64_t side, int64_t first, int64_t n) {
  const std::span<const uint8_t> some = originals.values<uint8_t>().subspan(first * 784, n * 784);
  ThreadPool threads(1);
  const Tensor scaled = resized(Tensor::of<uint8_t>({n, 1, 28, 28}, some), side, threads);
  const auto expected = scaled.values<uint8_t>();
  return std::equal(expected.begin(), expected.end(), images.from(first, n));
}

TEST(ScaledImages, FewAreScaledAtOnce) {
  const Tensor originals = random_images(20);
  ScaledImages images(originals.clone(), 70, 2, false);
  EXPECT_TRUE(images.ready());
  EXPECT_EQ(images.shape(), (Shape{20, 1, 70, 70}));
  EXPECT_TRUE(right(images, originals, 70, 0, 20));
  EXPECT_TRUE(right(images, originals, 70, 19, 1));
}

TEST(ScaledImages, ManyAreScaledWhenAskedFor) {
  const Tensor originals = random_images(14000);
  ScaledImages images(originals.clone(), 70, 2, false);
  EXPECT_FALSE(images.ready()) << "they would take 69 MB";
  EXPECT_EQ(images.shape(), (Shape{14000, 1, 70, 70}));
  EXPECT_TRUE(right(images, originals, 70, 0, 100));
  EXPECT_TRUE(right(images, originals, 70, 13000, 1000));
  EXPECT_TRUE(right(images, originals, 70, 7, 1));

  ScaledImages all(originals.clone(), 70, 2, true);
  EXPECT_TRUE(all.ready());
  EXPECT_TRUE(right(all, originals, 70, 13999, 1));
}

TEST(ScaledImages, WhatHasTheSizeStaysAsItIs) {
  const Tensor originals = random_images(100000);
  ScaledImages images(originals.clone(), 28, 1, false);
  EXPECT_TRUE(images.ready());
  EXPECT_TRUE(right(images, originals, 28, 99998, 2));
}

}  // namespace
}  // namespace convlab::app
