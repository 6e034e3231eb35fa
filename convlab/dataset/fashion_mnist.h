#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// A part of the data set: test (10000 images) or train (60000 images).
enum class Split { test, train };

/// Parses "test" or "train". Throws Error(bad_input) for any other text.
Split parse_split(std::string_view text);

/// The classes of labels 0 to 9 (https://github.com/zalandoresearch/fashion-mnist).
inline constexpr std::array<std::string_view, 10> kFashionMnistClasses = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

/// Images with their classes.
struct Dataset {
  Tensor images;                ///< uint8, N x 1 x 28 x 28, from 0 (black) to 255 (white)
  std::vector<uint8_t> labels;  ///< N, each 0 to 9
};

/// Returns the first `most` images of a split, or all if there are fewer. `folder` contains the idx files under their
/// usual names, "t10k-images-idx3-ubyte.gz" and so on, or without ".gz". If it is empty, searches
/// /usr/share/datasets/fashion-mnist and then ./data. Reads and checks the whole files, however small `most` is. Throws
/// Error(bad_input) that says what to install if there are none, or what is wrong with a file.
Dataset load_fashion_mnist(Split split, const std::filesystem::path& folder = {},
                           int64_t most = std::numeric_limits<int64_t>::max());

/// Returns images [`first`, `first` + `count`) of the data repeated endlessly.
Dataset part_of_copies(const Dataset& data, int64_t first, int64_t count);

}  // namespace convlab
