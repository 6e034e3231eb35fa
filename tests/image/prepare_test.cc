// Tests resizing, cropping and normalizing images for a network.

#include "convlab/image/prepare_image.h"

#include <gmock/gmock.h>

#include "convlab/base/rng.h"
#include "tests/support/tensor_values.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// An image of this size whose pixel at (y, x) is {y, x, 7}.
Tensor coordinates(int64_t height, int64_t width) {
  Tensor picture(ElementType::u8, {height, width, 3});
  uint8_t* to = picture.values<uint8_t>().data();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      *to++ = static_cast<uint8_t>(y);
      *to++ = static_cast<uint8_t>(x);
      *to++ = 7;
    }
  }
  return picture;
}

Tensor prepared(int64_t height, int64_t width, const Preparation& preparation) {
  return prepared(coordinates(height, width), preparation, "cat");
}

TEST(Prepare, TheShortSideIsGivenAndTheLongOneRoundedDown) {
  const Preparation to_256{.resize = Extent{256}};
  EXPECT_EQ(prepared(401, 533, to_256).shape(), (Shape{256, 340, 3}));
  EXPECT_EQ(prepared(533, 401, to_256).shape(), (Shape{340, 256, 3}));
  EXPECT_EQ(prepared(10, 10, to_256).shape(), (Shape{256, 256, 3}));
  EXPECT_EQ(prepared(10, 20, {.resize = Extent{7, 3}}).shape(), (Shape{7, 3, 3}));
}

TEST(Prepare, ACropIsFromTheMiddleAndHalvesGoToTheEvenPixel) {
  const auto corner = [](int64_t height, int64_t width, int64_t crop) {
    const auto values = values_of<uint8_t>(prepared(height, width, {.crop = Extent{crop}}));
    return std::pair(int{values[0]}, int{values[1]});
  };
  EXPECT_EQ(corner(10, 14, 4), std::pair(3, 5));
  EXPECT_EQ(corner(9, 11, 4), std::pair(2, 4)) << "2.5 and 3.5";
  EXPECT_EQ(corner(5, 7, 4), std::pair(0, 2)) << "0.5 and 1.5";
}

TEST(Prepare, AroundASmallerPictureACropIsBlack) {
  const Tensor picture = prepared(1, 2, {.channels = Channels::bgr, .crop = Extent{3, 5}});
  EXPECT_EQ(picture.shape(), (Shape{3, 5, 3}));
  const auto values = values_of<uint8_t>(picture);
  for (size_t i = 0; i < values.size(); i += 3) EXPECT_EQ(values[i], i / 3 == 6 || i / 3 == 7 ? 7 : 0) << i;
}

TEST(Prepare, Channels) {
  Tensor picture(ElementType::u8, {1, 1, 3});
  const auto with = [&](Channels channels) {
    const uint8_t color[] = {10, 100, 200};
    std::copy(std::begin(color), std::end(color), picture.values<uint8_t>().begin());
    return values_of<uint8_t>(prepared(picture.clone(), {.channels = channels}, "cat"));
  };
  EXPECT_THAT(with(Channels::rgb), ElementsAre(10, 100, 200));
  EXPECT_THAT(with(Channels::bgr), ElementsAre(200, 100, 10));
  EXPECT_THAT(with(Channels::gray), ElementsAre(84)) << "0.299 * 10 + 0.587 * 100 + 0.114 * 200 = 84.49";
}

TEST(Prepare, AsANetworkTakesIt) {
  const uint8_t bytes[] = {0, 51, 102, 153, 204, 255};
  const Tensor pictures = Tensor::of<uint8_t>({1, 1, 2, 3}, bytes);
  const Preparation usual{.mean = {0, 0.2, 0.4}, .deviation = {0.5}};
  const Tensor maps = as_input(pictures, usual, false);
  EXPECT_EQ(maps.shape(), (Shape{1, 3, 1, 2}));
  const auto values = values_of<float>(maps);
  EXPECT_FLOAT_EQ(values[0], 0);
  EXPECT_FLOAT_EQ(values[1], 1.2f);
  EXPECT_NEAR(values[2], 0, 1e-7);
  EXPECT_FLOAT_EQ(values[3], 1.2f);
  EXPECT_NEAR(values[4], 0, 1e-7);
  EXPECT_FLOAT_EQ(values[5], 1.2f);
  const Preparation raw{.to_one = false, .order = PixelOrder::nhwc};
  EXPECT_THAT(values_of<float>(as_input(pictures, raw, false)), ElementsAre(0, 51, 102, 153, 204, 255));
  EXPECT_THAT(values_of<uint8_t>(as_input(pictures, {}, true)), ElementsAre(0, 153, 51, 204, 102, 255));
  EXPECT_TRUE(keeps_bytes(raw));
  EXPECT_FALSE(keeps_bytes(usual));
}

