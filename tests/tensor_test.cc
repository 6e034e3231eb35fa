#include "convlab/tensor/tensor.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "convlab/base/half.h"
#include "tests/errors.h"

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

TEST(Tensor, MemoryThatIsNotThereIsAnError) {
  EXPECT_THAT(bad_input_message([] { Tensor(ElementType::f64, {INT64_MAX / 4, 2}); }), HasSubstr("overflow"));
  EXPECT_THAT(bad_input_message([] { Tensor(ElementType::f64, {INT64_MAX / 16}); }), HasSubstr("not to be had"));
}

TEST(Tensor, AccessByAnotherTypeIsAnError) {
  Tensor tensor(ElementType::f32, {2});
  EXPECT_THAT(bad_input_message([&] { tensor.values<double>(); }), HasSubstr("float32"));
}

TEST(Tensor, ValuesMustBeAsManyAsTheShapeSays) {
  EXPECT_THAT(bad_input_message([] { Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3}); }), HasSubstr("3 values"));
}

TEST(Tensor, AClonesElementsAreItsOwn) {
  Tensor tensor = tensor_of<float>({1, 2});
  Tensor copy = tensor.clone();
  copy.values<float>()[0] = 7;
  EXPECT_THAT(tensor.values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(copy.values<float>(), ElementsAre(7, 2));
}

TEST(Tensor, IsReshapedToAsManyElementsOnly) {
  const Tensor tensor = tensor_of<float>({1, 2, 3, 4}).reshaped({2, 2});
  EXPECT_EQ(tensor.shape(), (Shape{2, 2}));
  EXPECT_THAT(tensor.values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(bad_input_message([] { tensor_of<float>({1, 2, 3, 4}).reshaped({3}); }), HasSubstr("cannot become 3"));
}

TEST(Converted, IntegersFromFloatsTruncateAndSaturate) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor floats = tensor_of<float>({-1.9f, 1.9f, -1e30f, 1e30f, std::nanf(""), infinity, -infinity});
  EXPECT_THAT(converted(floats, ElementType::u8).values<uint8_t>(), ElementsAre(0, 1, 0, 255, 0, 255, 0));
  EXPECT_THAT(converted(floats, ElementType::i8).values<int8_t>(), ElementsAre(-1, 1, -128, 127, 0, 127, -128));
  EXPECT_THAT(converted(floats, ElementType::i32).values<int32_t>(),
              ElementsAre(-1, 1, INT32_MIN, INT32_MAX, 0, INT32_MAX, INT32_MIN));
  EXPECT_THAT(converted(floats, ElementType::i64).values<int64_t>(),
              ElementsAre(-1, 1, INT64_MIN, INT64_MAX, 0, INT64_MAX, INT64_MIN));
}

TEST(Converted, HalvesRoundToNearestEvenAndComeBack) {
  const Tensor floats = tensor_of<float>({1.0f, 1.0f + 0x1p-11f, -2.5f, 1e6f});
  const Tensor halves = converted(floats, ElementType::f16);
  EXPECT_THAT(halves.values<uint16_t>(), ElementsAre(0x3c00, 0x3c00, 0xc100, 0x7c00));
  EXPECT_THAT(converted(halves, ElementType::f32).values<float>(),
              ElementsAre(1.0f, 1.0f, -2.5f, std::numeric_limits<float>::infinity()));
  EXPECT_THAT(converted(halves, ElementType::i32).values<int32_t>(), ElementsAre(1, 1, -2, INT32_MAX));
}

TEST(Converted, EveryPairOfTypesKeepsSmallIntegers) {
  const Tensor numbers = tensor_of<uint8_t>({0, 1, 2, 127});
  for (ElementType from : kAllTypes) {
    for (ElementType to : kAllTypes) {
      const Tensor back = converted(converted(converted(numbers, from), to), ElementType::u8);
      EXPECT_THAT(back.values<uint8_t>(), ElementsAre(0, 1, 2, 127)) << name_of(from) << " to " << name_of(to);
    }
  }
}

}  // namespace
}  // namespace convlab
