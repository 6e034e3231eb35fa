#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/image/resample.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// The order of a pixel's channels. gray is 0.299 red + 0.587 green + 0.114 blue, in Pillow's fixed point, before
/// resizing.
enum class Channels { rgb, bgr, gray };

/// The memory order of the network's input: N x C x H x W or N x H x W x C.
enum class PixelOrder { nchw, nhwc };

/// "224": the short side, or both sides of a square. "HxW": both sides.
struct Extent {
  int64_t height = 0, width = 0;  ///< width 0: only one number was given
};

/// The preprocessing of a picture for a network, in this order.
struct Preparation {
  Channels channels = Channels::rgb;
  std::optional<Extent> resize = {};  ///< one number: the short side; the aspect ratio is kept
  Filter filter = Filter::bilinear;
  std::optional<Extent> crop = {};   ///< centered; black borders if the picture is smaller
  bool to_one = true;                ///< scales pixels to 0..1; otherwise they are 0..255
  std::vector<double> mean{0};       ///< subtracted; one number for all channels, or one per channel in their order
  std::vector<double> deviation{1};  ///< divisor, one number or one per channel
  PixelOrder order = PixelOrder::nchw;
};

/// Converts a picture's channels, resizes and crops it: still uint8, height x width x channels. Sizes and offsets are
/// rounded as in torchvision: the long side down, half a pixel in the crop's offset to the even number. `name` is the
/// picture's name, for errors.
Tensor prepared(Tensor picture, const Preparation& preparation, std::string_view name);

/// Converts prepared pictures of one size (uint8, N x H x W x C) to a network's input: normalized float32 or, if
/// `bytes`, unchanged uint8.
Tensor as_input(const Tensor& pictures, const Preparation& preparation, bool bytes);

/// Returns the shape of as_input()'s result.
Shape input_shape(const Shape& pictures, PixelOrder order);

/// Whether unchanged uint8 pixels are equivalent: the mean is 0 and the deviation 1.
bool keeps_bytes(const Preparation& preparation);

/// Throws Error(bad_input) unless mean and deviation have one number, or one per channel, and no deviation is 0.
void check(const Preparation& preparation);

// Parse options; `what` is the option's name.
Extent parse_extent(std::string_view text, std::string_view what);
std::vector<double> parse_channel_numbers(std::string_view text, std::string_view what);

struct Preset {
  std::string_view name, meaning;
  Preparation preparation;
};

/// Returns the presets of common networks.
const std::vector<Preset>& presets();

/// Returns a preset by name. Throws Error(bad_input) with a list of all presets for an unknown name.
const Preset& find_preset(std::string_view name, std::string_view what);

}  // namespace convlab
