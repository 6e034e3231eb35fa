#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace convlab {

/// 64 bits of the system's entropy. Error(unavailable) if it gives none.
uint64_t entropy();

/// Numbers that nobody can compute from others of them: ChaCha20 (RFC 8439) under a key of 256 bits. What a program
/// that we do not trust may see derives from these, and not from Rng, whose state follows from one number.
class KeyedRng {
 public:
  using Key = std::array<uint32_t, 8>;

  explicit KeyedRng(const Key& key) : key_(key) {}

  const Key& key() const { return key_; }

  uint64_t next();

  /// Uniform in [low, high], both included. The bias of the modulo is below 2^-32 for ranges below 2^32.
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }

  /// The next numbers as a key for another generator.
  Key next_key();

 private:
  static constexpr size_t kWords = 16;

  void fill();

  Key key_;
  uint64_t block_ = 0;
  std::array<uint32_t, kWords> words_{};
  size_t used_ = kWords;
};

/// A key of the system's entropy.
KeyedRng::Key new_key();

/// As 64 hexadecimal digits, and back: Error(bad_input) for another text.
std::string to_text(const KeyedRng::Key& key);
KeyedRng::Key parse_key(std::string_view text);

}  // namespace convlab
