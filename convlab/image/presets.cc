#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/text.h"
#include "convlab/image/prepare.h"

namespace convlab {
namespace {

const std::vector<double> kImageNetMean{0.485, 0.456, 0.406}, kImageNetStd{0.229, 0.224, 0.225};

Preparation image_net(int64_t resize, int64_t crop, Filter filter = Filter::bilinear) {
  return {.resize = Extent{resize},
          .filter = filter,
          .crop = Extent{crop},
          .mean = kImageNetMean,
          .deviation = kImageNetStd};
}

Preparation around_zero(int64_t resize, int64_t crop) {
  return {.resize = Extent{resize}, .crop = Extent{crop}, .mean = {0.5}, .deviation = {0.5}};
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"imagenet", "256, crop 224, ImageNet's mean and std: torchvision's first weights", image_net(256, 224)},
      {"torchvision", "the same", image_net(256, 224)},
      {"torchvision-v2", "232, crop 224: torchvision's second weights of ResNets and others", image_net(232, 224)},
      {"torchvision-convnext", "236, crop 224: ConvNeXt tiny", image_net(236, 224)},
      {"torchvision-efficientnet", "256, crop 224, bicubic: EfficientNet B0", image_net(256, 224, Filter::bicubic)},
      {"timm", "256, crop 224, bicubic: most of timm's", image_net(256, 224, Filter::bicubic)},
      {"timm-95", "235, crop 224, bicubic: timm's with a crop of 0.95", image_net(235, 224, Filter::bicubic)},
      {"inception", "342, crop 299: torchvision's Inception", image_net(342, 299)},
      {"mobilenet", "256, crop 224, from -1 to 1: TensorFlow's MobileNets", around_zero(256, 224)},
      {"tf", "the same", around_zero(256, 224)},
      {"caffe",
       "256, crop 224, BGR from 0 to 255 less the means 103.939, 116.779, 123.68",
       {.channels = Channels::bgr,
        .resize = Extent{256},
        .crop = Extent{224},
        .to_one = false,
        .mean = {103.939, 116.779, 123.68}}},
      {"raw", "pixels from 0 to 255, and nothing else", {.to_one = false}},
  };
  return all;
}

const Preset& find_preset(std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const Preset& each : presets()) {
    if (each.name == name) return each;
    names.emplace_back(each.name);
  }
  const std::string nearest = closest(name, names);
  throw bad_input("{}: there is no '{}'{}; there are {}", what, printable(name),
                  nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest), fmt::join(names, ", "));
}

}  // namespace convlab