TEST(Prepare, SizesHaveLimits) {
  const auto error = [](const Preparation& preparation) {
    return bad_input_message([&] { prepared(1, 100, preparation); });
  };
  EXPECT_THAT(error({.resize = Extent{2000}}), AllOf(HasSubstr("cat"), HasSubstr("2000x200000")));
  EXPECT_THAT(error({.crop = Extent{100'000}}), HasSubstr("100000x100000"));
}

TEST(Prepare, Text) {
  EXPECT_EQ(parse_extent("224", "--crop").height, 224);
  EXPECT_EQ(parse_extent("3x5", "--crop").width, 5);
  for (const char* wrong : {"", "x", "0", "3x", "3x4x5", "-1", "100001", "a"}) {
    EXPECT_THAT(bad_input_message([&] { parse_extent(wrong, "--crop"); }), HasSubstr("--crop")) << wrong;
  }
  EXPECT_THAT(parse_channel_numbers("0.5,-1,2", "--mean"), ElementsAre(0.5, -1, 2));
  for (const char* wrong : {"", "a", "1,2,3,4", "nan", "1,,2"}) {
    EXPECT_THAT(bad_input_message([&] { parse_channel_numbers(wrong, "--mean"); }), HasSubstr("--mean")) << wrong;
  }
  EXPECT_THAT(bad_input_message([] { find_preset("imagnet", "--preset"); }), HasSubstr("did you mean 'imagenet'?"));
  EXPECT_THAT(bad_input_message([] {
                check({.mean = {1, 2}});
              }),
              HasSubstr("--mean must have one number, or one for each channel (3), got 2"));
  EXPECT_THAT(bad_input_message([] {
                check({.channels = Channels::gray, .deviation = {1, 2, 3}});
              }),
              HasSubstr("one for each channel (1), got 3"));
  EXPECT_THAT(bad_input_message([] { check({.deviation = {0}}); }), HasSubstr("--std"));
  for (const Preset& each : presets()) check(each.preparation);
}

/// The direct (reference) computation in one dimension, in double precision.
std::vector<double> by_definition(const std::vector<double>& from, int64_t inputs, int64_t outputs, Filter filter) {
  const double scale = static_cast<double>(inputs) / static_cast<double>(outputs), width = std::max(scale, 1.0);
  const auto kernel = [&](double x) {
    x = std::abs(x);
    if (filter == Filter::bilinear) return std::max(0.0, 1 - x);
    return x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1 : x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0.0;
  };
  std::vector<double> to;
  for (int64_t i = 0; i < outputs; ++i) {
    double sum = 0, weights = 0;
    for (int64_t j = 0; j < inputs; ++j) {
      const double weight = kernel((static_cast<double>(j) + 0.5 - (static_cast<double>(i) + 0.5) * scale) / width);
      sum += weight * from[static_cast<size_t>(j)];
      weights += weight;
    }
    to.push_back(std::clamp(sum / weights, 0.0, 255.0));
  }
  return to;
}

TEST(Resample, IsItsDefinitionWithinALevel) {
  Rng rng(1);
  for (const Filter filter : {Filter::bilinear, Filter::bicubic}) {
    // Rows are rounded in between. Absolute values of a bicubic column's weights add up to more than 1.
    const double most = filter == Filter::bilinear ? 1.0 : 1.25;
    for (const auto& [height, width, to_height, to_width] :
         {std::tuple<int64_t, int64_t, int64_t, int64_t>{37, 53, 16, 16},
          {16, 9, 31, 40},
          {5, 64, 7, 3},
          {1, 1, 4, 6},
          {64, 1, 2, 2},
          {20, 20, 20, 7},
          {20, 20, 7, 20}}) {
      Tensor picture(ElementType::u8, {height, width, 1});
      for (uint8_t& each : picture.values<uint8_t>()) each = static_cast<uint8_t>(rng.next());
      const auto values = values_of<uint8_t>(picture);
      std::vector<double> rows;
      for (int64_t y = 0; y < height; ++y) {
        const std::vector<double> row(values.begin() + y * width, values.begin() + (y + 1) * width);
        for (const double each : by_definition(row, width, to_width, filter)) rows.push_back(each);
      }
      const auto got = values_of<uint8_t>(resampled(picture, to_height, to_width, filter));
      for (int64_t x = 0; x < to_width; ++x) {
        std::vector<double> column;
        for (int64_t y = 0; y < height; ++y) column.push_back(rows[static_cast<size_t>(y * to_width + x)]);
        const std::vector<double> want = by_definition(column, height, to_height, filter);
        for (int64_t y = 0; y < to_height; ++y) {
          EXPECT_LE(std::abs(got[static_cast<size_t>(y * to_width + x)] - want[static_cast<size_t>(y)]), most);
        }
      }
    }
  }
}

TEST(Resample, KnownValues) {
  // Output of Pillow 13: Image.fromarray(numpy.array([[0, 100, 200, 50]], "uint8")).resize((2, 1), ...) and (8, 1).
  const uint8_t row[] = {0, 100, 200, 50};
  const Tensor picture = Tensor::of<uint8_t>({1, 4, 1}, row);
  const auto at = [&](int64_t width, Filter filter) {
    return values_of<uint8_t>(resampled(picture, 1, width, filter));
  };
  EXPECT_THAT(at(2, Filter::bilinear), ElementsAre(71, 121));
  EXPECT_THAT(at(8, Filter::bilinear), ElementsAre(0, 25, 75, 125, 175, 163, 88, 50));
  EXPECT_THAT(at(2, Filter::bicubic), ElementsAre(68, 127));
  EXPECT_THAT(at(8, Filter::bicubic), ElementsAre(0, 17, 71, 131, 193, 174, 81, 37));
}

}  // namespace
}  // namespace convlab
