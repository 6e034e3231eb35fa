#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace convlab {

/// Decodes the fuzzer's bytes into choices, one byte each. After the last byte, all choices read zeros.
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  /// Returns a number from first to last.
  int64_t number(int64_t first, int64_t last) {
    const int64_t byte = at_ < bytes_.size() ? bytes_[at_++] : 0;
    return first + byte % (last - first + 1);
  }
  bool flag() { return number(0, 1) == 1; }

  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<size_t>(number(0, std::ssize(all) - 1))];
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace convlab
