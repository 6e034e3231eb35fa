#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/networks/image_inputs.h"
#include "app/networks/part_file.h"
#include "convlab/model/graph.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// Images on disk for a model's only input, read one after another, so that they need not fit into memory.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  /// Returns the shape of all images together; the first dimension is their number.
  virtual const Shape& shape() const = 0;

  /// Adapts shape(), type() and read() to this model. Throws Error(bad_input) if it does not accept these images.
  virtual void fit(const Graph& graph) = 0;

  /// Returns the type of the elements that read() writes: uint8 or float32.
  virtual ElementType type() const = 0;

  /// Returns facts that are equal for two sources only if they have the same images.
  virtual Facts facts() const = 0;

  /// Makes read() continue with this image.
  virtual void seek(int64_t image) = 0;

  /// Reads up to `count` images to `to`. Returns how many: fewer if the next one cannot be read; calling it again then
  /// throws Error(bad_input), which names the image.
  virtual int64_t read(int64_t count, void* to) = 0;

  /// Call it after the last image: throws Error(bad_input) if what follows shows that the file is damaged.
  virtual void expect_end() {}
};

/// Opens a .npy or idx file of --input. Images without a channel dimension get one if the model expects it. Throws
/// Error(bad_input) as ArrayFile() does.
std::unique_ptr<ImageSource> open_array(const NamedFile& file);

/// Opens the JPEG and PNG images of a folder and its subfolders, sorted by path, or of a tar archive, in its order.
/// Preprocesses them with `threads` threads, 0 for all that this process may use. Throws Error(bad_input) if there are
/// none, and as TarFile() does.
std::unique_ptr<ImageSource> open_pictures(const NamedFile& place, const ImageOptions& options, int64_t threads);

/// Returns the size and modification time (UTC) of a file: "8000 bytes, changed 2026-01-31 12:00:00.123456789".
std::string state_of_file(const std::string& file);

}  // namespace convlab::app
