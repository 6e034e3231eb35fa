// Shows the network's answers: accuracy, confusion matrix, images, and the output of each layer.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convlab/report/gray_png.h"
#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

std::string_view class_name(int label) { return kFashionMnistClasses[static_cast<size_t>(label)]; }

std::string image(std::span<const uint8_t> pixels, int64_t width, int64_t height, std::string_view alternative) {
  return fmt::format("<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{}\">",
                     data_uri("image/png", grey_png(pixels, width, height)), width, height, escaped(alternative));
}

std::string accuracies(const Answers& answers) {
  Table table("Accuracy by number of images", {"first images", "right", "accuracy"});
  for (int64_t n : kCourseSizes) {
    if (n > static_cast<int64_t>(answers.predicted.size())) continue;
    const double accuracy = answers.accuracy(n);
    table.row({number_cell(std::to_string(n)), number_cell(fmt::format("{:.0f}", accuracy * static_cast<double>(n))),
               number_cell(fmt::format("{}", accuracy))});
  }
  return table.html();
}

std::string confusion(const Answers& answers) {
  const Answers::Confusion counts = answers.confusion();
  std::vector<std::string> headings{"class \\ label"};
  for (std::string_view name : kFashionMnistClasses) headings.push_back(fmt::format("<span>{}</span>", escaped(name)));
  headings.emplace_back("<span>correct</span>");
  Table table("Confusion matrix: number of images by class (row) and predicted label (column)", headings);
  for (int label = 0; label < Answers::kClasses; ++label) {
    const auto& row = counts[static_cast<size_t>(label)];
    double total = 0;
    for (int count : row) total += count;
    std::vector<Cell> cells{{.html = escaped(class_name(label)), .kind = "name"}};
    for (int given = 0; given < Answers::kClasses; ++given) {
      const int count = row[static_cast<size_t>(given)];
      cells.push_back({.html = count == 0 ? "" : std::to_string(count),
                       .kind = given == label ? "number heat right" : "number heat wrong",
                       .style = fmt::format("--share:{:.4f}", total > 0 ? count / total : 0)});
    }
    cells.push_back(
        number_cell(total > 0 ? fmt::format("{:.1f} %", 100 * row[static_cast<size_t>(label)] / total) : "–"));
    table.row(std::move(cells));
  }
  return "<div class=\"confusion\">\n" + table.html() + "</div>\n";
}

std::string gallery(const Answers& answers) {
  constexpr size_t kRight = 6, kWrong = 6;
  const std::span<const uint8_t> pixels = answers.data.images.values<uint8_t>();
  const int64_t side = answers.data.images.shape()[2], size = side * side;
  std::string html = "<div class=\"gallery\">\n";
  for (int label = 0; label < Answers::kClasses; ++label) {
    html += fmt::format("<div class=\"class\"><h4>{}</h4><div class=\"images\">", escaped(class_name(label)));
    for (const bool right : {true, false}) {
      for (int64_t index : answers.examples(label, right, right ? kRight : kWrong)) {
        const std::string_view given = class_name(answers.predicted[static_cast<size_t>(index)]);
        html += fmt::format("<figure class=\"{}\" title=\"image {}\">{}<figcaption>{}</figcaption></figure>",
                            right ? "right" : "wrong", index,
                            image(pixels.subspan(static_cast<size_t>(index * size), static_cast<size_t>(size)), side,
                                  side, fmt::format("{} labeled {}", class_name(label), given)),
                            escaped(given));
      }
    }
    html += "</div></div>\n";
  }
  return html + "</div>\n";
}

/// Returns all feature maps of a layer as one gray image, side by side. In each, black is its smallest and white its
/// largest value.
std::string sheet(const FeatureMaps& features) {
  constexpr int64_t kGap = 1;
  const Shape& shape = features.maps.shape();
  const int64_t maps = shape[1], h = shape[2], w = shape[3];
  const int64_t across = std::min<int64_t>(maps, 6), down = (maps + across - 1) / across;
  const int64_t width = across * (w + kGap) - kGap, height = down * (h + kGap) - kGap;
  constexpr uint8_t kBetween = 128;
  std::vector<uint8_t> pixels(static_cast<size_t>(width * height), kBetween);
  const std::span<const float> values = features.maps.values<float>();
  for (int64_t map = 0; map < maps; ++map) {
    const auto [low, high] =
        std::ranges::minmax(values.subspan(static_cast<size_t>(map * h * w), static_cast<size_t>(h * w)));
    const float scale = high > low ? 255.0f / (high - low) : 0.0f;
    for (int64_t y = 0; y < h; ++y) {
      for (int64_t x = 0; x < w; ++x) {
        const float value = values[static_cast<size_t>((map * h + y) * w + x)];
        const int64_t at = ((map / across) * (h + kGap) + y) * width + (map % across) * (w + kGap) + x;
        pixels[static_cast<size_t>(at)] = static_cast<uint8_t>(std::lround((value - low) * scale));
      }
    }
  }
  const auto [low, high] = std::ranges::minmax(values);
  return fmt::format(
      "<figure class=\"maps\"><figcaption>{}: {} feature maps of {}×{}, values {} to {}</figcaption>{}</figure>\n",
      escaped(features.name), maps, h, w, significant(low), significant(high),
      image(pixels, width, height, features.name));
}

std::string feature_maps(const Answers& answers) {
  const int64_t side = answers.data.images.shape()[2];
  const std::span<const uint8_t> first = answers.data.images.values<uint8_t>().first(static_cast<size_t>(side * side));
  std::string html = fmt::format(
      "<p>Output of each layer for the first test image, of class {}. In each feature map black is the smallest value "
      "and white the largest.</p>\n<div class=\"sheets\">\n<figure class=\"maps input\"><figcaption>input image, "
      "{}×{}</figcaption>{}</figure>\n",
      escaped(class_name(answers.data.labels[0])), side, side, image(first, side, side, "the first test image"));
  for (const FeatureMaps& features : answers.features) html += sheet(features);
  Table scores("Scores of this image", {"class", "score"});
  for (int label = 0; label < Answers::kClasses; ++label) {
    const auto score = static_cast<double>(answers.scores[static_cast<size_t>(label)]);
    scores.row({text_cell(class_name(label)),
                {.html = fmt::format("{:.4f}", score),
                 .kind = "number share",
                 .style = fmt::format("--share:{:.4f}", score)}});
  }
  return html + scores.html() + "</div>\n";
}

}  // namespace

void add_answers(Page& page, const Contents& contents) {
  const Answers& answers = contents.input.answers;
  page.deliverable(
      {.what = "Accuracy at 100, 1000 and 10000 images", .section = "answers", .there = true, .commands = {}});
  page.section("answers", "Accuracy", accuracies(answers) + confusion(answers));
  page.section("images", "Correctly and incorrectly labeled images", gallery(answers));
  page.section("features", "Feature maps", feature_maps(answers));
}

}  // namespace convlab
