// Tests shapes, tensors, element type conversion and memory layouts.

#include "convlab/tensor/tensor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/half.h"
#include "convlab/tensor/format.h"
#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr ElementType kAllTypes[] = {ElementType::f32, ElementType::f16, ElementType::f64, ElementType::u8,
                                     ElementType::i8,  ElementType::i32, ElementType::i64};

template <class T>
Tensor tensor_of(std::vector<T> values) {
  return Tensor::of<T>({static_cast<int64_t>(values.size())}, values);
}

TEST(Shape, CountsAndPrints) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  EXPECT_EQ(to_text({10000, 1, 28, 28}), "10000x1x28x28");
  EXPECT_EQ(to_text(Shape{}), "scalar");
}

TEST(Shape, NegativeAndOverflowingSizesAreErrors) {
  EXPECT_THAT(bad_input_message([] { element_count({2, -1}); }), HasSubstr("negative"));
  EXPECT_THAT(bad_input_message([] { element_count({INT64_MAX, 2}); }), HasSubstr("overflow"));
}

TEST(Tensor, IsAlignedAndOfTheSizeOfItsShape) {
  for (ElementType type : kAllTypes) {
    const Tensor tensor(type, {3, 5});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % 64, 0u);
    EXPECT_EQ(tensor.bytes(), 15 * size_of(type)) << name_of(type);
    EXPECT_FALSE(tensor.empty());
  }
}

TEST(Tensor, WithoutElementsIsStillATensor) {
  const Tensor none, zero(ElementType::f32, {0, 4});
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(zero.empty());
  EXPECT_EQ(zero.values<float>().size(), 0u);
  EXPECT_EQ(zero.clone().shape(), (Shape{0, 4}));
}

TEST(Tensor, DeferredElementsAreMadeOnceAndWhenTheyAreRead) {
  std::atomic<int> made = 0;
  const Tensor tensor = Tensor::deferred(ElementType::f32, {3}, [&] {
    ++made;
    return tensor_of<float>({1, 2, 3});
  });
  EXPECT_EQ(tensor.bytes(), 12u);
  EXPECT_FALSE(tensor.empty());
  Tensor copy = tensor.clone(), moved = std::move(copy).reshaped({1, 3});
  EXPECT_EQ(made, 0);
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] { EXPECT_THAT(tensor.values<float>(), ElementsAre(1, 2, 3)); });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(made, 1);
  EXPECT_THAT(moved.values<float>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(made, 2);
  moved.free_elements();
  EXPECT_TRUE(moved.empty());
}

TEST(Tensor, DeferredElementsOfAnotherNumberOrTypeAreErrors) {
  const Tensor longer = Tensor::deferred(ElementType::f32, {2}, [] { return tensor_of<float>({1, 2, 3}); });
  EXPECT_THAT(bad_input_message([&] { longer.raw(); }), HasSubstr("tensor of shape 2 must have 2 elements, got 3"));
  const Tensor other = Tensor::deferred(ElementType::f32, {1}, [] { return tensor_of<int8_t>({1}); });
  EXPECT_THAT(bad_input_message([&] { other.raw(); }), HasSubstr("expected a tensor of float32, got int8"));
}

TEST(Tensor, MemoryThatIsNotThereIsAnError) {
  EXPECT_THAT(bad_input_message([] { Tensor(ElementType::f64, {INT64_MAX / 4, 2}); }), HasSubstr("overflow"));
  EXPECT_THAT(bad_input_message([] { Tensor(ElementType::f64, {INT64_MAX / 16}); }), HasSubstr("not enough memory"));
}

TEST(Tensor, AccessByAnotherTypeIsAnError) {
  Tensor tensor(ElementType::f32, {2});
  EXPECT_THAT(bad_input_message([&] { tensor.values<double>(); }), HasSubstr("float32"));
}

TEST(Tensor, ValuesMustBeAsManyAsTheShapeSays) {
  EXPECT_THAT(bad_input_message([] {
                Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3});
              }),
              HasSubstr("must have 4 values, got 3"));
}

TEST(Tensor, AClonesElementsAreItsOwn) {
  Tensor tensor = tensor_of<float>({1, 2});
  Tensor copy = tensor.clone();
  copy.values<float>()[0] = 7;
  EXPECT_THAT(values_of<float>(tensor), ElementsAre(1, 2));
  EXPECT_THAT(values_of<float>(copy), ElementsAre(7, 2));
}

