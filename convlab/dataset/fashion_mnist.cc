// Loads the Fashion-MNIST data set.

#include "convlab/dataset/fashion_mnist.h"

#include <algorithm>
#include <string>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/dataset/idx.h"

namespace convlab {
namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kMostFileBytes = int64_t{256} << 20;  // the largest of the four files has 26 MB, 47 MB without gzip

/// Returns the path of the idx file in the folder, gzipped or not; an empty path if there is none.
std::filesystem::path find(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  for (const char* ending : {".gz", ""}) {
    std::filesystem::path path = folder / (name + ending);
    if (std::filesystem::exists(path, error)) return path;
  }
  return {};
}

std::filesystem::path require(const std::filesystem::path& folder, const std::string& name) {
  std::filesystem::path path = find(folder, name);
  if (!path.empty()) return path;
  throw bad_input(
      "cannot find {}.gz of Fashion-MNIST in {}; 'apt install dataset-fashion-mnist' installs its four files in "
      "/usr/share/datasets/fashion-mnist",
      name, folder.string());
}

std::filesystem::path default_folder(const std::string& name) {
  for (const char* folder : {"/usr/share/datasets/fashion-mnist", "data"}) {
    if (!find(folder, name).empty()) return folder;
  }
  throw bad_input(
      "cannot find Fashion-MNIST in /usr/share/datasets/fashion-mnist or ./data; run "
      "'apt install dataset-fashion-mnist' or pass its directory with --data DIR");
}

Tensor first_images(Tensor images, int64_t count) {
  if (count == images.shape()[0]) return images;
  Shape shape = images.shape();
  shape[0] = count;
  const std::span<const uint8_t> pixels = images.values<uint8_t>();
  return Tensor::of(shape, pixels.first(static_cast<size_t>(element_count(shape))));
}

}  // namespace

Split parse_split(std::string_view text) {
  if (text == "test") return Split::test;
  if (text == "train") return Split::train;
  throw bad_input("--split must be test or train, got '{}'", text);
}

Dataset load_fashion_mnist(Split split, const std::filesystem::path& folder, int64_t most) {
  const std::string prefix = split == Split::test ? "t10k" : "train";
  const std::string images_name = prefix + "-images-idx3-ubyte", labels_name = prefix + "-labels-idx1-ubyte";
  const std::filesystem::path where = folder.empty() ? default_folder(images_name) : folder;
  const std::filesystem::path images_path = require(where, images_name), labels_path = require(where, labels_name);

  Tensor images = parse_idx_images(read_file(images_path, kMostFileBytes), images_path.string());
  if (images.shape()[2] != kSide || images.shape()[3] != kSide) {
    throw bad_input("{}: expected Fashion-MNIST images of {}x{} pixels, got {}x{}", images_path.string(), kSide, kSide,
                    images.shape()[2], images.shape()[3]);
  }
  std::vector<uint8_t> labels =
      parse_idx_labels(read_file(labels_path, kMostFileBytes), labels_path.string(), kFashionMnistClasses.size());
  if (static_cast<int64_t>(labels.size()) != images.shape()[0]) {
    throw bad_input("{} has {} labels, but {} has {} images", labels_path.string(), labels.size(), images_path.string(),
                    images.shape()[0]);
  }
  const int64_t count = std::min(most, images.shape()[0]);
  labels.resize(static_cast<size_t>(count));
  return {first_images(std::move(images), count), std::move(labels)};
}

Dataset part_of_copies(const Dataset& data, int64_t first, int64_t count) {
  Shape shape = data.images.shape();
  const int64_t images = shape[0], pixels = data.images.count() / images;
  shape[0] = count;
  Dataset part{.images = Tensor(ElementType::u8, shape)};
  part.labels.reserve(static_cast<size_t>(count));
  const uint8_t* const from = data.images.values<uint8_t>().data();
  uint8_t* to = part.images.values<uint8_t>().data();
  for (int64_t at = first, left = count; left > 0;) {
    const int64_t begin = at % images, some = std::min(left, images - begin);
    to = std::copy_n(from + begin * pixels, some * pixels, to);
    part.labels.insert(part.labels.end(), data.labels.begin() + begin, data.labels.begin() + begin + some);
    at += some;
    left -= some;
  }
  return part;
}

}  // namespace convlab
