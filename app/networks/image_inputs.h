#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/networks/model_inputs.h"
#include "app/options.h"
#include "convlab/image/prepare.h"
#include "convlab/model/graph.h"

namespace convlab::app {

/// --image, and what happens to pictures before the network sees them: a preset, changed by what is given beside it.
struct ImageOptions {
  std::vector<std::string> files;  ///< "NAME=" before one says which input it and the following are for
  std::optional<std::string> preset;
  std::optional<Extent> resize, crop;
  std::optional<Filter> filter;
  std::optional<std::vector<double>> mean, deviation;
  std::optional<bool> to_one;
  std::optional<Channels> channels;
  std::optional<PixelOrder> order;

  /// Error(bad_input) where parts do not fit together.
  Preparation preparation() const;

  /// Error(bad_input) that names an option which does nothing, since there is no --image.
  void require_images() const;
};

void add_image_options(CLI::App& parser, ImageOptions& options);

/// Pictures for one input, prepared and of one size.
struct Pictures {
  std::string name;  ///< the input's, as the user gave it, or ""
  std::vector<std::string> files;
  Tensor pixels;  ///< uint8, N x H x W x C
};

/// Reads and prepares them in parallel, with a progress line. `threads`: 0 for as many as there are.
std::vector<Pictures> read_pictures(const ImageOptions& options, int64_t threads);

/// An input made of pictures: bytes where the model takes bytes, otherwise float32. Error(bad_input) where the model
/// takes another size, or bytes that are to be scaled.
GivenInput to_input(const Pictures& pictures, const Preparation& preparation, const Graph& graph);

}  // namespace convlab::app
