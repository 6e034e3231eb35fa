#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "convlab/simt/fault.h"

/// Which errors of kernels and host code are found. All of them by default.
namespace convlab::simt {

enum class Check : uint8_t {
  races_block,    ///< between warps of a block
  races_global,   ///< between blocks
  races_warp,     ///< between lanes of a warp
  bounds,         ///< accesses out of bounds, and of memory that the kernel may not access
  uninitialized,  ///< reads of memory that nothing wrote
  alignment,      ///< misaligned addresses
  barriers,       ///< barriers and warp-wide operations that some threads do not reach
  leaks,          ///< device memory that is never freed
  api             ///< failed calls, and host code that uses device memory or does not wait for a copy
};
inline constexpr int kCheckCount = 9;

/// A set of checks.
class Checks {
 public:
  static constexpr Checks all() { return Checks((1u << kCheckCount) - 1); }
  static constexpr Checks none() { return Checks(0); }

  constexpr bool has(Check check) const { return (bits_ >> static_cast<unsigned>(check) & 1) != 0; }
  constexpr void add(Check check) { bits_ |= 1u << static_cast<unsigned>(check); }
  constexpr bool is_empty() const { return bits_ == 0; }
  constexpr bool has_races() const {
    return has(Check::races_block) || has(Check::races_global) || has(Check::races_warp);
  }

 private:
  explicit constexpr Checks(unsigned bits) : bits_(bits) {}
  unsigned bits_;
};

/// Returns the checks of a list such as "bounds,races-block", "all" or "none". Throws Error(bad_input) with the known
/// names if there is another word.
Checks parse_checks(std::string_view text);

/// "races-block, races-global, ...".
std::string check_names();

/// The checks of this process, for all launches that begin later.
void set_checks(Checks checks);
Checks checks();

/// Whether a fault of this kind is to be reported. For races between threads, is_reported() of a RawFault knows more.
bool is_reported(FaultKind kind);

namespace internal {

struct RawFault;
bool is_reported(const RawFault& fault);

}  // namespace internal
}  // namespace convlab::simt
