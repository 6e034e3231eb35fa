// Parses the symbol files of MXNet checkpoints.

#include "convlab/model/formats/mxnet_symbol.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/graph_limits.h"

namespace convlab {
namespace {

using nlohmann::json;

/// Returns a non-negative integer: an index into an array.
size_t position(const json& value, const char* what) {
  if (!value.is_number_unsigned()) throw bad_input("{} must be a non-negative integer", what);
  return value.get<size_t>();
}

std::string text_of(const json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_string()) throw bad_input("expected a string '{}'", key);
  return found->get<std::string>();
}

/// Returns the node of [node, output] or [node, output, version], which must be before `end`.
size_t source_of(const json& entry, size_t end) {
  if (!entry.is_array() || entry.empty()) throw bad_input("an input must be an array [node, output, version]");
  const size_t node = position(entry[0], "an input's node");
  if (node >= end) throw bad_input("node {} is used before it is defined", node);
  const size_t output = entry.size() > 1 ? position(entry[1], "an input's output") : 0;
  if (output != 0) throw bad_input("output {} of node {} is not supported; only the first output is", output, node);
  return node;
}

MxnetNode node_of(const json& value, size_t index) {
  if (!value.is_object()) throw bad_input("expected a JSON object");
  MxnetNode node{.op = text_of(value, "op"), .name = text_of(value, "name")};
  for (const char* key : {"attrs", "attr", "param"}) {  // names in different versions; some files have two
    const auto attributes = value.find(key);
    if (attributes == value.end()) continue;
    if (!attributes->is_object()) throw bad_input("'{}' must be a JSON object", key);
    for (const auto& [name, text] : attributes->items()) {
      if (!text.is_string()) throw bad_input("attribute '{}' must be a string", printable(name));
      node.attributes.emplace(name, text.get<std::string>());
    }
  }
  const auto inputs = value.find("inputs");
  if (inputs == value.end() || !inputs->is_array()) throw bad_input("expected an array 'inputs'");
  for (const json& entry : *inputs) node.inputs.push_back(source_of(entry, index));
  return node;
}

json parse_json(std::span<const uint8_t> bytes) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  if (bytes.size() > kMostBytes) {
    throw bad_input("the file has {} bytes; an MXNet symbol must have at most {}", bytes.size(), kMostBytes);
  }
  static constexpr int kMostDepth = 64;
  const json::parser_callback_t bounded = [](int depth, json::parse_event_t, json&) {
    if (depth > kMostDepth) throw bad_input("not an MXNet symbol: nested deeper than {} levels", kMostDepth);
    return true;
  };
  try {
    return json::parse(bytes.begin(), bytes.end(), bounded);
  } catch (const json::parse_error& error) {
    const std::string_view reason = error.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    const size_t start = reason.find("] ");
    throw bad_input("not an MXNet symbol: at byte {}: {}", error.byte,
                    printable(start == std::string_view::npos ? reason : reason.substr(start + 2)));
  }
}

}  // namespace

std::string MxnetNode::text(std::string_view attribute, std::string_view otherwise) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? std::string(otherwise) : printable(found->second);
}

bool MxnetNode::flag(std::string_view attribute, bool otherwise) const {
  const std::string value = text(attribute, otherwise ? "True" : "False");
  if (value == "True" || value == "true" || value == "1") return true;
  if (value == "False" || value == "false" || value == "0") return false;
  throw bad_input("attribute {} must be True or False, got '{}'", attribute, value);
}

int64_t MxnetNode::integer(std::string_view attribute) const {
  if (!attributes.contains(attribute)) throw bad_input("attribute {} is missing", attribute);
  return integer(attribute, 1);
}

int64_t MxnetNode::integer(std::string_view attribute, int64_t otherwise) const {
  const std::string value = text(attribute, "");
  return value.empty() ? otherwise : parse_int(value, fmt::format("attribute {}", attribute), 1, kMostSize);
}

double MxnetNode::real(std::string_view attribute, double otherwise) const {
  constexpr double kMost = 1e9;
  const std::string value = text(attribute, "");
  return value.empty() ? otherwise : parse_double(value, fmt::format("attribute {}", attribute), 0, kMost);
}

std::pair<int64_t, int64_t> MxnetNode::pair(std::string_view attribute, int64_t otherwise, int64_t least) const {
  std::string value = text(attribute, "");
  std::erase_if(value, [](char c) { return c == '(' || c == ')' || c == '[' || c == ']' || c == ' '; });
  if (value.ends_with(',')) value.pop_back();
  if (value.empty()) return {otherwise, otherwise};
  const std::vector<std::string> parts = split(value, ',');
  if (parts.size() != 2) {
    throw bad_input("attribute {} must have two sizes, height and width, got {}", attribute, parts.size());
  }
  const std::string what = fmt::format("attribute {}", attribute);
  return {parse_int(parts[0], what, least, kMostSize), parse_int(parts[1], what, least, kMostSize)};
}

MxnetSymbol parse_mxnet_symbol(std::span<const uint8_t> bytes) {
  const json parsed = parse_json(bytes);
  const auto nodes = parsed.find("nodes"), heads = parsed.find("heads");
  if (!parsed.is_object() || nodes == parsed.end() || !nodes->is_array()) {
    throw bad_input("not an MXNet symbol: expected an array 'nodes'");
  }
  if (nodes->size() > kMostNodes)
    throw bad_input("the network has {} nodes; at most {} are supported", nodes->size(), kMostNodes);
  MxnetSymbol symbol;
  for (const json& value : *nodes) {
    const size_t index = symbol.nodes.size();
    try {
      symbol.nodes.push_back(node_of(value, index));
    } catch (const Error& error) {
      throw bad_input("node {}: {}", index, error.what());
    }
  }
  if (heads == parsed.end() || !heads->is_array()) throw bad_input("not an MXNet symbol: expected an array 'heads'");
  if (heads->size() != 1) throw bad_input("the network has {} outputs; only one output is supported", heads->size());
  try {
    symbol.head = source_of(heads->front(), symbol.nodes.size());
  } catch (const Error& error) {
    throw bad_input("heads: {}", error.what());
  }
  return symbol;
}

}  // namespace convlab
