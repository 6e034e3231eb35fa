#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convlab {

/// One node of an MXNet symbol: a variable (op "null") or an operator. Errors contain only the reason.
struct MxnetNode {
  std::string op, name;
  std::map<std::string, std::string, std::less<>> attributes;  ///< values are texts such as "(5, 5)" and "True"
  std::vector<size_t> inputs;  ///< indices of earlier nodes, whose first outputs are read

  std::string text(std::string_view attribute, std::string_view otherwise) const;
  bool flag(std::string_view attribute, bool otherwise) const;
  /// Return an integer of at least 1. Throw if it is missing and has no default.
  int64_t integer(std::string_view attribute) const;
  int64_t integer(std::string_view attribute, int64_t otherwise) const;
  /// Returns a number of at least 0.
  double real(std::string_view attribute, double otherwise) const;
  /// Parses "(5, 4)": height and width, each at least `least`.
  std::pair<int64_t, int64_t> pair(std::string_view attribute, int64_t otherwise, int64_t least) const;
};

/// The network of an MXNet checkpoint: the content of PREFIX-symbol.json.
struct MxnetSymbol {
  std::vector<MxnetNode> nodes;
  size_t head = 0;  ///< index of the node whose first output is the network's
};

/// Parses the JSON of any version (attributes as attrs, attr or param). Throws Error(bad_input) that names the byte or
/// node, without the file: invalid JSON, not a symbol, nested too deep, inputs that do not precede their node, several
/// outputs.
MxnetSymbol parse_mxnet_symbol(std::span<const uint8_t> bytes);

}  // namespace convlab
