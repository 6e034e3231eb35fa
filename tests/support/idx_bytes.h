#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <span>
#include <vector>

namespace convlab {

using Bytes = std::vector<uint8_t>;

inline constexpr uint32_t kIdxImages = 0x803, kIdxLabels = 0x801;

/// An idx file: big-endian 32-bit header numbers, then the content.
inline Bytes idx(std::initializer_list<uint32_t> header, std::span<const uint8_t> content) {
  Bytes bytes;
  for (uint32_t number : header) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(number >> shift));
  }
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

inline Bytes gzip(std::span<const uint8_t> bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes packed(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace convlab
