#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/image/resample.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// The order of a pixel's numbers; grey is 0.299 red + 0.587 green + 0.114 blue, in Pillow's fixed point, before
/// resizing.
enum class Channels { rgb, bgr, grey };

/// Channels as maps (N x C x H x W), or side by side (N x H x W x C).
enum class PixelOrder { nchw, nhwc };

/// "224": a short side, or a square. "HxW": both.
struct Extent {
  int64_t height = 0, width = 0;  ///< width 0: only one number is given
};

/// What happens to a picture before a network sees it, in this order.
struct Preparation {
  Channels channels = Channels::rgb;
  std::optional<Extent> resize = {};  ///< one number: the short side's, the other in proportion
  Filter filter = Filter::bilinear;
  std::optional<Extent> crop = {};   ///< from the middle, black around it where the picture is smaller
  bool to_one = true;                ///< pixels from 0 to 1, otherwise from 0 to 255
  std::vector<double> mean{0};       ///< subtracted; one for all channels, or one for each in their order
  std::vector<double> deviation{1};  ///< divided by, likewise
  PixelOrder order = PixelOrder::nchw;
};

/// Resized, cropped and with its channels chosen: still uint8, height x width x channels. Sizes and places are
/// torchvision's: the long side is rounded down, half a pixel of a crop goes to the even number. `name` is the
/// picture's.
Tensor prepared(Tensor picture, const Preparation& preparation, std::string_view name);

/// Such pictures of one size (uint8, N x H x W x C) as a network takes them: float32, or bytes as they are.
Tensor as_input(const Tensor& pictures, const Preparation& preparation, bool bytes);

/// The shape of that.
Shape input_shape(const Shape& pictures, PixelOrder order);

/// Whether bytes as they are would be the same: nothing is subtracted, and divided by nothing but 255.
bool keeps_bytes(const Preparation& preparation);

/// Error(bad_input) unless there is one number, or one a channel, of mean and of deviation, which is not 0.
void check(const Preparation& preparation);

// From text; `what` is the option's name.
Extent parse_extent(std::string_view text, std::string_view what);
std::vector<double> parse_channel_numbers(std::string_view text, std::string_view what);

struct Preset {
  std::string_view name, meaning;
  Preparation preparation;
};

/// Those of the usual networks.
const std::vector<Preset>& presets();

/// Error(bad_input) that lists them.
const Preset& find_preset(std::string_view name, std::string_view what);

}  // namespace convlab
