// Downloads arrays of any format from a device.

#include "convlab/verify/download.h"

namespace convlab {

std::vector<float> download_plain(Stream& stream, const void* array, const Shape& shape, Format format) {
  std::vector<uint8_t> bytes(static_cast<size_t>(byte_count(shape, format)));
  stream.download(bytes.data(), array, bytes.size());
  stream.synchronize();
  return unpack(bytes.data(), shape, format);
}

}  // namespace convlab
