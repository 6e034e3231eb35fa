#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/networks/model_inputs.h"
#include "app/option_parsers.h"
#include "convlab/image/prepare_image.h"
#include "convlab/model/graph.h"

namespace convlab::app {

/// --image, and how images are preprocessed: a preset, overridden by the other options.
struct ImageOptions {
  std::vector<std::string> files;  ///< "NAME=" before a file names the input for it and the following files
  std::optional<std::string> preset;
  std::optional<Extent> resize, crop;
  std::optional<Filter> filter;
  std::optional<std::vector<double>> mean, deviation;
  std::optional<bool> to_one;
  std::optional<Channels> channels;
  std::optional<PixelOrder> order;

  /// Returns the preprocessing. Throws Error(bad_input) if options contradict each other.
  Preparation preparation() const;

  /// Throws Error(bad_input), which names the option, if one has no effect because there is no --image.
  void require_images() const;
};

void add_image_options(CLI::App& parser, ImageOptions& options);

/// Images for one input, preprocessed and of one size.
struct Pictures {
  std::string name;  ///< name of the input, as the user gave it, or ""
  std::vector<std::string> files;
  Tensor pixels;  ///< uint8, N x H x W x C
};

/// Reads and preprocesses the images in parallel, with a progress line. `threads`: 0 for all that this process may use.
std::vector<Pictures> read_pictures(const ImageOptions& options, int64_t threads);

/// Converts images to an input: uint8 if the model's input is uint8, otherwise float32. Throws Error(bad_input) if the
/// model expects another size, or uint8 although the pixels must be scaled.
GivenInput to_input(const Pictures& pictures, const Preparation& preparation, const Graph& graph);

}  // namespace convlab::app