TEST(Tensor, IsReshapedToAsManyElementsOnly) {
  const Tensor tensor = tensor_of<float>({1, 2, 3, 4}).reshaped({2, 2});
  EXPECT_EQ(tensor.shape(), (Shape{2, 2}));
  EXPECT_THAT(values_of<float>(tensor), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(bad_input_message([] {
                tensor_of<float>({1, 2, 3, 4}).reshaped({3});
              }),
              HasSubstr("cannot reshape 4 to 3"));
}

TEST(Converted, IntegersFromFloatsTruncateAndSaturate) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor floats = tensor_of<float>({-1.9f, 1.9f, -1e30f, 1e30f, std::nanf(""), infinity, -infinity});
  EXPECT_THAT(values_of<uint8_t>(converted(floats, ElementType::u8)), ElementsAre(0, 1, 0, 255, 0, 255, 0));
  EXPECT_THAT(values_of<int8_t>(converted(floats, ElementType::i8)), ElementsAre(-1, 1, -128, 127, 0, 127, -128));
  EXPECT_THAT(values_of<int32_t>(converted(floats, ElementType::i32)),
              ElementsAre(-1, 1, INT32_MIN, INT32_MAX, 0, INT32_MAX, INT32_MIN));
  EXPECT_THAT(values_of<int64_t>(converted(floats, ElementType::i64)),
              ElementsAre(-1, 1, INT64_MIN, INT64_MAX, 0, INT64_MAX, INT64_MIN));
}

TEST(Converted, HalvesRoundToNearestEvenAndComeBack) {
  const Tensor floats = tensor_of<float>({1.0f, 1.0f + 0x1p-11f, -2.5f, 1e6f});
  const Tensor halves = converted(floats, ElementType::f16);
  EXPECT_THAT(values_of<uint16_t>(halves), ElementsAre(0x3c00, 0x3c00, 0xc100, 0x7c00));
  EXPECT_THAT(values_of<float>(converted(halves, ElementType::f32)),
              ElementsAre(1.0f, 1.0f, -2.5f, std::numeric_limits<float>::infinity()));
  EXPECT_THAT(values_of<int32_t>(converted(halves, ElementType::i32)), ElementsAre(1, 1, -2, INT32_MAX));
}

TEST(Converted, EveryPairOfTypesKeepsSmallIntegers) {
  const Tensor numbers = tensor_of<uint8_t>({0, 1, 2, 127});
  for (ElementType from : kAllTypes) {
    for (ElementType to : kAllTypes) {
      const Tensor back = converted(converted(converted(numbers, from), to), ElementType::u8);
      EXPECT_THAT(values_of<uint8_t>(back), ElementsAre(0, 1, 2, 127)) << name_of(from) << " to " << name_of(to);
    }
  }
}

}  // namespace
TEST(Format, BlocksOfChannelsAreRoundedUpToFourAndImagesTo128Bytes) {
  EXPECT_EQ(element_count({7, 12, 33, 33}, kNchw8cF16), 7 * 13120);  // 13068 = 12 * 1089, plus 52 zeros
  EXPECT_EQ(element_count({7, 9, 4, 4}, kNchw8cF16), 7 * 192);       // 12 channels of 16 pixels, 3 channels are padding
  EXPECT_EQ(element_count({7, 3}, kNchw8cF16), 7 * 64);
  EXPECT_EQ(byte_count({7, 12, 33, 33}, kNchw8cF16), 2 * 7 * 13120);
}

TEST(ChannelBlocks, HoldEachPixelsChannelsTogether) {
  Tensor images(ElementType::f32, {2, 10, 3, 1});  // blocks of 8 and 4 channels; the last 2 channels are padding
  for (int i = 0; i < 60; ++i) images.values<float>()[i] = static_cast<float>(i + 1);
  const Tensor blocks = pack(images, kNchw8cF16);
  ASSERT_EQ(blocks.type(), ElementType::f16);
  ASSERT_EQ(blocks.count(), 128);
  const auto at = [&](int element) { return half_to_float(blocks.values<uint16_t>()[element]); };
  EXPECT_EQ(at(0), 1);    // channel 0, pixel 0
  EXPECT_EQ(at(7), 22);   // channel 7
  EXPECT_EQ(at(8), 2);    // channel 0, pixel 1
  EXPECT_EQ(at(24), 25);  // channel 8, pixel 0
  EXPECT_EQ(at(25), 28);  // channel 9
  EXPECT_EQ(at(26), 0);   // channel padding
  EXPECT_EQ(at(28), 26);  // channel 8, pixel 1
  EXPECT_EQ(at(36), 0);   // padding after the image
  EXPECT_EQ(at(64), 31);  // the second image
  const std::vector<float> back = unpack(blocks.raw(), images.shape(), kNchw8cF16);
  EXPECT_TRUE(std::ranges::equal(back, images.values<float>()));
}

