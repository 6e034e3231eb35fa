#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "convlab/dataset/content_file.h"
#include "convlab/tensor/npy.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Images in a .npy file or in an idx file of uint8 (see idx.h), gzipped or not. The format is detected from the first
/// bytes. Images are streamed, so the file may be larger than memory.
class ArrayFile {
 public:
  /// Throws Error(bad_input) with name and reason if the file cannot be read, is neither .npy nor idx, or (if it is not
  /// gzipped) has another size than its header says.
  explicit ArrayFile(const std::filesystem::path& path);

  /// The shape of the whole array, number of images first. An idx file of N images has N x rows x columns.
  const Shape& shape() const { return header_.shape; }

  /// The type to which parse_npy() converts the file's elements.
  ElementType type() const { return header_.type; }

  /// Makes read() continue with this image.
  void seek(int64_t image);

  /// Reads up to `count` images and converts them to elements of type `as` at `to`. Returns the number of images read;
  /// fewer than `count` if the file ends or the next image cannot be read. In the latter case the next call throws
  /// Error(bad_input).
  int64_t read(int64_t count, ElementType as, void* to);

  /// Throws Error(bad_input) unless the content ends after the last image. For gzip, this also checks the CRC.
  void expect_end();

 private:
  void read_header();

  ContentFile file_;
  NpyHeader header_;
  int64_t image_elements_ = 1, image_bytes_ = 1;  ///< in the file
  int64_t next_ = 0;
  bool ended_ = false;           ///< the last read() returned fewer images than requested
  std::vector<uint8_t> staged_;  ///< elements to convert
};

}  // namespace convlab
