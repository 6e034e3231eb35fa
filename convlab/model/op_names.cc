// Operators' names in problem texts.

#include "convlab/model/op_names.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace convlab {
namespace {

std::string lower(std::string text) {
  for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return text;
}

}  // namespace

std::span<const NamedOp> named_ops() {
  static const std::vector<NamedOp> all = [] {
    std::vector<NamedOp> names;
    for (const OpEntry& entry : op_entries()) {
      for (NamedOp& each : entry.names()) names.push_back(std::move(each));
    }
    return names;
  }();
  return all;
}

const NamedOp* find_named_op(std::string_view name) {
  const std::span<const NamedOp> all = named_ops();
  auto found = std::find_if(all.begin(), all.end(), [&](const NamedOp& each) { return each.name == name; });
  if (found == all.end()) {
    found = std::find_if(all.begin(), all.end(), [&](const NamedOp& each) { return lower(name_of(each.op)) == name; });
  }
  return found == all.end() ? nullptr : &*found;
}

}  // namespace convlab
