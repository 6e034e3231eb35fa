// Defines the preprocessing presets of common networks.

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/text.h"
#include "convlab/image/prepare_image.h"

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
      {"imagenet", "resize 256, crop 224, ImageNet mean and std; torchvision V1 weights", image_net(256, 224)},
      {"torchvision", "same as imagenet", image_net(256, 224)},
      {"torchvision-v2", "resize 232, crop 224; torchvision V2 weights of ResNets and others", image_net(232, 224)},
      {"torchvision-convnext", "resize 236, crop 224; ConvNeXt-Tiny", image_net(236, 224)},
      {"torchvision-efficientnet", "resize 256, crop 224, bicubic; EfficientNet-B0",
       image_net(256, 224, Filter::bicubic)},
      {"timm", "resize 256, crop 224, bicubic; most timm models", image_net(256, 224, Filter::bicubic)},
      {"timm-95", "resize 235, crop 224, bicubic; timm models with a crop of 0.95",
       image_net(235, 224, Filter::bicubic)},
      {"inception", "resize 342, crop 299; torchvision Inception", image_net(342, 299)},
      {"mobilenet", "resize 256, crop 224, values -1 to 1; TensorFlow MobileNets", around_zero(256, 224)},
      {"tf", "same as mobilenet", around_zero(256, 224)},
      {"caffe",
       "resize 256, crop 224, BGR 0 to 255 minus mean 103.939, 116.779, 123.68",
       {.channels = Channels::bgr,
        .resize = Extent{256},
        .crop = Extent{224},
        .to_one = false,
        .mean = {103.939, 116.779, 123.68}}},
      {"raw", "values 0 to 255, no other preprocessing", {.to_one = false}},
  };
  return all;
}

const Preset& find_preset(std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const Preset& each : presets()) {
    if (each.name == name) return each;
    names.emplace_back(each.name);
  }
  throw bad_input("{}: unknown preset '{}'{}; use one of {}", what, printable(name), did_you_mean(name, names),
                  fmt::join(names, ", "));
}

}  // namespace convlab
