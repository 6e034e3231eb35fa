#include "convlab/base/fingerprint.h"

#include <fmt/format.h>

namespace convlab {

void Fingerprint::add(std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001b3;
  for (const char c : text) {
    low_ = (low_ ^ static_cast<uint8_t>(c)) * kPrime;
    high_ = (high_ ^ static_cast<uint8_t>(c)) * kPrime;
  }
  // So that "ab" and "c" are not "a" and "bc".
  low_ = (low_ ^ text.size()) * kPrime;
  high_ = (high_ ^ ~text.size()) * kPrime;
}

std::string Fingerprint::hex() const { return fmt::format("{:016x}{:016x}", high_, low_); }

}  // namespace convlab
