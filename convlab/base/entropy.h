#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace convlab {

/// Returns 64 bits of the system's entropy. Throws Error(unavailable) if the system returns none.
uint64_t entropy();

/// Cryptographically secure random numbers: ChaCha20 (RFC 8439) with a key of 256 bits. Values that an untrusted
/// program may see come from this class and not from Rng, whose whole state can be computed from one of its numbers.
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

  /// Returns the next numbers as a key for another generator.
  Key next_key();

 private:
  static constexpr size_t kWords = 16;

  void fill();

  Key key_;
  uint64_t block_ = 0;
  std::array<uint32_t, kWords> words_{};
  size_t used_ = kWords;
};

/// Returns a key from the system's entropy. Throws Error(unavailable) if the system returns none.
KeyedRng::Key new_key();

/// Convert a key to 64 hexadecimal digits and back. parse_key() throws Error(bad_input) for any other text.
std::string to_text(const KeyedRng::Key& key);
KeyedRng::Key parse_key(std::string_view text);

}  // namespace convlab
