// Puts guards around device arrays and checks them.

#include "convlab/verify/guards.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/device/simt.h"

namespace convlab {
namespace {

constexpr uint8_t kUninitializedByte = 0xff;
constexpr uint8_t kOutputGuard = 0x4b;  // 0x4b4b4b4b is 13323083 as fp32

}  // namespace

GuardedBuffer::GuardedBuffer(Device& device, Stream& stream, std::string name, size_t bytes, Role role)
    : name_(std::move(name)),
      bytes_(bytes),
      guard_(role == Role::input ? kUninitializedByte : kOutputGuard),
      memory_(device.allocate(bytes + 2 * kGuardBytes)) {
  stream.fill(memory_.data(), guard_, bytes + 2 * kGuardBytes);
  if (device.caps().kind == DeviceKind::simt) narrow_simt_memory(data(), bytes, name_, role == Role::output);
  mark_uninitialized(stream);
}

void GuardedBuffer::mark_uninitialized(Stream& stream) {
  if (bytes_ > 0) stream.fill(data(), kUninitializedByte, bytes_);
}

void GuardedBuffer::upload(Stream& stream, const void* host) {
  if (bytes_ > 0) stream.upload(data(), host, bytes_);
}

void GuardedBuffer::download(Stream& stream, void* host) const {
  if (bytes_ > 0) stream.download(host, data(), bytes_);
  stream.synchronize();
}

void GuardedBuffer::check_guards(Stream& stream, const std::string& culprit) const {
  std::vector<uint8_t> before(kGuardBytes), after(kGuardBytes);
  const auto* begin = static_cast<const uint8_t*>(memory_.data());
  stream.download(before.data(), begin, kGuardBytes);
  stream.download(after.data(), begin + kGuardBytes + bytes_, kGuardBytes);
  stream.synchronize();
  for (size_t i = 0; i < kGuardBytes; ++i) {
    if (after[i] != guard_) {
      throw wrong_result("{} wrote past the end of {}: byte {} after the last one", culprit, name_, i + 1);
    }
    if (before[kGuardBytes - 1 - i] != guard_) {
      throw wrong_result("{} wrote before the start of {}: byte {} before the first one", culprit, name_, i + 1);
    }
  }
}

void GuardedBuffer::check_unchanged(Stream& stream, const void* host, const std::string& culprit) const {
  std::vector<uint8_t> now(bytes_);
  download(stream, now.data());
  const auto* wanted = static_cast<const uint8_t*>(host);
  if (bytes_ == 0 || std::memcmp(now.data(), wanted, bytes_) == 0) return;
  for (size_t i = 0; i < bytes_; ++i) {
    if (now[i] != wanted[i]) throw wrong_result("{} changed its input {} at byte {}", culprit, name_, i);
  }
}

}  // namespace convlab
