#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "convlab/judge/launch_list.h"

namespace convlab::judge {

/// The host's memory while a list is carried out: x and w as they are given, and what has been copied back so far.
class HostMemory {
 public:
  HostMemory(std::span<const uint8_t> x, std::span<const uint8_t> w) : x_(x), w_(w) {}

  std::span<const uint8_t> x() const { return x_; }
  std::span<const uint8_t> w() const { return w_; }

  const void* at(const HostBytes& source) const;

  /// Where the list's next download goes: zeros, which stay where they are.
  char* next_download(int64_t bytes);

  /// y as the file has left it on the host; zeros where nobody wrote.
  void put_together(const std::vector<OutputPiece>& output, std::span<char> y) const;

 private:
  std::span<const uint8_t> x_, w_;
  std::deque<std::vector<char>> downloads_;
};

}  // namespace convlab::judge
