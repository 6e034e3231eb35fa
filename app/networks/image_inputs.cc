// Reads and preprocesses the images of --image for a model's inputs.

#include "app/networks/image_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "app/results/progress_line.h"
#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"
#include "convlab/device/thread_pool.h"
#include "convlab/image/decode.h"

namespace convlab::app {
namespace {

template <class T>
struct Choice {
  const char* name;
  T value;
};

/// Adds an option whose value is one of several words.
template <class T, size_t count>
void add_word(CLI::App& parser, const char* option, const char* help, std::optional<T>& value,
              const Choice<T> (&choices)[count]) {
  std::string names;
  for (const Choice<T>& each : choices) names += (names.empty() ? "" : "|") + std::string(each.name);
  add_parsed(parser, option, names, help,
             [&value, all = std::vector<Choice<T>>(choices, choices + count), names](const std::string& text,
                                                                                     const std::string& name) {
               for (const Choice<T>& each : all) {
                 if (text == each.name) value = each.value;
               }
               if (!value) throw bad_input("{} must be one of {}, got '{}'", name, names, printable(text));
             });
}

constexpr Choice<Filter> kFilters[] = {{"bilinear", Filter::bilinear}, {"bicubic", Filter::bicubic}};
constexpr Choice<bool> kRanges[] = {{"0..1", true}, {"0..255", false}};
constexpr Choice<Channels> kChannels[] = {
    {"rgb", Channels::rgb}, {"bgr", Channels::bgr}, {"gray", Channels::gray}, {"grey", Channels::gray}};
constexpr Choice<PixelOrder> kOrders[] = {{"nchw", PixelOrder::nchw}, {"nhwc", PixelOrder::nhwc}};

/// Returns the list of presets for --help.
std::string preset_help() {
  std::string text = "how images are prepared, as common networks expect them; other options override it:";
  for (const Preset& each : presets()) text += fmt::format("\n{}: {}", each.name, each.meaning);
  return text;
}

Tensor read_picture(const std::string& file, const Preparation& preparation) {
  return prepared(decode_picture(read_file(file), file), preparation, file);
}

/// Copies an image to index `at`. Throws Error(bad_input) if its size differs from the first image's.
void put(const Tensor& picture, Pictures& pictures, size_t at) {
  const Shape& all = pictures.pixels.shape();
  const Shape one(all.begin() + 1, all.end());
  if (picture.shape() != one) {
    throw bad_input("{} has {}x{} pixels, but {} has {}x{}; use --resize HxW or --crop N", pictures.files[at],
                    picture.shape()[0], picture.shape()[1], pictures.files[0], one[0], one[1]);
  }
  std::memcpy(pictures.pixels.values<uint8_t>().data() + at * picture.bytes(), picture.raw(), picture.bytes());
}

void read_all(Pictures& pictures, const Preparation& preparation, ThreadPool& threads) {
  const std::vector<std::string>& files = pictures.files;
  const auto count = static_cast<int64_t>(files.size());
  const Tensor first = read_picture(files[0], preparation);
  Shape shape = first.shape();
  shape.insert(shape.begin(), count);
  require_memory(checked_mul(element_count(shape), 1 + sizeof(float)), fmt::format("{} images need", count),
                 "use fewer at a time");
  pictures.pixels = Tensor(ElementType::u8, shape);
  put(first, pictures, 0);
  Progress progress("reading images", count);
  std::mutex mutex;
  threads.parallel_for(count - 1, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin + 1; i <= end; ++i) {
      const auto at = static_cast<size_t>(i);
      put(read_picture(files[at], preparation), pictures, at);
      const std::lock_guard lock(mutex);
      progress.advance(1);
    }
  });
}

const GraphInput& input_of(const Pictures& pictures, const Graph& graph) {
  for (const GraphInput& input : graph.inputs) {
    if (pictures.name.empty() && graph.inputs.size() == 1) return input;
    if (printable(pictures.name) == graph.name_of(input)) return input;
  }
  std::vector<std::string> names;
  for (const GraphInput& input : graph.inputs) names.push_back(graph.name_of(input));
  const std::string what = pictures.name.empty() ? "name the input for the images, one of"
                                                 : fmt::format("no input '{}'; inputs are", printable(pictures.name));
  throw bad_input("{}: {} {}: --image {}={}", graph.name, what, fmt::join(names, ", "), names[0], pictures.files[0]);
}

