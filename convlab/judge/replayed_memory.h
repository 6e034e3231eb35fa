#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "convlab/judge/launch_list.h"

namespace convlab::judge {

/// Host memory during a replay: x and w as given, and the downloads so far.
class HostMemory {
 public:
  HostMemory(std::span<const uint8_t> x, std::span<const uint8_t> w) : x_(x), w_(w) {}

  std::span<const uint8_t> x() const { return x_; }
  std::span<const uint8_t> w() const { return w_; }

  const void* at(const HostBytes& source) const;

  /// Returns the zero-filled buffer of the list's next download. Its address stays valid.
  char* next_download(int64_t bytes);

  /// Assembles y as the file left it on the host; zeros where it was never written.
  void put_together(const std::vector<OutputPiece>& output, std::span<char> y) const;

 private:
  std::span<const uint8_t> x_, w_;
  std::deque<std::vector<char>> downloads_;
};

}  // namespace convlab::judge
