#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Device memory between two guards of 16 KiB each that nothing may write. Read as fp32, guards around arrays that a
/// kernel only reads are NaN, so that an out-of-bounds read shows in the result. Guards around arrays that it writes
/// are 1.3e7: large enough to show, and small enough that adding a number changes them. simt itself reports an access
/// to a guard, and a write to a read-only array, with the array's name.
class GuardedBuffer {
 public:
  enum class Role { input, output };

  /// `name` is used in messages: "y". The payload is filled with uninitialized markers, 0xff bytes (NaN as fp32).
  GuardedBuffer(Device& device, Stream& stream, std::string name, size_t bytes, Role role);

  /// Returns the payload, aligned like Device::allocate.
  void* data() const { return static_cast<uint8_t*>(memory_.data()) + kGuardBytes; }
  size_t bytes() const { return bytes_; }

  void mark_uninitialized(Stream& stream);
  void upload(Stream& stream, const void* host);
  void download(Stream& stream, void* host) const;

  /// Throws Error(wrong_result) with what `culprit` ("launch") wrote outside this array, and how far away.
  void check_guards(Stream& stream, const std::string& culprit) const;

  /// Throws Error(wrong_result) if the payload differs from `host` in any byte.
  void check_unchanged(Stream& stream, const void* host, const std::string& culprit) const;

 private:
  static constexpr size_t kGuardBytes = 16384;

  std::string name_;
  size_t bytes_;
  uint8_t guard_;
  Buffer memory_;
};

}  // namespace convlab
