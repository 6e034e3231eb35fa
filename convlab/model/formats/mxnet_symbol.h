#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convlab {

/// One node of an MXNet symbol: a variable (op "null") or an operator. Errors give the reason alone.
struct MxnetNode {
  std::string op, name;
  std::map<std::string, std::string, std::less<>> attributes;  ///< texts such as "(5, 5)" and "True"
  std::vector<size_t> inputs;                                  ///< earlier nodes, each by its first output

  std::string text(std::string_view attribute, std::string_view otherwise) const;
  bool flag(std::string_view attribute, bool otherwise) const;
  /// A whole number from 1 on; an error where it is missing and has no default.
  int64_t integer(std::string_view attribute) const;
  int64_t integer(std::string_view attribute, int64_t otherwise) const;
  /// A number from 0 on.
  double real(std::string_view attribute, double otherwise) const;
  /// "(5, 4)": height and width, each at least `least`.
  std::pair<int64_t, int64_t> pair(std::string_view attribute, int64_t otherwise, int64_t least) const;
};

/// The network of an MXNet checkpoint: the content of PREFIX-symbol.json.
struct MxnetSymbol {
  std::vector<MxnetNode> nodes;
  size_t head = 0;  ///< the node whose first output is the network's
};

/// Reads the JSON of any version (attributes as attrs, attr or param). Error(bad_input) that names byte or node,
/// without the file: no JSON or no symbol, nested too deep, inputs that do not come before their node, several outputs.
MxnetSymbol parse_mxnet_symbol(std::span<const uint8_t> bytes);

}  // namespace convlab
