// Reads the system's entropy and generates secure random numbers with ChaCha20.

#include "convlab/base/entropy.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

#include "convlab/base/error.h"

namespace convlab {
namespace {

constexpr int kRounds = 10, kHexadecimal = 16;
constexpr size_t kDigits = 8;  // hexadecimal digits per 32-bit word

template <class T>
T random_value() {
  T value;
  if (::getrandom(&value, sizeof value, 0) != sizeof value) {
    throw unavailable("cannot get random bytes from the system: {}", std::strerror(errno));
  }
  return value;
}

}  // namespace

uint64_t entropy() { return random_value<uint64_t>(); }

uint64_t KeyedRng::next() {
  if (used_ == kWords) fill();
  const uint64_t low = words_[used_], high = words_[used_ + 1];
  used_ += 2;
  return low | high << 32;
}

void KeyedRng::fill() {
  // The constants "expand 32-byte k", the key, the block counter, and a zero nonce, since no key is used twice.
  std::array<uint32_t, kWords> begin{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  std::ranges::copy(key_, begin.begin() + 4);
  begin[12] = static_cast<uint32_t>(block_);
  begin[13] = static_cast<uint32_t>(block_ >> 32);
  ++block_;
  std::array<uint32_t, kWords> v = begin;
  const auto mix = [&](size_t a, size_t b, size_t c, size_t d) {
    v[d] = std::rotl(v[d] ^ (v[a] += v[b]), 16);
    v[b] = std::rotl(v[b] ^ (v[c] += v[d]), 12);
    v[d] = std::rotl(v[d] ^ (v[a] += v[b]), 8);
    v[b] = std::rotl(v[b] ^ (v[c] += v[d]), 7);
  };
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < 4; ++i) mix(i, 4 + i, 8 + i, 12 + i);                                // columns
    for (size_t i = 0; i < 4; ++i) mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);  // diagonals
  }
  for (size_t i = 0; i < kWords; ++i) words_[i] = v[i] + begin[i];
  used_ = 0;
}

KeyedRng::Key KeyedRng::next_key() {
  Key key;
  for (size_t i = 0; i < key.size(); i += 2) {
    const uint64_t value = next();
    key[i] = static_cast<uint32_t>(value);
    key[i + 1] = static_cast<uint32_t>(value >> 32);
  }
  return key;
}

KeyedRng::Key new_key() { return random_value<KeyedRng::Key>(); }

std::string to_text(const KeyedRng::Key& key) {
  std::string text;
  for (const uint32_t word : key) text += fmt::format("{:08x}", word);
  return text;
}

KeyedRng::Key parse_key(std::string_view text) {
  KeyedRng::Key key;
  bool right = text.size() == key.size() * kDigits;
  for (size_t i = 0; right && i < key.size(); ++i) {
    const char* const begin = text.data() + i * kDigits;
    const auto [end, error] = std::from_chars(begin, begin + kDigits, key[i], kHexadecimal);
    right = error == std::errc() && end == begin + kDigits;
  }
  if (!right) throw bad_input("expected 64 hexadecimal digits, got '{}'", text);
  return key;
}

}  // namespace convlab
