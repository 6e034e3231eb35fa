#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace convlab::judge {

/// What a file's kernels and variables are called in its machine code: nvcc gives those that no other file may see, in
/// unnamed namespaces or static, other names than the host's compiler does.
class CubinNames {
 public:
  /// Of a file of machine code, as nvcc -cubin writes it. Error(bad_input) where it is none.
  explicit CubinNames(std::span<const uint8_t> cubin);

  /// The name in the machine code of what is `symbol`, mangled, in a library of the host's compiler. Error(bad_input)
  /// where nothing is, or more than one.
  const std::string& of(const std::string& symbol) const;

 private:
  std::map<std::string, std::vector<std::string>> by_short_name_;
};

}  // namespace convlab::judge
