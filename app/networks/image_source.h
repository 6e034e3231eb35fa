#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/networks/image_inputs.h"
#include "app/networks/part_file.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// Images on the disk for a model's only input, read one after another: they need not fit into memory.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  /// Of all images, their number first.
  virtual const Shape& shape() const = 0;

  /// From now on shape(), type() and read() are as this model wants them. Error(bad_input) where it does not take these
  /// images.
  virtual void fit(const Graph& graph) = 0;

  /// Of elements as read() gives them: uint8 or float32.
  virtual ElementType type() const = 0;

  /// What tells whether a second source has the same images.
  virtual Facts facts() const = 0;

  /// Has read() go on with this image.
  virtual void seek(int64_t image) = 0;

  /// Reads up to `count` images to memory that takes them. Says how many: fewer where the next one cannot be read; then
  /// calling it again throws Error(bad_input), which names it.
  virtual int64_t read(int64_t count, void* to) = 0;

  /// After the last image: Error(bad_input) where what follows shows that the file is damaged.
  virtual void expect_end() {}
};

/// A .npy or an idx file, as --input names it. Images without a channel get the one that the model wants.
/// Error(bad_input) as of ArrayFile().
std::unique_ptr<ImageSource> open_array(const NamedFile& file);

/// The JPEG and PNG pictures of a folder and those in it, by their paths, or of a tar archive, in its order; prepared
/// by as many threads, 0 for as many as there are. Error(bad_input) where there is none, and as of TarFile().
std::unique_ptr<ImageSource> open_pictures(const NamedFile& place, const ImageOptions& options, int64_t threads);

/// "8000 bytes, changed 2026-01-31 12:00:00.123456789" of a file, in UTC.
std::string state_of_file(const std::string& file);

}  // namespace convlab::app