/// Throws Error(bad_input) unless the images have all fixed sizes of the model's input, except for the batch size.
void check_size(const Pictures& pictures, const Preparation& preparation, const Graph& graph, const GraphInput& input) {
  const Shape& takes = input.shape;
  const Shape have = input_shape(pictures.pixels.shape(), preparation.order);
  bool same = takes.size() == have.size();
  for (size_t i = 1; same && i < have.size(); ++i) same = takes[i] < 0 || takes[i] == have[i];
  if (same) return;
  throw bad_input(
      "{}: model expects {}, but the prepared images are {}; adjust --resize, --crop, --preset, --channels or "
      "--layout",
      graph.name, to_text(input), to_text(have));
}

}  // namespace

Preparation ImageOptions::preparation() const {
  Preparation chosen = preset ? find_preset(*preset, "--preset").preparation : Preparation();
  if (resize) chosen.resize = resize;
  if (crop) chosen.crop = crop;
  if (filter) chosen.filter = *filter;
  if (mean) chosen.mean = *mean;
  if (deviation) chosen.deviation = *deviation;
  if (to_one) chosen.to_one = *to_one;
  if (channels) chosen.channels = *channels;
  if (order) chosen.order = *order;
  check(chosen);
  return chosen;
}

void ImageOptions::require_images() const {
  if (!files.empty()) return;
  const std::pair<bool, const char*> given[] = {
      {preset.has_value(), "--preset"}, {resize.has_value(), "--resize"},     {crop.has_value(), "--crop"},
      {filter.has_value(), "--filter"}, {mean.has_value(), "--mean"},         {deviation.has_value(), "--std"},
      {to_one.has_value(), "--pixels"}, {channels.has_value(), "--channels"}, {order.has_value(), "--layout"},
  };
  for (const auto& [is_given, name] : given) {
    if (is_given) throw bad_input("{} needs --image; arrays of --input must be prepared as the model expects", name);
  }
}

void add_image_options(CLI::App& parser, ImageOptions& options) {
  add_texts(parser, "--image", options.files, 1, kAnyNumber, "[NAME=]FILE",
            "JPEG or PNG images for the model's input, or for the input NAME");
  add_parsed(parser, "--preset", "NAME", preset_help(), [&options](const std::string& text, const std::string& name) {
    options.preset = find_preset(text, name).name;
  });
  const auto add_extent = [&](const char* option, const char* help, std::optional<Extent>& value) {
    add_parsed(parser, option, "N|HxW", help,
               [&value](const std::string& text, const std::string& name) { value = parse_extent(text, name); });
  };
  add_extent("--resize", "resize images to this short side, or to this height and width (default: not resized)",
             options.resize);
  add_extent("--crop", "then crop the center of images (default: not cropped)", options.crop);
  add_word(parser, "--filter", "how images are resized (default: bilinear)", options.filter, kFilters);
  add_word(parser, "--pixels", "range of pixels before --mean and --std (default: 0..1)", options.to_one, kRanges);
  const auto add_numbers = [&](const char* option, const char* help, std::optional<std::vector<double>>& value) {
    add_parsed(parser, option, "A,B,C", help, [&value](const std::string& text, const std::string& name) {
      value = parse_channel_numbers(text, name);
    });
  };
  add_numbers("--mean", "subtract from pixels, one number or one per channel (default: 0)", options.mean);
  add_numbers("--std", "then divide pixels by this, one number or one per channel (default: 1)", options.deviation);
  add_word(parser, "--channels", "order of the channels (default: rgb)", options.channels, kChannels);
  add_word(parser, "--layout", "layout of the model's input (default: nchw)", options.order, kOrders);
}

std::vector<Pictures> read_pictures(const ImageOptions& options, int64_t threads) {
  const Preparation preparation = options.preparation();
  std::vector<Pictures> all;
  for (const std::string& text : options.files) {
    const NamedFile each = parse_named_file(text);
    if (all.empty() || !each.name.empty()) all.push_back({.name = each.name});
    all.back().files.push_back(each.file);
  }
  ThreadPool pool(static_cast<int>(threads));
  for (Pictures& each : all) read_all(each, preparation, pool);
  return all;
}

GivenInput to_input(const Pictures& pictures, const Preparation& preparation, const Graph& graph) {
  const GraphInput& input = input_of(pictures, graph);
  check_size(pictures, preparation, graph, input);
  const bool bytes = input.type == ElementType::u8;
  if (bytes && !keeps_bytes(preparation)) {
    throw bad_input("{}: model expects uint8 input, which --mean and --std would change; use --mean 0 --std 1",
                    graph.name);
  }
  const size_t more = pictures.files.size() - 1;
  return {.name = graph.name_of(input),
          .file = pictures.files[0] + (more == 0 ? "" : fmt::format(" and {} more", more)),
          .tensor = as_input(pictures.pixels, preparation, bytes)};
}

}  // namespace convlab::app
