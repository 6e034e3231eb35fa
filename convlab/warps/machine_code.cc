#include "convlab/warps/machine_code.h"

#include <cstring>

namespace convlab {
namespace {

using Byte = unsigned char;

/// What the call before `end` calls; if it is an indirect one, the place that holds its target.
const Byte* target_of(const Byte* end) {
  int32_t distance;
  std::memcpy(&distance, end - sizeof(distance), sizeof(distance));
  return end + distance;
}

/// Does a call of `target` stand before `end`?
bool calls(const Byte* end, const Byte* target) {
  const bool is_call = end[-5] == 0xe8 || (end[-6] == 0xff && end[-5] == 0x15);
  return is_call && target_of(end) == target;
}

/// addss, mulss, subss, divss or sqrtss, or the same of doubles: F3 or F2, perhaps a REX prefix, 0F, opcode.
bool is_float_operation(const Byte* at, const Byte* end) {
  if (*at != 0xf3 && *at != 0xf2) return false;
  ++at;
  if (at < end && *at >= 0x40 && *at <= 0x4f) ++at;
  if (end - at < 2 || at[0] != 0x0f) return false;
  return at[1] == 0x58 || at[1] == 0x59 || at[1] == 0x5c || at[1] == 0x5e || at[1] == 0x51;
}

}  // namespace

std::optional<int64_t> float_operations(const void* begin, const void* end) {
#if defined(__x86_64__)
  const Byte* const last = static_cast<const Byte*>(end);
  const Byte* at = static_cast<const Byte*>(begin);
  const Byte* const mark = target_of(at);
  int64_t operations = 0;
  for (; at < last; ++at) {
    if (last - at >= 6 && (calls(at + 5, mark) || calls(at + 6, mark))) break;
    operations += is_float_operation(at, last) ? 1 : 0;
  }
  return operations;
#else
  static_cast<void>(begin);
  static_cast<void>(end);
  return std::nullopt;
#endif
}

}  // namespace convlab
