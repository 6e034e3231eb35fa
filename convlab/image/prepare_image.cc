// Preprocesses pictures for networks: channels, resizing, cropping, normalization.

#include "convlab/image/prepare_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/text.h"
#include "convlab/image/decode.h"

namespace convlab {
namespace {

int64_t channel_count(Channels channels) { return channels == Channels::gray ? 1 : 3; }

/// Converts RGB to these channels.
Tensor in_channels(Tensor picture, Channels channels) {
  const auto values = picture.values<uint8_t>();
  if (channels == Channels::bgr) {
    for (size_t i = 0; i < values.size(); i += 3) std::swap(values[i], values[i + 2]);
  }
  if (channels != Channels::gray) return picture;
  Tensor gray(ElementType::u8, {picture.shape()[0], picture.shape()[1], 1});
  auto to = gray.values<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    const uint8_t* const rgb = &values[3 * i];
    to[i] = static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
  }
  return gray;
}

Extent resized_to(const Extent& wanted, int64_t height, int64_t width) {
  if (wanted.width != 0) return wanted;
  const auto in_proportion = [&](int64_t lengthy, int64_t brief) {
    return static_cast<int64_t>(static_cast<double>(wanted.height * lengthy) / static_cast<double>(brief));
  };
  if (height < width) return {wanted.height, in_proportion(width, height)};
  return {in_proportion(height, width), wanted.height};
}

/// Returns half of an integer, rounded to nearest even.
int64_t half(int64_t number) {
  const int64_t down = number >> 1;
  return number % 2 == 0 ? down : down + (down & 1);
}

/// Returns the crop's offset in the picture; negative if the crop is longer.
int64_t crop_begin(int64_t length, int64_t wanted) {
  return wanted <= length ? half(length - wanted) : -((wanted - length) / 2);
}

void check_size(int64_t height, int64_t width, std::string_view name) {
  if (height < 1 || width < 1 || height > kMostPictureSide || width > kMostPictureSide ||
      height * width > kMostPicturePixels) {
    throw bad_input(
        "{}: resized or cropped size {}x{} is out of range; sides must be 1 to {} and the total at most {} pixels",
        name, height, width, kMostPictureSide, kMostPicturePixels);
  }
}

Tensor cropped(const Tensor& picture, const Extent& crop, std::string_view name) {
  const int64_t height = picture.shape()[0], width = picture.shape()[1], channels = picture.shape()[2];
  const Extent to{crop.height, crop.width != 0 ? crop.width : crop.height};
  check_size(to.height, to.width, name);
  Tensor result(ElementType::u8, {to.height, to.width, channels});
  const int64_t top = crop_begin(height, to.height), left = crop_begin(width, to.width);
  const int64_t first = std::max<int64_t>(left, 0), end = std::min(left + to.width, width);
  const uint8_t* const from = picture.values<uint8_t>().data();
  uint8_t* const rows = result.values<uint8_t>().data();
  std::memset(rows, 0, result.bytes());
  for (int64_t y = std::max<int64_t>(-top, 0); y < to.height && top + y < height; ++y) {
    std::memcpy(rows + (y * to.width + first - left) * channels, from + ((top + y) * width + first) * channels,
                static_cast<size_t>((end - first) * channels));
  }
  return result;
}

double for_channel(const std::vector<double>& numbers, int64_t channel) {
  return numbers[numbers.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

}  // namespace

Tensor prepared(Tensor picture, const Preparation& preparation, std::string_view name) {
  picture = in_channels(std::move(picture), preparation.channels);
  if (preparation.resize) {
    const int64_t height = picture.shape()[0], width = picture.shape()[1];
    const Extent to = resized_to(*preparation.resize, height, width);
    check_size(to.height, to.width, name);
    check_size(height, to.width, name);  // the intermediate size of resampled()
    if (to.height != height || to.width != width) {
      picture = resampled(picture, to.height, to.width, preparation.filter);
    }
  }
  return preparation.crop ? cropped(picture, *preparation.crop, name) : std::move(picture);
}

Shape input_shape(const Shape& pictures, PixelOrder order) {
  if (order == PixelOrder::nhwc) return pictures;
  return {pictures[0], pictures[3], pictures[1], pictures[2]};
}

Tensor as_input(const Tensor& pictures, const Preparation& preparation, bool bytes) {
  const Shape& shape = pictures.shape();
  const int64_t channels = shape[3], pixels = shape[1] * shape[2];
  Tensor input(bytes ? ElementType::u8 : ElementType::f32, input_shape(shape, preparation.order));
  const bool maps = preparation.order == PixelOrder::nchw;
  const uint8_t* const from = pictures.values<uint8_t>().data();
  const auto spread = [&](auto* to, int64_t channel, const auto& of) {
    const int64_t stride = maps ? 1 : channels;
    for (int64_t n = 0; n < shape[0]; ++n) {
      const uint8_t* const picture = from + n * pixels * channels + channel;
      auto* const out = to + n * pixels * channels + (maps ? channel * pixels : channel);
      for (int64_t i = 0; i < pixels; ++i) out[i * stride] = of(picture[i * channels]);
    }
  };
  for (int64_t channel = 0; channel < channels; ++channel) {
    if (bytes) {
      spread(input.values<uint8_t>().data(), channel, [](uint8_t pixel) { return pixel; });
      continue;
    }
    // In float32 and in this order, as in PyTorch.
    std::array<float, 256> of_byte;
    const auto mean = static_cast<float>(for_channel(preparation.mean, channel));
    const auto deviation = static_cast<float>(for_channel(preparation.deviation, channel));
    for (size_t i = 0; i < of_byte.size(); ++i) {
      of_byte[i] = (static_cast<float>(i) / (preparation.to_one ? 255.0f : 1.0f) - mean) / deviation;
    }
    spread(input.values<float>().data(), channel, [&](uint8_t pixel) { return of_byte[pixel]; });
  }
  return input;
}

bool keeps_bytes(const Preparation& preparation) {
  return std::ranges::all_of(preparation.mean, [](double mean) { return mean == 0; }) &&
         std::ranges::all_of(preparation.deviation, [](double deviation) { return deviation == 1; });
}

void check(const Preparation& preparation) {
  const int64_t channels = channel_count(preparation.channels);
  const auto check_count = [&](const std::vector<double>& numbers, const char* what) {
    if (numbers.size() == 1 || std::ssize(numbers) == channels) return;
    throw bad_input("{} must have one number, or one for each channel ({}), got {}", what, channels, numbers.size());
  };
  check_count(preparation.mean, "--mean");
  check_count(preparation.deviation, "--std");
  if (std::ranges::count(preparation.deviation, 0.0) > 0) throw bad_input("--std must not be 0");
}

Extent parse_extent(std::string_view text, std::string_view what) {
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.empty() || parts.size() > 2) throw bad_input("{} must be N or HxW, got '{}'", what, printable(text));
  Extent extent{.height = parse_int(parts[0], what, 1, kMostPictureSide)};
  if (parts.size() == 2) extent.width = parse_int(parts[1], what, 1, kMostPictureSide);
  return extent;
}

std::vector<double> parse_channel_numbers(std::string_view text, std::string_view what) {
  constexpr double kMost = 1e6;
  std::vector<double> numbers;
  for (const std::string& part : split(text, ',')) numbers.push_back(parse_double(part, what, -kMost, kMost));
  if (numbers.empty() || numbers.size() > 3)
    throw bad_input("{} must have one number, or one for each channel (a,b,c), got '{}'", what, printable(text));
  return numbers;
}

}  // namespace convlab
