#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// The part of the data set: test, 10000 images, or train, 60000.
enum class Split { test, train };

/// "test" or "train", otherwise Error(bad_input).
Split parse_split(std::string_view text);

/// What labels 0 to 9 mean (https://github.com/zalandoresearch/fashion-mnist).
inline constexpr std::array<std::string_view, 10> kFashionMnistClasses = {
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};

/// Images with the class of each.
struct Dataset {
  Tensor images;                ///< uint8, N x 1 x 28 x 28, 0 black to 255 white
  std::vector<uint8_t> labels;  ///< N, each 0 to 9
};

/// The first `most` images of a split, or all where there are fewer. `folder` holds the idx files under their usual
/// names, "t10k-images-idx3-ubyte.gz" and so on, or without ".gz"; where none is given,
/// /usr/share/datasets/fashion-mnist and then ./data are searched. The files are read whole and checked whole, however
/// small `most` is. Error(bad_input) that says what to install where there are none, or what is wrong with them and
/// where.
Dataset load_fashion_mnist(Split split, const std::filesystem::path& folder = {},
                           int64_t most = std::numeric_limits<int64_t>::max());

/// Images `first` to `first` + `count` of as many copies of the data, one behind the other, as that takes.
Dataset part_of_copies(const Dataset& data, int64_t first, int64_t count);

}  // namespace convlab
