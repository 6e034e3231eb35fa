// Finds and prints the most probable classes of each image.

#include "app/networks/top_classes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"

namespace convlab::app {
namespace {

bool adds_up_to_one(std::span<const float> scores) {
  constexpr double kTolerance = 1e-3;
  double sum = 0;
  for (const float score : scores) {
    if (!(score >= 0)) return false;
    sum += score;
  }
  return std::abs(sum - 1) <= kTolerance;
}

std::vector<double> softmax(std::span<const float> scores) {
  std::vector<double> all(scores.begin(), scores.end());
  const double most = *std::ranges::max_element(all);
  double sum = 0;
  for (double& each : all) sum += each = std::exp(each - most);
  for (double& each : all) each /= sum;
  return all;
}

std::vector<TopClass> best_of(std::span<const float> scores, const std::vector<double>& probabilities, int64_t count,
                              const std::vector<std::string>& labels) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t each) { return scores[each]; });
  order.resize(std::min(order.size(), static_cast<size_t>(count)));
  std::vector<TopClass> best;
  for (const size_t each : order) {
    best.push_back({static_cast<int64_t>(each), labels.empty() ? "" : labels[each], probabilities[each]});
  }
  return best;
}

/// "class 7 (Sneaker)".
std::string class_text(const TopClass& each) {
  return fmt::format("class {}{}", each.number, each.label.empty() ? "" : fmt::format(" ({})", each.label));
}

}  // namespace

std::vector<std::string> read_labels(const std::string& file) {
  constexpr int64_t kMostBytes = 64 << 20;
  std::vector<std::string> labels;
  for (std::string& line : split(read_text(file, kMostBytes), '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(printable(line));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty()) throw bad_input("{}: no labels; expected one per line", file);
  return labels;
}

bool has_classes(const Shape& output) {
  return output.size() >= 2 && output[1] > 1 &&
         std::all_of(output.begin() + 2, output.end(), [](int64_t size) { return size == 1; });
}

std::vector<std::vector<TopClass>> top_classes(const Tensor& output, int64_t count,
                                               const std::vector<std::string>& labels, const std::string& labels_file) {
  if (!has_classes(output.shape())) {
    throw bad_input("--top: expected a score for each class of each image, got output {}", to_text(output.shape()));
  }
  const int64_t classes = output.shape()[1];
  if (!labels.empty() && std::ssize(labels) != classes) {
    throw bad_input("{}: expected {} labels, one per class of the model, got {}", labels_file, classes, labels.size());
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor scores = converted(output, ElementType::f32);
  std::vector<std::span<const float>> of_images;
  for (int64_t image = 0; image < output.shape()[0]; ++image) {
    of_images.push_back(
        scores.values<float>().subspan(static_cast<size_t>(image * classes), static_cast<size_t>(classes)));
    if (std::ranges::any_of(of_images.back(), [](float score) { return !(score < kInfinity); })) {
      throw wrong_result("network output for image {} is NaN or infinite", image);
    }
  }
  const bool probabilities = std::ranges::all_of(of_images, adds_up_to_one);
  std::vector<std::vector<TopClass>> images;
  for (const std::span<const float> each : of_images) {
    images.push_back(
        best_of(each, probabilities ? std::vector<double>(each.begin(), each.end()) : softmax(each), count, labels));
  }
  return images;
}

void print_top(Output& output, const std::vector<std::vector<TopClass>>& images,
               const std::vector<std::string>& names) {
  for (size_t image = 0; image < images.size(); ++image) {
    output.print("{}:\n", image < names.size() ? names[image] : fmt::format("image {}", image));
    size_t width = 0;
    for (const TopClass& each : images[image]) width = std::max(width, class_text(each).size());
    for (const TopClass& each : images[image]) {
      output.print("  {:<{}}  {:8.4f} %\n", class_text(each), width, 100 * each.score);
    }
  }
}

}  // namespace convlab::app
