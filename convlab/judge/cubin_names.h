#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace convlab::judge {

/// Maps symbol names between compilers. For symbols with internal linkage, in unnamed namespaces or static, nvcc
/// generates other mangled names than the host compiler.
class CubinNames {
 public:
  /// Reads a cubin as `nvcc -cubin` writes it. Throws Error(bad_input) if it is not a 64-bit ELF file or is truncated.
  explicit CubinNames(std::span<const uint8_t> cubin);

  /// Returns the cubin's name for `symbol`, a mangled name from a library built by the host compiler. Throws
  /// Error(bad_input) if there is no match, or more than one.
  const std::string& of(const std::string& symbol) const;

 private:
  std::map<std::string, std::vector<std::string>> by_short_name_;
};

}  // namespace convlab::judge
