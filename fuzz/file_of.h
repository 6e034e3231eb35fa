#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace convlab {

/// A file in memory with the fuzzer's bytes, for readers that need a path.
class FileOf {
 public:
  FileOf(const uint8_t* data, size_t size) : descriptor_(::memfd_create("input", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~FileOf() { ::close(descriptor_); }
  FileOf(const FileOf&) = delete;
  FileOf& operator=(const FileOf&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace convlab