TEST(ChannelBlocks, WhatBelongsToNoChannelMustBeZero) {
  Tensor blocks = pack(Tensor::of<float>({1, 3, 1, 1}, std::vector<float>(3)), kNchw8cF16);
  const auto message = [&] {
    try {
      unpack(blocks.raw(), {1, 3, 1, 1}, kNchw8cF16);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(), "");
  blocks.values<uint16_t>()[3] = float_to_half(2);
  EXPECT_EQ(message(), "padding element 3 of an nchw8c float16 array must be 0, got 2");
  blocks.values<uint16_t>()[3] = 0;
  blocks.values<uint16_t>()[63] = float_to_half(1);
  EXPECT_THAT(message(), testing::StartsWith("padding element 63 "));
}

TEST(Format, PairsHaveAnEvenNumberOfChannels) {
  EXPECT_EQ(byte_count({17, 3, 5}, kNchw16n2cBf16), 2 * 32 * 4 * 5);
  EXPECT_EQ(byte_count({17, 3, 5}, kNchw16n2cBf16x2), 2 * 2 * 32 * 4 * 5);
  EXPECT_EQ(byte_count({16, 10}, kNchw16n2cBf16), 2 * 16 * 10);
}

TEST(Format, PairsComeBackAndRefuseWhatLiesInNoChannel) {
  Tensor images(ElementType::f32, {18, 3, 2, 2});
  for (int64_t i = 0; i < images.count(); ++i) {
    images.values<float>()[static_cast<size_t>(i)] = 1 + static_cast<float>(i) * 0x1p-9f;
  }
  const auto back = [&](Format format) {
    const Tensor pairs = pack(images, format);
    return unpack(pairs.raw(), images.shape(), format);
  };
  const std::vector<float> split = back(kNchw16n2cBf16x2), nearest = back(kNchw16n2cBf16);
  for (size_t i = 0; i < split.size(); ++i) {
    EXPECT_EQ(split[i], images.values<float>()[i]) << i;
    EXPECT_LE(std::abs(nearest[i] - split[i]), 0x1p-8f * split[i]) << i;
  }
  Tensor pairs = pack(images, kNchw16n2cBf16);
  // Channels 0 and 1 of one pixel for 16 images, then channel 2 and a padding channel.
  EXPECT_EQ(pairs.values<uint16_t>()[0], 0x3f80);
  EXPECT_EQ(pairs.values<uint16_t>()[33], 0);
  pairs.values<uint16_t>()[33] = 1;
  EXPECT_THROW(unpack(pairs.raw(), images.shape(), kNchw16n2cBf16), Error);
}

TEST(Format, LanesAreFilledUpToSixteenImages) {
  EXPECT_EQ(byte_count({17, 3, 5}, kNchw16n), 4 * 32 * 15);
  EXPECT_EQ(byte_count({17, 3, 5}, kRawPixels), 17 * 15);
}

TEST(Format, ImagesInLanesStandSideBySideAndComeBack) {
  Tensor images(ElementType::f32, {18, 3, 2});
  std::iota(images.values<float>().begin(), images.values<float>().end(), 0.0f);
  const Tensor lanes = pack(images, kNchw16n);
  EXPECT_EQ(lanes.count(), 32 * 6);
  const std::span<const float> values = lanes.values<float>();
  EXPECT_EQ(values[0], 0) << "the first element of the first image";
  EXPECT_EQ(values[1], 6) << "the first element of the second image";
  EXPECT_EQ(values[16], 1) << "the second element of the first image";
  EXPECT_EQ(values[16 * 6 + 1], 17 * 6) << "the first element of the last image, in the second block";
  EXPECT_TRUE(std::isnan(values[16 * 6 + 2])) << "there is no 19th image";
  EXPECT_THAT(unpack(values.data(), images.shape(), kNchw16n), testing::ElementsAreArray(images.values<float>()));
}

TEST(TensorSharing, ClonesHaveTheSameElementsUntilOneIsWritten) {
  Tensor tensor = tensor_of<float>({1, 2, 3});
  EXPECT_TRUE(tensor.share_elements());
  const Tensor reads = tensor.clone();
  Tensor writes = reads.clone();
  EXPECT_EQ(reads.raw(), std::as_const(tensor).raw());
  EXPECT_EQ(std::as_const(writes).raw(), reads.raw());
  writes.values<float>()[1] = 5;
  tensor.values<float>()[2] = 7;
  EXPECT_THAT(writes.values<float>(), ElementsAre(1, 5, 3));
  EXPECT_THAT(tensor.values<float>(), ElementsAre(1, 2, 7));
  EXPECT_THAT(reads.values<float>(), ElementsAre(1, 2, 3));
  const void* const own = std::as_const(writes).raw();
  EXPECT_EQ(writes.raw(), own) << "they are copied once";
}

TEST(TensorSharing, WhatOneGivesUpTheOthersKeep) {
  Tensor tensor = tensor_of<float>({1, 2});
  tensor.share_elements();
  const Tensor copy = tensor.clone();
  tensor.free_elements();
  EXPECT_TRUE(tensor.empty());
  EXPECT_THAT(copy.values<float>(), ElementsAre(1, 2));
}

TEST(TensorSharing, LeavesAloneWhatIsNotMadeYet) {
  Tensor tensor = Tensor::deferred(ElementType::f32, {1}, []() -> Tensor { throw bad_input("it is made"); });
  EXPECT_FALSE(tensor.share_elements());
  EXPECT_FALSE(Tensor().share_elements());
}

}  // namespace convlab
