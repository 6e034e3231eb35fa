// Hashes texts and files to detect changes.

#include "convlab/base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/file.h"

namespace convlab {

void Fingerprint::add(std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001b3;
  for (const char c : text) {
    low_ = (low_ ^ static_cast<uint8_t>(c)) * kPrime;
    high_ = (high_ ^ static_cast<uint8_t>(c)) * kPrime;
  }
  // Adding "ab" and "c" must differ from adding "a" and "bc".
  low_ = (low_ ^ text.size()) * kPrime;
  high_ = (high_ ^ ~text.size()) * kPrime;
}

void Fingerprint::add_file(const std::filesystem::path& path) {
  constexpr int64_t kChunk = int64_t{1} << 20;
  const InputFile file(path);
  std::string chunk;
  for (int64_t at = 0; at < file.size(); at += std::ssize(chunk)) {
    chunk.resize(static_cast<size_t>(std::min(kChunk, file.size() - at)));
    file.read(at, {reinterpret_cast<uint8_t*>(chunk.data()), chunk.size()});
    add(chunk);
  }
}

std::string Fingerprint::hex() const { return fmt::format("{:016x}{:016x}", high_, low_); }

}  // namespace convlab
