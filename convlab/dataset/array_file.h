#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "convlab/dataset/content_file.h"
#include "convlab/tensor/npy.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Images in a .npy file or in an idx file of bytes (see idx.h), gzipped or not, told apart by their first bytes and
/// read one after another: the file may be larger than memory.
class ArrayFile {
 public:
  /// Error(bad_input) with name and reason where it cannot be read, is neither, or, not gzipped, has another size than
  /// its header says.
  explicit ArrayFile(const std::filesystem::path& path);

  /// Of all of it, the number of images first. An idx file of N images has N x rows x columns.
  const Shape& shape() const { return header_.shape; }

  /// Of its elements, as parse_npy() keeps them.
  ElementType type() const { return header_.type; }

  /// Has read() go on with this image.
  void seek(int64_t image);

  /// Reads up to `count` images into memory that takes them as elements of type `as`, to which they are converted. Says
  /// how many: fewer where the file has no more, or the next one cannot be read: then calling it again throws
  /// Error(bad_input).
  int64_t read(int64_t count, ElementType as, void* to);

  /// Error(bad_input) unless the content ends behind the last image; of gzip, this checks its sum.
  void expect_end();

 private:
  void read_header();

  ContentFile file_;
  NpyHeader header_;
  int64_t image_elements_ = 1, image_bytes_ = 1;  ///< in the file
  int64_t next_ = 0;
  bool ended_ = false;           ///< before the last image
  std::vector<uint8_t> staged_;  ///< what is to be converted
};

}  // namespace convlab
