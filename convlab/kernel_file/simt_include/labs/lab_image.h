#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "convlab/kernel_file/simt_include/labs/lab_log.h"

/// Images of labs: floats between 0 and 1, row by row, the channels of a pixel together. Files are binary PPM or PGM.
namespace convlab::labs {

struct Image {
  int width;
  int height;
  int channels;
  int pitch;  ///< floats in a row
  float* data;
};

/// Returns an image with uninitialized data, as libwb does. Labs free the data with free().
inline Image* new_image(int width, int height, int channels = 3) {
  const size_t bytes = sizeof(float) * static_cast<size_t>(width) * height * channels;
  return new Image{width, height, channels, width * channels, static_cast<float*>(std::malloc(bytes))};
}

inline Image* new_image(int width, int height, int channels, float* data) {
  return new Image{width, height, channels, width * channels, data};
}

inline void delete_image(Image* image) {
  if (image == nullptr) return;
  std::free(image->data);
  delete image;
}

inline std::string file_text(const char* file) {
  if (file == nullptr) give_up("no file name; option -i names the input files, -e the expected output");
  std::ifstream in(file, std::ios::binary);
  if (!in) give_up(text("cannot read '", file, "'"));
  return {std::istreambuf_iterator<char>(in), {}};
}

namespace internal {

/// Returns the next number of a PPM's header. Skips comments.
inline int ppm_number(const std::string& bytes, size_t& at) {
  while (at < bytes.size() && (std::isspace(static_cast<unsigned char>(bytes[at])) || bytes[at] == '#')) {
    at = bytes[at] == '#' ? std::min(bytes.find('\n', at), bytes.size()) : at + 1;
  }
  int value = 0;
  while (at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9') value = value * 10 + (bytes[at++] - '0');
  return value;
}

}  // namespace internal

/// Reads P5 (gray), P6 (RGB), and libwb's S6, whose header says how many channels there are.
inline Image* import_image(const char* file) {
  const std::string bytes = file_text(file);
  const std::string magic = bytes.substr(0, 2);
  if (magic != "P5" && magic != "P6" && magic != "S6") give_up(text("'", file, "' is not a binary PPM image"));
  size_t at = 2;
  const int width = internal::ppm_number(bytes, at), height = internal::ppm_number(bytes, at);
  const int channels = magic == "S6" ? internal::ppm_number(bytes, at) : magic == "P5" ? 1 : 3;
  const int depth = internal::ppm_number(bytes, at);
  const size_t count = static_cast<size_t>(width) * height * channels;
  if (depth <= 0 || depth > 255 || bytes.size() < at + 1 + count) give_up(text("'", file, "' is not a whole image"));
  ++at;  // one blank ends the header
  Image* image = new_image(width, height, channels);
  const float scale = 1.0f / static_cast<float>(depth);
  for (size_t i = 0; i < count; ++i) {
    image->data[i] = static_cast<float>(static_cast<unsigned char>(bytes[at + i])) * scale;
  }
  return image;
}

inline void export_image(const char* file, const Image* image) {
  std::ofstream out(file, std::ios::binary);
  if (!out) give_up(text("cannot write '", file, "'"));
  out << (image->channels == 1 ? "P5" : "P6") << "\n#written by convlab\n"
      << image->width << " " << image->height << "\n255\n";
  const size_t count = static_cast<size_t>(image->width) * image->height * image->channels;
  for (size_t i = 0; i < count; ++i) {
    const float value = std::min(std::max(image->data[i], 0.0f), 1.0f);
    out.put(static_cast<char>(static_cast<unsigned char>(std::ceil(value * 255.0f))));
  }
}

}  // namespace convlab::labs
