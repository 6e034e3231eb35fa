// Downloads arrays of any format from a device.

#include "convlab/verify/download.h"

namespace convlab {

std::vector<float> download_plain(Stream& stream, const void* array, const Shape& shape, Format format) {
  if (format == kNchw) {
    // Not copied once more: simt knows who wrote the elements that a download has copied.
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    stream.download(values.data(), array, values.size() * sizeof(float));
    stream.synchronize();
    return values;
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(byte_count(shape, format)));
  stream.download(bytes.data(), array, bytes.size());
  stream.synchronize();
  return unpack(bytes.data(), shape, format);
}

}  // namespace convlab
