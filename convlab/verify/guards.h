#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Device memory between two guards of 16 KiB each, which nothing may write. Guards read as floats are NaN around
/// arrays that a kernel only reads, so that a value read beyond shows in the result, and 1.3e7 around arrays that it
/// writes: large enough to show, too, and small enough that adding a number to it does not go unnoticed. simt itself
/// reports an access to a guard, and a write to an array that is only read, with the array's name.
class GuardedBuffer {
 public:
  enum class Role { input, output };

  /// `name` is used in messages: "y". The payload is filled with poison, 0xff bytes (NaN as floats).
  GuardedBuffer(Device& device, Stream& stream, std::string name, size_t bytes, Role role);

  /// The payload, aligned as Device::allocate aligns.
  void* data() const { return static_cast<uint8_t*>(memory_.data()) + kGuardBytes; }
  size_t bytes() const { return bytes_; }

  void mark_uninitialized(Stream& stream);
  void upload(Stream& stream, const void* host);
  void download(Stream& stream, void* host) const;

  /// Error(wrong_result) that says what `culprit` ("launch") wrote beyond this array, and how far away.
  void check_guards(Stream& stream, const std::string& culprit) const;

  /// Error(wrong_result) if the payload is not `host` any more, byte for byte.
  void check_unchanged(Stream& stream, const void* host, const std::string& culprit) const;

 private:
  static constexpr size_t kGuardBytes = 16384;

  std::string name_;
  size_t bytes_;
  uint8_t guard_;
  Buffer memory_;
};

}  // namespace convlab
